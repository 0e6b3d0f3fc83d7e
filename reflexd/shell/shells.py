"""Shells, what a shell itself does with code, and the programs that change the user or the environment for one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from msgspec import structs

from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped, commands
from reflexd.shell.known import SHELLS
from reflexd.shell.options import command_at, names, split

_STDIN = re.compile(r"-\Z|/dev/stdin\Z|/dev/fd/\d+\Z|/proc/self/fd/\d+\Z")


def _words(call: Call) -> Unwrapped | None:
    """Words of the shell before a command."""
    args = call.argv[1:]
    found = commands(args[command_at(args, names("-a") if call.name == "exec" else frozenset()) :])
    return structs.replace(found, same_shell=call.name in _TRANSPARENT) if found else None


_TRANSPARENT = names("builtin command noglob nocorrect ! - {")
"""Words after which a builtin still does its work in this shell."""


def _sudo(call: Call) -> Unwrapped | None:
    valued = names("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --close-from")
    args = call.argv[1:]
    at = command_at(args, valued)
    assigned = []
    while at < len(args) and "=" in args[at] and args[at].partition("=")[0].isidentifier():
        name, _, value = args[at].partition("=")
        assigned.append((name, value))
        at += 1
    options = split(args[:at], valued)
    if options.has("-e", "--edit") and at < len(args):
        return Unwrapped(commands=(("vi", *args[at:]),))
    if at < len(args):
        return Unwrapped(commands=(args[at:],), assigned=tuple(assigned), cwd=options.value("-D", "--chdir") or "")
    return Unwrapped(commands=(("sh",),)) if options.has("-i", "-s", "--login", "--shell") else None


def _doas(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    at = command_at(args, names("-u -C"))
    return commands(args[at:]) or (Unwrapped(commands=(("sh",),)) if "-s" in args[:at] else None)


def _env(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    valued = names("-u -C -a -P --unset --chdir --argv0")
    assigned: list[tuple[str, str]] = []
    cwd = ""
    i = 0
    while i < len(args):
        word = args[i]
        split_at = word.find("S") if word[:1] == "-" and word[:2] != "--" and word[1:].isalpha() else -1
        if split_at > 0 or word.startswith(("-S", "--split-string")):
            text = word.partition("=")[2] if word.startswith("--") else word[max(split_at, 1) + 1 :]
            rest = args[i + 1 :]
            if not text and rest:
                text, rest = rest[0], rest[1:]
            try:
                words = tuple(shlex.split(text))
            except ValueError:
                return Unwrapped(opaque=("env -S was given words that cannot be split",))
            return _env(Call((call.argv[0], *words, *rest), call.cwd))
        if word == "--":
            pass
        elif "=" in word and not word.startswith("-"):
            name, _, value = word.partition("=")
            assigned.append((name, value))
        elif not word.startswith("-"):
            return Unwrapped(commands=(args[i:],), assigned=tuple(assigned), cwd=cwd)
        elif word in valued:
            i += 1
            cwd = args[i] if word in ("-C", "--chdir") and i < len(args) else cwd
        elif word.startswith("--chdir="):
            cwd = word.partition("=")[2]
        i += 1
    return None


def _command(call: Call) -> Unwrapped | None:
    return None if call.argv[1:2] in (("-v",), ("-V",)) else _words(call)


def _eval(call: Call) -> Unwrapped | None:
    words = call.argv[2:] if call.argv[1:2] == ("--",) else call.argv[1:]
    return Unwrapped(code=(" ".join(words),), same_shell=True) if words else None


def _source(call: Call) -> Unwrapped | None:
    if len(call.argv) < 2:
        return None
    file = call.argv[1]
    if _STDIN.match(file) and call.stdin is not None:
        return Unwrapped(code=(call.stdin,), same_shell=True)
    if file.startswith("\x05"):
        return Unwrapped(commands=(("bash", file),))
    return Unwrapped(files=(file,), arguments=call.argv[2:], same_shell=True)


def _trap(call: Call) -> Unwrapped | None:
    words = [word for word in call.argv[1:] if word not in ("--", "-l", "-p")]
    return Unwrapped(code=(words[0],), at_exit=True) if len(words) > 1 and words[0] not in ("", "-") else None


_TAKES_NAME = re.compile(r"[-+][a-zA-Z]*[oO]\Z")
"""Options after which the name of one more stands: -o pipefail, -euo pipefail."""


def _dash_c(call: Call) -> Unwrapped | None:
    """Shells, and what runs one with -c."""
    args = list(call.argv[1:])
    while args:
        word = args.pop(0)
        if word in ("--rcfile", "--init-file", "-C", "--init-command") and call.name != "fish":
            args = args[1:]
        elif word in ("-C", "--init-command"):
            return Unwrapped(code=(args[0],)) if args else None
        elif _TAKES_NAME.match(word) and "c" not in word:
            args = args[1:]
        elif word == "--command" or (word[:1] == "-" and word[:2] != "--" and "c" in word[1:]):
            while args and args[0][:1] in ("-", "+") and len(args[0]) > 1:
                option = args.pop(0)
                args = args[1:] if _TAKES_NAME.match(option) else args
            if not args:
                return Unwrapped(opaque=(f"{call.name} -c is given no code",))
            return Unwrapped(code=(args[0],), arguments=tuple(args[1:]) or (call.name,))
        elif word.startswith("--command="):
            return Unwrapped(code=(word.partition("=")[2],))
        elif word[:1] not in ("-", "+"):
            return None
    return None


def _capsh(call: Call) -> Unwrapped | None:
    """What stands after -- goes to bash, options and all."""
    args = call.argv[1:]
    return commands(("bash", *args[args.index("--") + 1 :])) if "--" in args else None


def _su(call: Call) -> Unwrapped | None:
    found = split(call.argv[1:], names("-c --command -s --shell -g --group -u --user -G --session-command"))
    code = found.value("-c", "--command", "--session-command")
    if code is not None:
        return Unwrapped(code=(code,))
    args = call.argv[1:]
    if call.name == "runuser" and found.has("-u", "--user"):
        at = command_at(args, names("-u --user -g -G"))
        return commands(args[at:])
    if "--" in args and (after := split(args[args.index("--") + 1 :], names("-c --command"))).has("-c", "--command"):
        return Unwrapped(code=after.all("-c", "--command"))
    if "--" in args or len([word for word in found.operands if word != "-"]) > 1:
        return Unwrapped(opaque=("su hands its words to a shell",))
    return Unwrapped(commands=(("sh",),)) if call.fed else None


def _sg(call: Call) -> Unwrapped | None:
    """A group, and a command line for the shell."""
    code = split(call.argv[1:], names("-c --command")).value("-c", "--command")
    return Unwrapped(code=(code,)) if code is not None else None


def _setarch(call: Call) -> Unwrapped | None:
    """Another personality for a command; setarch may be given one by name, before or after its options."""
    args = call.argv[1:]
    rest = args[command_at(args, frozenset()) :]
    named = rest[1:]
    after = named[command_at(named, frozenset()) :] if call.name == "setarch" else ()
    return Unwrapped(commands=tuple(words for words in (rest, after) if words)) if rest else None


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = {
    **dict.fromkeys(SHELLS, _dash_c),
    **dict.fromkeys(("builtin", "exec", "coproc", "noglob", "nocorrect", "!", "-", "{", "busybox", "toybox"), _words),
    **dict.fromkeys(("setarch", "linux64", "linux32", "i386", "x86_64", "uname26"), _setarch),
    "sg": _sg,
    "sudo": _sudo,
    "doas": _doas,
    "env": _env,
    "genv": _env,
    "cross-env": _env,
    "command": _command,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _trap,
    "su": _su,
    "capsh": _capsh,
    "runuser": _su,
}
