#!/bin/sh
# What somebody who has never seen the project waits for, with times:  sh .ci/first_contact.sh [BRANCH]
#
# Clones this repository into a folder of its own, runs `make lab` there until JupyterLab answers, and runs every
# notebook from top to bottom. Prints the seconds since the start after each. The folder is a temporary one, removed
# at the end.
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
branch=${1:-HEAD}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
start=$(date +%s)
say() { echo "$(($(date +%s) - start)) s: $*"; }

git clone --quiet "$repository" "$folder/clone"
cd "$folder/clone"
git checkout --quiet --detach "$(git -C "$repository" rev-parse "$branch")"
say "cloned"

setsid make lab LAB_FLAGS=--no-browser >"$folder/lab.log" 2>&1 &
lab=$!
trap 'kill -- "-$lab" 2>/dev/null || true; rm -rf "$folder"' EXIT
until grep -q 'http://127.0.0.1:' "$folder/lab.log"; do
    if ! kill -0 "$lab" 2>/dev/null; then
        cat "$folder/lab.log"
        exit 1
    fi
    sleep 0.2
done
say "JupyterLab listens"
.venv/bin/expandlab doctor

# The kernels' warnings are of interest where one fails.
PATH="$PWD/.venv/bin:$PATH" .venv/bin/python - 2>"$folder/notebooks.log" <<'PYTHON' || { cat "$folder/notebooks.log"; exit 1; }
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

for path in sorted(Path("notebooks").glob("*.ipynb")):
    begin = time.monotonic()
    NotebookClient(nbformat.read(path, 4), timeout=300, resources={"metadata": {"path": "notebooks"}}).execute()
    print(f"    {path.name} {time.monotonic() - begin:.1f} s", flush=True)
PYTHON
say "all notebooks ran"
