#!/bin/sh
# reflex-shim: takes reflex's hooks out of every agent, also when reflex's own environment is broken.
# Needs nothing but a python3 (3.8 or newer); everything below the marker line is Python.
set -u
manifest=@MANIFEST@
for python in python3 /usr/bin/python3 /usr/local/bin/python3 /opt/homebrew/bin/python3 @PYTHON@; do
    if "$python" -I -c 'import base64, hashlib, json, subprocess' >/dev/null 2>&1; then
        exec "$python" -I -c "$(sed '1,/^#--python--$/d' "$0")" "$manifest" "$@"
    fi
done
cat >&2 <<'TEXT'
unhook: error: found no working python3 (3.8 or newer)
unhook: hint: install one, or take the hooks out by hand:
@BY_HAND@
TEXT
exit 1
#--python--
