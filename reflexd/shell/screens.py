"""tmux and screen: commands in new windows, and text typed into windows that are there."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped, commands
from reflexd.shell.options import command_at, names

_GLOBALS = names("-c -f -L -S -T")
_OPENS = {
    verb: names(valued)
    for verbs, valued in (
        ("new new-session", "-c -e -f -F -n -s -t -x -y"),
        ("neww new-window", "-c -e -F -n -t"),
        ("splitw split-window", "-c -e -F -l -p -t"),
        ("respawnw respawn-window respawnp respawn-pane", "-c -e -t"),
        ("popup display-popup", "-b -c -d -e -h -s -S -t -T -w -x -y"),
        ("pipep pipe-pane", "-t"),
        ("run run-shell", "-c -d -t"),
    )
    for verb in verbs.split()
}
"""Commands of tmux that run their operands as a shell command -> their options with a value."""
_TYPES = names("send send-keys")
_HOLDS = names("if if-shell confirm confirm-before bind bind-key set-hook")
"""Commands of tmux whose operands are commands of tmux."""
_KEYS = {"Enter": "\n", "C-m": "\n", "C-j": "\n", "KPEnter": "\n", "Space": " ", "Tab": "\t"}
ROUNDS_MAX = 8


def _tmux(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    code: list[str] = []
    if "-c" in args[: command_at(args, _GLOBALS)]:
        code.append(args[args.index("-c") + 1] if args.index("-c") + 1 < len(args) else "")
    rest = args[command_at(args, _GLOBALS) :]
    buffered = any(word in ("pasteb", "paste-buffer") for word in rest)
    for _ in range(ROUNDS_MAX):
        end = next((i for i, word in enumerate(rest) if word in (";", "\\;")), len(rest))
        code.extend(_tmux_command(rest[:end], buffered))
        rest = rest[end + 1 :]
    return Unwrapped(code=tuple(text for text in code if text.strip())) if any(map(str.strip, code)) else None


def _tmux_command(words: tuple[str, ...], buffered: bool) -> list[str]:
    verb, args = (words[0], words[1:]) if words else ("", ())
    if verb in _TYPES:
        return ["".join(_KEYS.get(word, word) for word in args[command_at(args, names("-t -N -c")) :])]
    if verb in _OPENS:
        return [" ".join(args[command_at(args, _OPENS[verb]) :])]
    if verb in _HOLDS:
        found = [word for word in args if not word.startswith("-")][:1] if verb in ("if", "if-shell") else []
        for text in args:
            found.extend(_split(text, buffered) if " " in text else [])
        return found
    if verb in ("setb", "set-buffer") and buffered:
        return [" ".join(args[command_at(args, names("-b -n -t")) :])]
    return []


def _split(text: str, buffered: bool) -> list[str]:
    """A tmux command line within a tmux command."""
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        return [text]
    return _tmux_command(words, buffered)


def _screen(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    if "stuff" in args:
        text = " ".join(args[args.index("stuff") + 1 :])
        return Unwrapped(code=(text.replace("\\n", "\n").replace("^M", "\n").replace("\r", "\n"),))
    if "-X" in args:
        rest = args[args.index("-X") + 1 :]
        return commands(rest[1:]) if rest[:1] in (("exec",), ("screen",)) else None
    return commands(args[command_at(args, names("-S -t -c -e -s -T -p -h -L")) :])


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = {"tmux": _tmux, "screen": _screen}
