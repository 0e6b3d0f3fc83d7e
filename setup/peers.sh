#!/bin/sh
# Installs the two engines that bench/engine.py runs beside ours, each pinned and in an environment of its own
# (one of them needs an older transformers): into $REFLEX_PEERS_DIR, or /var/cache/reflex-peers for root, or
# ~/.cache/reflex-peers. About 2.5 GB. What is there already is left alone; nothing else is touched.
set -u
umask 022

if [ -n "${REFLEX_PEERS_DIR-}" ]; then
    dir=$REFLEX_PEERS_DIR
elif [ "$(id -u)" = 0 ]; then
    dir=/var/cache/reflex-peers
else
    dir=$HOME/.cache/reflex-peers
fi
python=${PYTHON:-python3}
failed=''

# peer NAME REQUIREMENT...: torch first and exactly, or its newest comes along with all that CUDA needs
peer() {
    name=$1
    shift
    if "$dir/$name/bin/python" -c 'import sys; from importlib.metadata import version; version(sys.argv[1])' "${1%%==*}" 2>/dev/null; then
        printf 'peers: %s is there\n' "$1"
        return
    fi
    printf 'peers: installing %s ...\n' "$1"
    rm -rf "${dir:?}/$name"
    "$python" -m venv "$dir/$name" &&
        "$dir/$name/bin/python" -m pip install -qq --disable-pip-version-check torch==2.13.0 </dev/null &&
        "$dir/$name/bin/python" -m pip install -qq --disable-pip-version-check "$@" </dev/null || {
        printf 'peers: NOT INSTALLED: %s (pip says why above)\n' "$1" >&2
        failed=yes
    }
}

mkdir -p "$dir" || exit 1
peer any2jev any2jev==0.1.0 'transformers<5' uvicorn fastapi
peer qev onejev==0.1.1 accelerate
[ -z "$failed" ]
