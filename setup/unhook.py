"""Takes our hooks out of every agent, going by the manifest alone: standard library, Python 3.8, one file.

What holds: a file that still has the bytes we wrote gets back the bytes that were there before; in any
other, only entries that are recognisably ours go, and where even that is not safe, the person is told
what to delete. Settings go before the files they name, so that no agent is left calling a missing hook.
`reflexctl uninstall` goes the same way, with the adapters for files that changed since.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from typing import Any

OUR_COMMAND = "/shims/reflex_hook.py"
OUR_MARK = b"reflex-shim"
HERMES_SECTION = b"plugins:\n  enabled:\n    - reflex\n"
HERMES_ENTRY = re.compile(rb"^[ \t]*-[ \t]*(['\"]?)reflex\1[ \t]*(?:#.*)?\n?", re.M)
HERMES_FLOW = re.compile(rb"enabled:[^\n]*\breflex\b")
OPENCODE_GUARD = re.compile(rb',\s*"\*\*"\s*:\s*"deny"|"\*\*"\s*:\s*"deny"\s*,?')
AGENT_NAMES = ("claude", "codex", "opencode", "pi", "hermes")
AGENT_PACKAGES = ("/claude-code/", "/@openai/codex", "/opencode-ai/", "/pi-coding-agent/", "hermes_cli")
RUNNERS = re.compile(r"(?:node|bun|deno|nodejs|python[0-9.]*|sh|bash|dash|zsh)\Z")


class CannotEdit(Exception):
    """Why a file has to be edited by hand, and what to delete there."""


def restore(record: dict[str, Any], surgery: Callable[[dict[str, Any], bytes], bytes | None]) -> str:
    """Undo one file of the manifest; says what was done, or nothing where nothing was to do. Raises CannotEdit."""
    path: str = record["path"]
    target = os.path.realpath(path)
    now = read(target)
    before = base64.b64decode(record["before"]) if record["before"] is not None else None
    if now is None or now == before:
        return ""
    mode = None
    if hashlib.sha256(now).hexdigest() in record["after"]:
        after, said = before, "as it was before" if before is not None else "removed"
        mode = record["mode"]  # Codex writes its config.toml anew, with a mode of its own
    else:
        after = surgery(record, now)
        if after == now:
            return ""
        if before is None and after is not None and after.strip() in (b"", b"{}"):
            after = None  # the file was ours, and so was all that was in it
        said = "our entries taken out (it had changed since)" if after is not None else "removed"
    write(target, after, mode)
    return path + ": " + said


def read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as e:
        raise CannotEdit("cannot be read: " + str(e.strerror)) from e


def write(target: str, data: bytes | None, mode: int | None) -> None:
    temp = os.path.join(os.path.dirname(target), "." + os.path.basename(target) + ".reflex-tmp")
    try:
        if data is None:
            os.unlink(target)
            return
        found = os.stat(target)
        if os.path.lexists(temp):
            os.unlink(temp)
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(fd, "wb") as file:
            if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(fd, found.st_uid, found.st_gid)
            os.fchmod(fd, stat.S_IMODE(found.st_mode) if mode is None else mode)
            file.write(data)
            file.flush()
            os.fsync(fd)
        os.rename(temp, target)
    except OSError as e:
        raise CannotEdit("cannot be written: " + str(e.strerror)) from e


# ---- entries of ours in a file that changed since ---------------------------------


def without_ours(record: dict[str, Any], now: bytes, trusted: list[str]) -> bytes | None:
    """The file without what is ours; None where all of it is. Raises CannotEdit."""
    kind = record["kind"]
    if kind == "whole":
        if OUR_MARK in now:
            return None
        raise CannotEdit("is no longer the file that setup wrote; it is left alone")
    if kind == "hooks":
        return without_groups(now)
    if kind == "guard":
        return without_guard(now)
    if kind == "plugins":
        return without_plugin(now)
    if kind == "trust":
        return without_trust(now, trusted)
    if kind == "settings":
        raise CannotEdit("has been changed since setup; it is left alone")
    raise CannotEdit("is of a kind that this unhook does not know: " + str(kind))


def without_groups(now: bytes) -> bytes:
    by_hand = 'delete every group of "hooks" whose command names ' + OUR_COMMAND
    try:
        root = json.loads(now.decode("utf-8"))
    except ValueError as e:
        raise CannotEdit("is not plain JSON any more; " + by_hand) from e
    hooks = root.get("hooks") if isinstance(root, dict) else None
    if not isinstance(hooks, dict) or OUR_COMMAND.encode() not in now:
        return now
    for event in list(hooks):
        groups = hooks[event]
        if isinstance(groups, list):
            kept = [group for group in groups if not is_ours(group)]
            if len(kept) != len(groups):
                hooks[event] = kept
                if not kept:
                    del hooks[event]
    if not hooks:
        del root["hooks"]
    return (json.dumps(root, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def is_ours(group: Any) -> bool:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    commands = [h.get("command") for h in handlers if isinstance(h, dict)] if isinstance(handlers, list) else []
    return any(isinstance(command, str) and OUR_COMMAND in command for command in commands)


def without_guard(now: bytes) -> bytes:
    """opencode.json may hold comments, so our one member is cut out of the text as it stands."""
    count = len(OPENCODE_GUARD.findall(now))
    if count > 1:
        raise CannotEdit('delete the entry "**": "deny" from "permission": with it opencode refuses every tool')
    return OPENCODE_GUARD.sub(b"", now)


def without_plugin(now: bytes) -> bytes:
    if now.endswith(HERMES_SECTION):
        return now[: -len(HERMES_SECTION)]
    found = list(HERMES_ENTRY.finditer(now))
    if len(found) == 1:
        return now[: found[0].start()] + now[found[0].end() :]
    if not found and not HERMES_FLOW.search(now):
        return now
    raise CannotEdit('delete "reflex" from the list plugins.enabled')


def without_trust(now: bytes, trusted: list[str]) -> bytes:
    """config.toml without the tables that hold the trust in our hooks."""
    headers = {"[hooks.state." + json.dumps(key) + "]" for key in trusted}
    headers |= {"[hooks.state.'" + key + "']" for key in trusted}
    kept: list[bytes] = []
    inside = False
    for line in now.splitlines(keepends=True):
        word = line.decode("utf-8", "replace").strip()
        if word.startswith("["):
            inside = word in headers
        if not inside:
            kept.append(line)
    return b"".join(kept)


# ---- who is asking ----------------------------------------------------------------


def agent_above() -> str:
    """The agent that this process runs under, as far as its ancestors' command lines tell; else empty."""
    pid = os.getppid()
    for _ in range(64):
        if pid <= 1:
            return ""
        parent, words = process(pid)
        if is_agent(words):
            return os.path.basename(words[0]) + " (process " + str(pid) + ")"
        pid = parent
    return ""


