#!/bin/sh
# The set-up that `make lab` and `make test` share:  sh .ci/setup.sh python | driver | browser ...
#
#   python   .venv with the locked packages, this project in editable mode and JupyterLab's settings
#   driver   a Vulkan loader and a driver for it
#   browser  Chromium, for the browser tests
#
# Each step looks before it acts, so that a second run costs a fraction of a second. Only `python` can fail: without
# a driver there is still the `reference` device, and without a browser its tests are skipped, each with the line to
# run. Nothing outside .venv is written, but for the system's packages where this runs as root on Debian or Ubuntu.
set -eu
cd "$(dirname "$0")/.."

venv=.venv
stamp=$venv/.expandlab-setup
lock=requirements.lock

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# ---------------------------------------------------------------------------------------------- system packages

on_debian() { [ -e /etc/debian_version ] && have apt-get; }
on_ubuntu() { grep -qsx 'ID=ubuntu' /etc/os-release; }
may_apt() { on_debian && [ "$(id -u)" = 0 ]; }

apt_install() {
    say "Installing $* with apt-get ..."
    # An update that fails (one mirror down) need not mean that the install does. No standard input: never ask.
    DEBIAN_FRONTEND=noninteractive apt-get -qq update </dev/null >&2 || true
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" </dev/null >&2
}

# ------------------------------------------------------------------------------------------------------- python

# Runs the candidate rather than looking for its name: a version manager's shim can be there and still not run.
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# Version and installation of an interpreter, or of the one that a virtual environment was made from.
identity() { "$1" -c 'import sys; print(sys.version_info[:2], sys.base_prefix)' 2>/dev/null || echo "does not run"; }

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        if new_enough "$PYTHON"; then echo "$PYTHON"; return; fi
        say "PYTHON=$PYTHON is not a Python 3.11 or newer."
        return 1
    fi
    for candidate in python3.11 python3 python3.12 python3.13 python3.14 python; do
        if new_enough "$candidate"; then echo "$candidate"; return; fi
    done
    say "Python 3.11 or newer is needed, and none is on PATH. Install it, or name one:  make lab PYTHON=/path/to/python3"
    return 1
}

# Debian and Ubuntu take pip's seed out of Python and put it in a package of its own.
has_ensurepip() { "$1" -c 'import venv; from ensurepip import version' >/dev/null 2>&1; }

ensure_ensurepip() {
    if has_ensurepip "$1"; then return; fi
    package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if may_apt && { apt_install "$package" || apt_install python3-venv; } && has_ensurepip "$1"; then return; fi
    say "$1 cannot make virtual environments. Run this, then make again:  $(venv_line "$package")"
    return 1
}

venv_line() {
    if on_debian; then echo "sudo apt-get install $1"; else echo "(your package manager's venv and ensurepip for Python)"; fi
}

hash_of() {
    if have sha256sum; then sha256sum; elif have shasum; then shasum -a 256; else cksum; fi
}

# What .venv depends on. The folder is part of it: scripts and the editable install hold its path.
wanted() { { cat "$lock" pyproject.toml .ci/setup.sh; pwd; } | hash_of | cut -d' ' -f1; }

# Is .venv there, does it run, was it made in this folder, and from the Python that was asked for (if one was)?
venv_usable() {
    [ -x "$venv/bin/python" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1 || return 1
    [ "$(cat "$venv/.made-in" 2>/dev/null)" = "$(pwd)" ] || return 1
    [ -z "${PYTHON:-}" ] || [ "$(identity "$venv/bin/python")" = "$(identity "$PYTHON")" ]
}

# No questions, no news and no look for updates. In .venv, so that the user's own Jupyter keeps its settings.
jupyter_settings() {
    mkdir -p "$venv/share/jupyter/lab/settings" "$venv/etc/jupyter/labconfig"
    cat >"$venv/share/jupyter/lab/settings/overrides.json" <<'JSON'
{
  "@jupyterlab/apputils-extension:notification": {
    "checkForUpdates": false,
    "fetchNews": "false"
  }
}
JSON
    cat >"$venv/etc/jupyter/labconfig/page_config.json" <<'JSON'
{
  "disabledExtensions": {
    "@jupyterlab/apputils-extension:announcements": true
  }
}
JSON
}

setup_python() {
    key=$(wanted)
    if [ "$(cat "$stamp" 2>/dev/null)" = "$key" ] && [ -x "$venv/bin/python" ]; then
        if [ -z "${PYTHON:-}" ] || [ "$(identity "$venv/bin/python")" = "$(identity "$PYTHON")" ]; then
            # Only starting it tells whether the Python that it was made from is still there.
            if "$venv/bin/python" -c '' 2>/dev/null; then return; fi
        fi
    fi

    if ! venv_usable; then
        # What is made anew is emptied first, and what a link leads to is somebody else's.
        if [ -L "$venv" ]; then
            say "$venv is a link to $(readlink "$venv"), which this would empty. Remove the link, then make again."
            return 1
        fi
        python=$(find_python)
        ensure_ensurepip "$python"
        say "Making $venv with $("$python" --version) ..."
        "$python" -m venv --clear "$venv"
        pwd >"$venv/.made-in"
    fi
    rm -f "$stamp"
    say "Installing the packages of $lock (about a minute, the first time only) ..."
    pip="$venv/bin/python -m pip --quiet --disable-pip-version-check --no-input"
    $pip install -r "$lock"
    # The lock has the build tool too: isolation would download another.
    $pip install --no-deps --no-build-isolation -e .
    $pip check >&2
    jupyter_settings
    echo "$key" >"$stamp"
}

# ------------------------------------------------------------------------------------------------------- driver

library_found() {
    case $1 in
    /*) [ -e "$1" ] ;;
    */*) [ -e "$2/$1" ] ;; # relative to the file that names it
    *) printf '%s\n' "$libraries" | grep -qF "$1" ;;
    esac
}

