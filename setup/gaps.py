"""What can run before a hook or instead of it, and what each host leaves open whatever we do."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping

from msgspec import Struct

from reflexd.errors import ReflexError
from reflexd.setup import files
from reflexd.types import Agent

_RED = re.compile(r"(?:BASH_ENV|BASH_FUNC_.*|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)\Z")
_NOTED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class Gap(Struct, frozen=True):
    """`red`: it can turn a refusal into a success before any code of ours runs."""

    text: str
    red: bool = True


def environment(env: Mapping[str, str]) -> tuple[Gap, ...]:
    """What the environment that agents inherit brings into every hook's process."""
    red = [
        Gap(f"{name.removesuffix('%%')} is set here, and an agent started from here runs its code before our hooks")
        for name in sorted(env)
        if _RED.match(name) and env[name]
    ]
    noted = [Gap(f"{name} is set here (common, only noted)", red=False) for name in _NOTED if env.get(name)]
    return (*red, *noted)


MANAGED = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
    "/etc/codex/requirements.toml",
)


def hosts(agent: Agent, home: str, cwd: str, managed: tuple[str, ...] = MANAGED) -> tuple[Gap, ...]:
    """Files beside the user's own settings that take his hooks away: an administrator's, and the directory's here."""
    match agent:
        case "claude":
            here = [os.path.join(cwd, ".claude", name) for name in ("settings.json", "settings.local.json")]
            paths: tuple[str, ...] = (
                *(p for p in managed if p.endswith(".json")),
                os.path.join(home, "settings.local.json"),
                *here,
            )
            keys: tuple[str, ...] = ("disableAllHooks", "allowManagedHooksOnly")
        case "codex":
            paths, keys = tuple(p for p in managed if p.endswith(".toml")), ("allow_managed_hooks_only",)
        case _:
            return ()
    found = [(path, key) for path in dict.fromkeys(paths) for key in keys if _table(path).get(key) is True]
    return tuple(Gap(f"{path} sets {key}, so the hooks of the user do not run") for path, key in found)


def _table(path: str) -> dict[str, object]:
    """What is no table of settings takes no hook away either."""
    try:
        data = files.read(path) or b"{}"
        found = tomllib.loads(data.decode()) if path.endswith(".toml") else json.loads(data)
    except (ReflexError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


LIMITS: dict[Agent, tuple[str, ...]] = {
    "claude": (
        "disableAllHooks in any settings file switches hooks off",
        "so do --bare, --safe-mode, CLAUDE_CODE_SIMPLE=1 and --setting-sources without `user`",
        "a repository's own .claude/settings.json can set disableAllHooks, and holds under -p",
        "a file named with @ in a prompt is read without a hook",
        "2.1.197 runs the commands of a skill that loads without a hook (2.1.332 calls one)",
        "before 2.1.295 a hook that is killed or runs into its timeout lets the tool run",
    ),
    "codex": (
        "a hook runs only while it is trusted; an edit of hooks.json takes the trust away without a word",
        "--disable hooks and [features] hooks = false switch hooks off",
        "what is typed into a running program (write_stdin) and the hosted web search call no hook",
        "a hook that is killed or runs into its timeout lets the tool run",
    ),
    "opencode": (
        "--pure loads no plugin: every tool is then refused by the entry that setup puts into opencode.json",
        "another configuration file can override that entry",
        "a plugin of a project runs after ours and can change what we approved",
        "the server's own shell route and a person's ! commands call no hook",
        "Bun gives no peer credentials: the socket's owner and mode are checked, the process behind it is not",
    ),
    "pi": (
        "-ne loads no extension",
        "the RPC command `bash` calls no hook",
        "Node gives no peer credentials: the socket's owner and mode are checked, the process behind it is not",
    ),
    "hermes": (
        "--safe-mode and --ignore-user-config load no plugin",
        "a plugin that fails to load is skipped, and its tools run",
        "Python code inside execute_code is seen as a whole, not call by call",
    ),
}
