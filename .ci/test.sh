#!/usr/bin/env bash
# All tests, in two processes:  bash .ci/test.sh [OPTIONS OF PYTEST]
#
# Those that need a browser run beside all others: each of the two waits a good deal, and one Chromium at a time is what
# two cores can do. What the browser's have to say comes after the others', and a line that counts both comes last.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=.venv/bin/python
began=$SECONDS
folder=$(mktemp -d)
browser=
trap 'if [ -n "$browser" ]; then kill "$browser" 2>/dev/null; fi; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# A cache of its own, so that neither forgets what failed in the other.
EXPANDLAB_TEST_PART=browser "$python" -m pytest -o cache_dir=.pytest_cache/browser "$@" >"$folder/browser" 2>&1 &
browser=$!
EXPANDLAB_TEST_PART=others "$python" -m pytest "$@" 2>&1 | tee "$folder/others"
others_rc=$?
wait "$browser"
browser_rc=$?
browser=
cat "$folder/browser"

# "3 failed, 120 passed, 4 skipped in 12.34s" of both, added up.
for part in others browser; do
    grep -aE '(passed|failed|errors?|skipped|no tests ran|deselected).* in [0-9.]+s' "$folder/$part" | tail -n 1
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
        print "both parts: " (text ? text : "no tests ran") " in " seconds ".0s"
    }'

# 5: nothing was selected, which is no failure where the other part had something to run.
if [ "$others_rc" -eq 5 ]; then exit "$browser_rc"; fi
if [ "$browser_rc" -eq 5 ] || [ "$browser_rc" -eq 0 ]; then exit "$others_rc"; fi
if [ "$others_rc" -eq 0 ]; then exit "$browser_rc"; fi
exit "$others_rc"
