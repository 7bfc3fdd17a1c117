#!/bin/sh
# `make lock`: writes requirements.lock, requirements-oldest.lock and environment.yml from pyproject.toml.
#
# Pins that still fit stay as they are; `make lock LOCK_FLAGS=--upgrade` takes the newest of everything.
# Run through make, which passes .venv's Python.
set -eu
cd "$(dirname "$0")/.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT INT TERM
.venv/bin/python -m venv "$tools/venv"
"$tools/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv

# --no-config: neither indexes nor flags of this machine reach the lock.
compile() {
    "$tools/venv/bin/uv" pip compile pyproject.toml --no-config --quiet --no-progress --all-extras \
        --python-version 3.11 \
        --custom-compile-command "make lock" "$@"
}
# --universal: markers instead of this machine's answers, so that the lock serves every system and Python 3.11 and up.
# --fork-strategy fewest: one version of each package for all of them, which is then one that Python 3.11 takes.
# shellcheck disable=SC2086 # several flags are several words
compile --universal --fork-strategy fewest --output-file requirements.lock ${LOCK_FLAGS:-} >/dev/null
# The oldest versions that may be used are a test of the lower bounds, for the oldest Python alone.
# shellcheck disable=SC2086
compile --python-platform x86_64-manylinux_2_28 --resolution lowest-direct --output-file requirements-oldest.lock ${LOCK_FLAGS:-} >/dev/null

{
    echo "# For conda users:  conda env create -f environment.yml.  Written by make lock: the pins are requirements.lock's."
    echo "name: expandlab"
    echo "channels:"
    echo "  - conda-forge"
    echo "dependencies:"
    echo "  - python=3.11"
    echo "  - pip"
    echo "  - pip:"
    sed -n 's/^[A-Za-z0-9].*/      - "&"/p' requirements.lock
    echo '      - "-e ."'
} >environment.yml
