#!/usr/bin/env bash
# All tests, in three processes side by side:  bash .ci/test.sh [OPTIONS OF PYTEST]
#
# tests/conftest.py says which test is in which part. One of them has all that needs a browser: one Chromium at a time is
# what two cores can do. What the first part says is seen at once, the others' after it; a line that counts all is last.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Which environment, relative to this folder or not; .ci/against.sh has others.
python=${EXPANDLAB_PYTHON:-.venv/bin/python}
began=$SECONDS
folder=$(mktemp -d)
running=()
trap 'for pid in ${running[@]+"${running[@]}"}; do kill "$pid" 2>/dev/null; done; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# Each with a cache of its own, so that none forgets what failed in another.
part() { EXPANDLAB_TEST_PART=$1 "$python" -m pytest -o "cache_dir=.pytest_cache/$1" "${@:2}"; }

for name in kernels browser; do
    part "$name" "$@" >"$folder/$name" 2>&1 &
    running+=($!)
done
part others "$@" 2>&1 | tee "$folder/others"
codes=("$?")
for pid in "${running[@]}"; do
    wait "$pid"
    codes+=("$?")
done
running=()
cat "$folder/kernels" "$folder/browser"

# What failed in any part once more, because their reports are long.
grep -ahE '^(FAILED|ERROR) ' "$folder"/* | cut -c1-300

# "3 failed, 120 passed, 4 skipped in 12.34s" of each, added up.
for name in others kernels browser; do
    grep -aE '(passed|failed|errors?|skipped|no tests ran|deselected).* in [0-9.]+s' "$folder/$name" | tail -n 1
done | awk -v seconds=$((SECONDS - began)) '
    {
        gsub(/\033\[[0-9;]*m/, "")
        for (i = 2; i <= NF; i++) {
            name = $i; sub(/,$/, "", name); sub(/^errors$/, "error", name)
            if ($(i - 1) ~ /^[0-9]+$/ && name ~ /^(failed|passed|skipped|error|xfailed|xpassed)$/) sum[name] += $(i - 1)
        }
    }
    END {
        count = split("failed passed skipped xfailed xpassed error", names, " ")
        for (i = 1; i <= count; i++) if (sum[names[i]]) text = text (text ? ", " : "") sum[names[i]] " " names[i]
        print "all parts: " (text ? text : "no tests ran") " in " seconds ".0s"
    }'

# 5: nothing was selected, which is no failure where another part had something to run.
result=5
for code in "${codes[@]}"; do
    if [ "$code" -ne 0 ] && [ "$code" -ne 5 ]; then exit "$code"; fi
    if [ "$code" -eq 0 ]; then result=0; fi
done
exit "$result"
