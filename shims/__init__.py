"""What is installed into agents, as templates with literals to fill in.

Pure but for reading this package's own data. A shim takes nothing from its
environment: socket, uid, deadline and failing side are written here, at install.
"""

from __future__ import annotations

import json
import os
import shlex
from importlib import resources

from reflexd import __version__
from reflexd.types import Agent, Places

Literal = str | int | dict[str, str]
DEADLINE_MS = 5000
OPENCODE_GUARD = {"**": "deny"}
"""What setup adds to `permission` in opencode.json and the loaded plugin takes out of the running configuration.

It matches every tool, as "*" does, but is no key that a person writes: taking out a "*" of his own
would open what he closed.
"""
HOOK_NAME = "reflex_hook.py"
MARKER = "reflex-shim"
"""In every installed file of ours; setup and uninstall recognise them by it."""


def hook_path(places: Places) -> str:
    """The Python shim that Claude Code and Codex run."""
    return os.path.join(places.share, "shims", HOOK_NAME)


def hint(places: Places) -> str:
    """How a person gets out of a refusal that no daemon explained."""
    start = shlex.quote(os.path.join(places.share, "bin", "reflexctl")) + " start"
    remove = shlex.quote(os.path.join(places.share, "unhook"))
    return f"a person can start it with: {start} (or take the hooks out with: {remove})"


def permission_deny(places: Places) -> str:
    """The answer to a permission request when nobody could decide. Codex drops JSON with a field it does
    not know, so there is none but the documented ones."""
    decision = {"behavior": "deny", "message": "reflex: the daemon gave no answer; " + hint(places)}
    return json.dumps(
        {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}},
        separators=(",", ":"),
    )


def hook_line(places: Places, agent: Agent, event: str) -> str:
    """The shell line that Claude Code and Codex run for `event`.

    Hosts read exit 0 as "go on" and so does an interpreter that ran an empty file. So the
    shim says 40 for go on and 42 for refused, and every other end of it refuses: at events
    that only observe, it warns (exit 1).
    """
    run = " ".join(shlex.quote(word) for word in (places.python, "-I", "-S", hook_path(places), agent, event))
    match event:
        case "PreToolUse" | "PreSkillShellCommand":
            say = shlex.quote("reflex: the hook itself failed; " + hint(places))
            return f"{run}; case $? in 40) exit 0;; 42) exit 2;; *) printf '%s\\n' {say} >&2; exit 2;; esac"
        case "PermissionRequest":
            return f"{run}; case $? in 40) exit 0;; *) printf '%s\\n' {shlex.quote(permission_deny(places))};; esac"
        case _:
            # Python leaves with 2 where the file is gone; at Stop that sets the model to work again, for ever.
            return f"{run}; case $? in 40) exit 0;; 42) exit 2;; *) exit 1;; esac"


def render(name: str, places: Places) -> bytes:
    """The installed bytes of shim `name` (a path below this package), with its literals filled in."""
    text = _template(name)
    if "/*@FRAME@*/" in text:
        text = text.replace("/*@FRAME@*/", _template("frame.js"))
    literal = _python if name.endswith(".py") else json.dumps
    values: dict[str, Literal] = {
        "RUN_DIR": os.path.dirname(places.socket),
        "SOCKET": places.socket,
        "UID": places.uid,
        "DEADLINE_MS": DEADLINE_MS,
        "HINT": hint(places),
        "PERMISSION_DENY": permission_deny(places) + "\n",
        "OPENCODE_GUARD": OPENCODE_GUARD,
    }
    for key, value in values.items():
        text = text.replace(f'"@{key}@"', literal(value))
    return text.replace("@VERSION@", __version__).encode("utf-8")


def _template(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text("utf-8")


def _python(value: Literal) -> str:
    return repr(os.fsencode(value)) if isinstance(value, str) else repr(value)
