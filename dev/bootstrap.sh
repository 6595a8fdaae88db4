#!/usr/bin/env bash
# What must be there before Python can take over: system packages and the virtual environment.
# Then: python -m dev "$@"
set -euo pipefail

cd "$(dirname "$0")/.."
command=${1:?usage: dev/bootstrap.sh COMMAND}

case $PWD in
*[!A-Za-z0-9/._+@-]*)
    echo "Move the checkout: Docker's overlay driver and debootstrap cannot work below '$PWD'." >&2
    exit 1
    ;;
esac

if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "make $command starts a Docker engine, so it must run as root, and there is no sudo here." >&2
        exit 1
    fi
    exec sudo --preserve-env "$0" "$@"
fi

# The standard library is enough to stop things, whatever state the environment is in.
if [ "$command" = down ]; then
    exec python3 -m dev down
fi

mkdir -p var/run var/log

# One at a time: two engineers' `make` in one checkout would install into each other's half-made environment.
# The descriptor is closed for everything that is started, or it would hold the lock for as long as that runs.
exec 9>var/run/bootstrap.lock
flock 9

# --- system packages ---------------------------------------------------------------------------------------------

missing=()
need() { # COMMAND PACKAGE: PACKAGE is missing if there is no COMMAND
    command -v "$1" >/dev/null || missing+=("$2")
}

find_python() {
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

python=$(find_python)
[ -n "$python" ] || missing+=(python3 python3-venv)

need redis-server redis-server
case $command in
check | fast) ;;
*)
    need dockerd docker.io
    need containerd containerd
    need debootstrap debootstrap
    [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=(debian-archive-keyring)
    need docker docker-cli
    ;;
esac

[ "$command" != test ] || need curl curl
[ "$command" != test ] || need node nodejs
[ "$command" != test ] || command -v chromium >/dev/null || missing+=(chromium fonts-dejavu-core)

if [ ${#missing[@]} -gt 0 ]; then
    echo "  System packages: ${missing[*]} …"
    if ! command -v apt-get >/dev/null; then
        echo "This needs ${missing[*]}, and there is no apt-get to install them with. Install them, then try again." >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    {
        apt-get update -q
        # In older releases the command line is part of docker.io, and there is no such package.
        apt-cache show docker-cli >/dev/null 2>&1 || missing=("${missing[@]/docker-cli/docker.io}")
        apt-get install -qy --no-install-recommends "${missing[@]}"
    } >var/log/apt.log 2>&1 9>&- </dev/null || {
        tail -n 15 var/log/apt.log >&2
        echo "The packages above could not be installed; all of it is in var/log/apt.log." >&2
        exit 1
    }
    hash -r
    python=$(find_python)
    if [ -z "$python" ]; then
        echo "This needs Python 3.11 or newer, with its venv module; the distribution's python3 is older." >&2
        exit 1
    fi
fi

# --- virtual environment -----------------------------------------------------------------------------------------

wanted=$(cat requirements*.txt | sha256sum)
if [ "$(cat var/venv/complete 2>/dev/null)" != "$wanted" ]; then
    echo "  Virtual environment …"
    # Made anew when it is half made, or its Python is gone; otherwise only what changed is installed.
    var/venv/bin/pip --version >/dev/null 2>&1 || "$python" -m venv --clear var/venv 9>&-
    rm -f var/venv/complete
    if ! var/venv/bin/pip install --disable-pip-version-check --no-input -q -r requirements-dev.txt \
        >var/log/pip.log 2>&1 9>&- </dev/null; then
        tail -n 15 var/log/pip.log >&2
        echo "pip could not install requirements-dev.txt; all of it is in var/log/pip.log." >&2
        exit 1
    fi
    echo "$wanted" >var/venv/complete
fi

exec var/venv/bin/python -m dev "$@" 9>&-