def is_agent(words: list[str]) -> bool:
    """Judged by what the program is called, or the script or module that an interpreter runs."""
    programs = words[:1]
    if programs and RUNNERS.match(os.path.basename(programs[0])):
        rest = [word for word in words[1:8] if not word.startswith("-") or word in ("-c", "-e")]
        programs += rest[:1]
    for program in programs:
        name = re.sub(r"\.(?:js|mjs|cjs|py|exe)\Z", "", os.path.basename(program))
        if name in AGENT_NAMES or name.startswith("codex-") or any(part in program for part in AGENT_PACKAGES):
            return True
    return False


def process(pid: int) -> tuple[int, list[str]]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            parent = int(file.read().rpartition(b")")[2].split()[1])
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return parent, [os.fsdecode(word) for word in file.read().split(b"\0") if word]
    except (OSError, ValueError, IndexError):
        pass
    try:
        line = subprocess.run(
            ["/bin/ps", "-o", "ppid=", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, timeout=5
        ).stdout.split()
        return int(line[0]), line[1:]
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return 0, []


# ---- the command ------------------------------------------------------------------


def say(text: str) -> None:
    print("unhook: " + text, file=sys.stderr)


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        print(
            "usage: unhook\n\nTakes reflex's hooks out of every agent. The program, its settings and its journal stay."
        )
        return 0 if argv[1:] in (["-h"], ["--help"]) else 2
    agent = agent_above()
    if agent:
        say("error: this runs under " + agent + ", and only a person takes the hooks out")
        say("hint: run it from a terminal of your own")
        return 1
    try:
        with open(argv[0], "rb") as file:
            manifest = json.loads(file.read().decode("utf-8"))
        records = manifest["files"][::-1]
        trusted = manifest["trusted"]
        if manifest["manifest"] != 1:
            raise ValueError("its version is not 1")
    except (OSError, ValueError, KeyError, TypeError) as e:
        say("error: cannot go by " + argv[0] + ": " + str(e))
        say('hint: delete every hook whose command names "' + OUR_COMMAND + "\" from the agents' settings by hand")
        return 1
    left = 0
    for record in records:
        if record["owner"] == "reflex":
            continue  # our own files hook nothing in; reflexctl uninstall removes them
        try:
            done = restore(record, lambda which, now: without_ours(which, now, trusted))
        except CannotEdit as e:
            left += 1
            say("error: " + record["path"] + " " + str(e))
        else:
            if done:
                print(done)
    if left:
        say("hint: the other files are done; see to the ones named above by hand")
        return 1
    print("no agent asks reflex any more; running agents may have to be restarted")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
