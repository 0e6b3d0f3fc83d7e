#!/bin/sh
# Installs the agents that the tests drive and the peer that the benchmark runs beside, each at the
# version that is pinned here, into one directory: $REFLEX_AGENTS_DIR, or /var/cache/reflex-agents
# for root, or ~/.cache/reflex-agents. What is there already is left alone. Nothing else of the
# machine is touched. Exit 1 when something could not be installed; the rest is there all the same.
set -u
umask 022

if [ -n "${REFLEX_AGENTS_DIR-}" ]; then
    dir=$REFLEX_AGENTS_DIR
elif [ "$(id -u)" = 0 ]; then
    dir=/var/cache/reflex-agents
else
    dir=$HOME/.cache/reflex-agents
fi
failed=''

say() { printf 'agents: %s\n' "$1"; }
miss() {
    printf 'agents: NOT INSTALLED: %s: %s\n' "$1" "$2" >&2
    failed="$failed $1"
}

# npm_has PREFIX PACKAGE VERSION
npm_has() {
    [ -f "$1/node_modules/$2/package.json" ] &&
        [ "$(node -p 'require(process.argv[1]).version' "$1/node_modules/$2/package.json" 2>/dev/null)" = "$3" ]
}

# npm_install PREFIX PACKAGE VERSION: a prefix of its own keeps two versions of one package apart
npm_install() {
    if npm_has "$1" "$2" "$3"; then
        say "$2 $3 is there"
        return
    fi
    say "installing $2 $3 ..."
    mkdir -p "$1"
    npm install --no-audit --no-fund --no-update-notifier --loglevel=error --save-exact \
        --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --prefix "$1" "$2@$3" </dev/null ||
        miss "$2" "npm could not install version $3 (its words are above)"
}

hermes_install() {
    if [ "$("$dir/hermes/bin/python" -c 'from importlib.metadata import version as v; print(v("hermes-agent"), bool(v("mcp")))' 2>/dev/null)" = "$1 True" ]; then
        say "hermes-agent $1 is there"
        return
    fi
    for python in ${PYTHON:+"$PYTHON"} /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
        "$python" -c 'import sys, ensurepip, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' >/dev/null 2>&1 || continue
        say "installing hermes-agent $1 with $python ..."
        rm -rf "$dir/hermes"
        if "$python" -m venv "$dir/hermes" &&
            "$dir/hermes/bin/python" -m pip install -qq --disable-pip-version-check "hermes-agent[mcp]==$1" </dev/null; then
            return
        fi
        miss hermes-agent "pip could not install version $1 (its words are above)"
        return
    done
    miss hermes-agent "it needs Python 3.11 to 3.13 with venv (Debian: apt install python3-venv)"
}

mkdir -p "$dir" || exit 1
say "into $dir"
node_major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
if [ "$node_major" -ge 20 ] && command -v npm >/dev/null 2>&1; then
    npm_install "$dir" @anthropic-ai/claude-code 2.1.332
    npm_install "$dir" @openai/codex 0.171.0
    npm_install "$dir" opencode-ai 1.18.33
    npm_install "$dir" @mariozechner/pi-coding-agent 0.73.1
    npm_install "$dir" cc-safety-net 2.4.5
    npm_install "$dir/claude-old" @anthropic-ai/claude-code 2.1.197
    # What opencode fetches for itself at its first start with a plugin; see the driver.
    npm_install "$dir/opencode-plugin" @opencode-ai/plugin 1.18.33
else
    miss 'claude, codex, opencode, pi, cc-safety-net' 'they need Node.js 20 or newer with npm'
fi
hermes_install 0.19.0
chmod -R a+rX "$dir" 2>/dev/null

[ -z "$failed" ] || {
    say "NOT INSTALLED:$failed"
    exit 1
}
say 'all there'
