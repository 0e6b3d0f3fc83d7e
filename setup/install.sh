#!/bin/sh
# Installs reflex for the user who runs this, from the clone that it lies in, and hooks it into the
# coding agents that are found. Run it again to upgrade. Arguments go on to `reflexctl setup`.
# Makes: ~/.local/share/reflex (its own virtual environment), two links in ~/.local/bin, and what
# `reflexctl setup` shows. Takes back all of it: reflexctl uninstall
# --engine installs what local models need as well (torch and others: some GB); an upgrade keeps it.
set -eu
umask 077
unset PYTHONPATH PYTHONHOME
extra=''
if [ "${1-}" = --engine ]; then
    extra='[engine]'
    shift
fi

say() { printf 'install: %s\n' "$1"; }
fail() {
    printf 'install: error: %s\n' "$1" >&2
    [ -z "${2-}" ] || printf 'install: hint: %s\n' "$2" >&2
    exit 1
}

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
[ -f "$root/pyproject.toml" ] || fail "$root is not a clone of reflex" "run setup/install.sh where you cloned it"
case ${HOME-} in
    /*) [ -d "$HOME" ] || fail "the home directory $HOME is not there" ;;
    *) fail "HOME is not set to a directory" ;;
esac
[ -O "$HOME" ] || fail "$HOME belongs to another user" "reflex is installed by each user for himself, without sudo"

share=$HOME/.local/share/reflex
venv=$share/venv
bin=$HOME/.local/bin

works() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
        if works "$candidate"; then
            command -v -- "$candidate"
            return
        fi
    done
    fail "found no Python 3.11 or newer" "install one (Debian: apt install python3 python3-venv), or name it: PYTHON=/path/to/python3 $0"
}

if works "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    say "using the environment that is there: $venv"
else
    python=$(find_python)
    "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
        fail "$python has no venv module" "Debian and Ubuntu keep it apart: apt install python3-venv"
    say "making a virtual environment with $python ..."
    mkdir -p -- "$share"
    [ ! -e "$venv/pyvenv.cfg" ] || rm -rf -- "$venv"
    "$python" -m venv -- "$venv" || fail "the virtual environment could not be made in $venv"
fi

if "$venv/bin/python" -c 'import torch, transformers, starlette' >/dev/null 2>&1; then
    extra='[engine]'
fi
say "installing reflex and its libraries${extra:+ (with torch, which takes a while)} ..."
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade "$root$extra" ||
    fail "pip could not install reflex" "see its words above; it needs the package index that pip is configured for"

mkdir -p -- "$bin"
for name in reflexctl reflexd; do
    link=$bin/$name
    if [ -e "$link" ] && [ ! -L "$link" ]; then
        fail "$link is there already and is not a link" "move it away, then run this again"
    fi
    ln -sf -- "$venv/bin/$name" "$link"
done

"$venv/bin/reflexctl" setup --yes "$@" ||
    fail "reflex is installed, but not everything is set up" "see above; then: $bin/reflexctl doctor"

say "done: $share, $bin/reflexctl, $bin/reflexd, and the files that are shown above"
case :${PATH-}: in
    *:"$bin":*) ;;
    *) say "$bin is not on your PATH: call $bin/reflexctl, or add it" ;;
esac
say "to undo all of it: reflexctl uninstall"