# A manifest alone is not a driver: container images carry some whose library is elsewhere.
manifest_works() {
    library=$(sed -n 's/.*"library_path"[^"]*"\([^"]*\)".*/\1/p' "$1" 2>/dev/null | head -n 1)
    [ -n "$library" ] && library_found "$library" "$(dirname "$1")"
}

driver_found() {
    case $(uname -s) in Darwin) return 0 ;; esac # Metal is part of the system
    # ldconfig is outside an ordinary user's PATH on Debian.
    libraries=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null || true)
    printf '%s\n' "$libraries" | grep -qF libvulkan.so.1 || return 1
    if [ -n "${VK_DRIVER_FILES:-${VK_ICD_FILENAMES:-}}" ]; then return 0; fi # the user knows better
    for folder in /usr/share /usr/local/share /etc /usr/local/etc "${XDG_DATA_HOME:-${HOME:-}/.local/share}"; do
        for manifest in "$folder"/vulkan/icd.d/*.json; do
            if manifest_works "$manifest"; then return 0; fi
        done
    done
    return 1
}

driver_line() {
    if on_debian; then echo "sudo apt-get install mesa-vulkan-drivers libvulkan1"
    elif have dnf; then echo "sudo dnf install mesa-vulkan-drivers vulkan-loader"
    elif have pacman; then echo "sudo pacman -S vulkan-swrast vulkan-icd-loader"
    elif have zypper; then echo "sudo zypper install libvulkan_lvp libvulkan1"
    elif have apk; then echo "doas apk add mesa-vulkan-swrast vulkan-loader"
    else echo "(your package manager's Vulkan loader and Mesa's Vulkan drivers)"
    fi
}

setup_driver() {
    if driver_found; then return; fi
    if may_apt && apt_install mesa-vulkan-drivers libvulkan1 && driver_found; then return; fi
    say "No Vulkan driver: only the reference device will work. To install one, run:  $(driver_line)"
}

# ------------------------------------------------------------------------------------------------------ browser

# The names that tests/conftest.py looks for too.
browser_found() {
    if [ -n "${EXPANDLAB_CHROMIUM:-}" ]; then return 0; fi
    for name in chromium google-chrome google-chrome-stable; do
        if have "$name"; then return 0; fi
    done
    # Ubuntu's chromium-browser may be a stub that asks for a snap: only running it tells.
    if have chromium-browser && chromium-browser --version >/dev/null 2>&1; then return 0; fi
    if [ -d "/Applications/Google Chrome.app" ] || [ -d /Applications/Chromium.app ]; then return 0; fi
    for folder in "${PLAYWRIGHT_BROWSERS_PATH:-}" "${HOME:-}/.cache/ms-playwright" "${HOME:-}/Library/Caches/ms-playwright"; do
        for browser in "$folder"/chromium-*; do
            if [ -e "$browser" ]; then return 0; fi
        done
    done
    return 1
}

browser_line() {
    if on_debian && ! on_ubuntu; then echo "sudo apt-get install chromium"
    else echo "$venv/bin/python -m playwright install --with-deps chromium"
    fi
}

install_browser() {
    # Ubuntu's own package is a snap, which does not work in containers; Playwright's build does.
    if on_ubuntu; then "$venv/bin/python" -m playwright install --with-deps chromium </dev/null >&2
    else apt_install chromium
    fi
}

setup_browser() {
    if browser_found; then return; fi
    if may_apt && install_browser && browser_found; then return; fi
    say "No Chromium: the browser tests will be skipped. To install it, run:  $(browser_line)"
}

# --------------------------------------------------------------------------------------------------------------

for step in "$@"; do
    case $step in
    python) setup_python ;;
    driver) setup_driver ;;
    browser) setup_browser ;;
    *) say "setup.sh: no such step: $step"; exit 2 ;;
    esac
done
