#!/bin/sh
# The suite in an environment of its own under build/:  sh .ci/against.sh newest | oldest | wheel [pytest's options]
#
#   newest  the newest of everything that pyproject.toml allows, resolved afresh
#   oldest  requirements-oldest.lock, on Python 3.11
#   wheel   what the built wheel brings, away from this folder: the command line, then the tests that need no repository
#
# PYTHON chooses the interpreter; python3.11 if it is empty.
set -eu
cd "$(dirname "$0")/.."
what=$1
shift
venv=$(pwd)/build/venv-$what
python=$venv/bin/python
"${PYTHON:-python3.11}" -m venv --clear "$venv"
pip="$python -m pip --quiet --disable-pip-version-check --no-input"

case $what in
newest)
    $pip install --upgrade --upgrade-strategy eager -e '.[lab,dask,docs,test]'
    $pip freeze --exclude-editable
    PATH="$venv/bin:$PATH" EXPANDLAB_PYTHON=$python exec bash .ci/test.sh "$@"
    ;;
oldest)
    $pip install -r requirements-oldest.lock
    $pip install --no-deps --no-build-isolation -e .
    PATH="$venv/bin:$PATH" EXPANDLAB_PYTHON=$python exec bash .ci/test.sh "$@"
    ;;
wheel)
    rm -rf build/dist build/outside
    .venv/bin/python -m hatchling build -d build/dist
    $pip install build/dist/*.whl
    mkdir -p build/outside
    cp -r tests build/outside/tests
    # Pytest's own settings and nothing else of the project.
    sed -n '/^\[tool.pytest/,/^timeout/p' pyproject.toml >build/outside/pyproject.toml
    cd build/outside
    for line in doctor "expand --kind zipf --items 4096 -o map.npy" "shaders po2_merged --out shaders"; do
        # shellcheck disable=SC2086 # a line is several words
        "$venv/bin/expandlab" $line
    done
    wheel=$(echo ../dist/*.whl)
    $pip install "$wheel[lab,dask,test]"
    # These read the notebooks, the docs, the locks or the sources.
    PATH="$venv/bin:$PATH" exec "$python" -m pytest --ignore=tests/browser --ignore=tests/notebooks --ignore=tests/docs \
        --ignore=tests/setup --ignore=tests/test_layers.py "$@"
    ;;
*)
    echo "against.sh: newest, oldest or wheel, not $what" >&2
    exit 2
    ;;
esac
