"""Programs that carry a command among words of another meaning: find -exec, xargs, ssh, containers, git's options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from itertools import pairwise

from msgspec import Struct

from reflexd.shell.calls import Call
from reflexd.shell.fields import BRACKET, ONE, STAR, UNKNOWN
from reflexd.shell.options import command_at, names, split

ITEMS_MAX = 16


class Unwrapped(Struct, frozen=True):
    """`commands` are run as given, `code` is read as shell, `files` hold code. `arguments` are the code's $0, $1, ...

    `at_exit`: when everything else has run. `inside`: in a file system of its own. `host`: on that machine.
    `name`: under this name instead of the program's. `cwd` may be ~. `kind`: what the files hold, where that
    is not what the program's name says.
    """

    commands: tuple[tuple[str, ...], ...] = ()
    code: tuple[str, ...] = ()
    assigned: tuple[tuple[str, str], ...] = ()
    opaque: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    same_shell: bool = False
    at_exit: bool = False
    inside: bool = False
    host: str = ""
    cwd: str = ""
    arguments: tuple[str, ...] = ()
    kind: str = ""
    name: str = ""


FIND_TESTS = names(
    "-name -iname -path -ipath -regex -iregex -mtime -mmin -atime -amin -ctime -cmin -size -newer -empty -user"
    " -group -perm -wholename -iwholename -lname -inum -links -samefile -uid -gid -newermt -anewer -cnewer"
)


def commands(argv: tuple[str, ...]) -> Unwrapped | None:
    return Unwrapped(commands=(argv,)) if argv else None


def _script(call: Call) -> Unwrapped | None:
    valued = names("-c --command -t -T -m -o -E -I -O -B")
    args = call.argv[1:]
    code = split(args, valued).value("-c", "--command")
    if code is not None:
        return Unwrapped(code=(code,))
    rest = args[command_at(args, valued) + 1 :]  # BSD's takes the command after the file
    return commands(rest[1:] if rest[:1] == ("--",) else rest) or Unwrapped(commands=(("sh",),))


def _watch(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    words = args[command_at(args, names("-n --interval -q --equexit")) :]
    return Unwrapped(code=(" ".join(words),)) if words else None


def _flock(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    rest = args[command_at(args, names("-w -E --timeout --conflict-exit-code")) + 1 :]
    if rest[:1] in (("-c",), ("--command",)):
        return Unwrapped(code=rest[1:2])
    return commands(rest[command_at(rest, frozenset()) :])


def _mapfile(call: Call) -> Unwrapped | None:
    """The callback is evaluated with the line's number and the line behind it."""
    code = split(call.argv[1:], names("-C -c -d -n -O -s -t -u")).value("-C")
    return None if code is None else Unwrapped(code=(code,), same_shell=True)


def _xargs(call: Call) -> Unwrapped | None:
    valued = names("-I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --arg-file --replace --max-lines -J -R")
    args = call.argv[1:]
    at = command_at(args, valued)
    argv = args[at:] or ("echo",)
    options = split(args[:at], valued)
    mark = options.value("-I", "--replace", "-J") or ("{}" if options.has("-i", "--replace") else None)
    delimiter = "\ufffd" if options.has("-0", "--null") else options.value("-d", "--delimiter")
    if mark and delimiter is None:
        delimiter = "\n"
    given = _items(call.stdin, delimiter)
    if mark:
        return Unwrapped(commands=tuple(tuple(w.replace(mark, item) for w in argv) for item in given[:ITEMS_MAX]))
    count = options.value("-n", "--max-args")
    if options.has("-L", "--max-lines") and call.stdin is not None:
        lines = [_items(line, delimiter) for line in call.stdin.splitlines()[:ITEMS_MAX]]
        return Unwrapped(commands=tuple((*argv, *items) for items in lines if items) or (argv,))
    if count is not None and count.isdigit() and int(count):
        chunks = range(0, min(len(given), ITEMS_MAX * int(count)), int(count))
        return Unwrapped(commands=tuple((*argv, *given[at : at + int(count)]) for at in chunks) or (argv,))
    return Unwrapped(commands=((*argv, *given),))


def _items(stdin: str | None, delimiter: str | None) -> tuple[str, ...]:
    if stdin is None:
        return (UNKNOWN,)
    if delimiter:
        separator = {"\\n": "\n", "\\0": "\ufffd", "\\t": "\t"}.get(delimiter, delimiter[0])
        items = [item for item in stdin.strip("\n").split(separator) if item]
        return tuple(item.strip() if separator == "\n" else item for item in items)
    try:
        return tuple(shlex.split(stdin))
    except ValueError:
        return (UNKNOWN,)


def _parallel(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    rest = args[command_at(args, names("-j -P --jobs -a --arg-file -I --joblog --timeout --retries")) :]
    mark = next((i for i, word in enumerate(rest) if word in (":::", "::::", ":::+")), len(rest))
    words, given = rest[:mark], rest[mark + 1 :]
    if not words:
        return Unwrapped(code=given or _items(call.stdin, "\n"))
    items = given if given and rest[mark] == ":::" else _items(call.stdin, "\n")
    line = " ".join(words)
    codes = [line.replace("{}", item) if "{}" in line else f"{line} {item}" for item in items[:ITEMS_MAX]]
    return Unwrapped(code=tuple(codes) or (line,))


def find_starts(args: tuple[str, ...]) -> list[str]:
    """Where a find begins to look."""
    starts = []
    for word in args:
        if word in ("-H", "-L", "-P", "-E", "-X", "-x", "-s", "-f", "--") or re.match(r"-[DO]", word):
            continue
        if word.startswith(("-", "(", ")", "!", ",")):
            break
        starts.append(word)
    return starts or ["."]


def find_names(args: tuple[str, ...]) -> list[str]:
    """What a find prints, as patterns: what it starts from with everything below, or something below."""
    filtered = not FIND_TESTS.isdisjoint(args)
    named = find_pattern(args)
    names_found = []
    for start in find_starts(args):
        root = start.rstrip("/")
        if named:
            names_found.append(f"{root}/{UNKNOWN}/{named}")
        elif filtered:
            names_found.append(f"{root}/{UNKNOWN}")
        else:
            plain = any(a == "-type" and b in ("f", "l", "p", "s") for a, b in pairwise(args))
            names_found.extend([f"{root}/{STAR}"] if plain else [start, f"{root}/{STAR}"])
    return names_found


def find_pattern(args: tuple[str, ...]) -> str:
    """The one pattern that every name has to fit; empty where there is none, or a choice of several."""
    patterns = [b for a, b in pairwise(args) if a in ("-name", "-iname")]
    if len(patterns) != 1 or {"-o", "-or", "-not", "!", ","} & set(args) or "/" in patterns[0]:
        return ""
    return patterns[0].translate(_MARKS)


_MARKS = str.maketrans({"*": STAR, "?": ONE, "[": BRACKET})


def _find(call: Call) -> Unwrapped | None:
    """-exec and its kin; the files it would name are patterns below where it starts."""
    args = call.argv[1:]
    found: list[tuple[str, ...]] = []
    every: list[str] | None = None
    end = within = 0
    for i, word in enumerate(args):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            if end <= i:
                end, within = next((j for j in range(i + 1, len(args)) if args[j] in (";", "+")), len(args)), 0
            within += 1
            if within > ITEMS_MAX:
                continue  # a word of the command before it: find itself takes the first one only
            every = find_names(args) if every is None else every
            for name in every:
                found.append(tuple(w.replace("{}", name) for w in args[i + 1 : end]))
    return Unwrapped(commands=tuple(f for f in found if f)) if found else None


def _fd(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    for i, word in enumerate(args):
        option, equals, program = word.partition("=")
        if option in ("-x", "--exec", "-X", "--exec-batch"):
            operands = [w for w in args[:i] if not w.startswith("-")]
            below = (operands[1].rstrip("/") if len(operands) > 1 else ".") + "/" + UNKNOWN
            words = (*((program,) if equals else ()), *(w for w in args[i + 1 :] if w != ";"))
            argv = tuple(w.replace("{}", below) for w in words)
            return commands(argv if any(UNKNOWN in w for w in argv) else (*argv, below))
    return None


def _cmd(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    at = next((i for i, word in enumerate(args) if word.lower() in ("/c", "/k")), None)
    if at is None:
        return None
    rest = args[at + 1 :]
    return Unwrapped(code=(rest[0].replace("\\", "/"),)) if len(rest) == 1 and " " in rest[0] else commands(rest)


def _start_stop(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    after = args[args.index("--") + 1 :] if "--" in args else ()
    program = split(args, names("-x --exec -a --startas -p --pidfile -n --name -u -g -c -r -d -N -P -I -k")).value(
        "-a", "--startas", "-x", "--exec"
    )
    return commands((program, *after)) if program else None


def _submitted(call: Call) -> Unwrapped | None:
    """launchctl submit: the program may be named by -p, the rest stands after --."""
    args = call.argv[1:]
    if args[:1] != ("submit",) or "--" not in args:
        return None
    after = args[args.index("--") + 1 :]
    program = split(args[: args.index("--")], names("-l -p -o -e")).value("-p")
    return commands(after if program is None or after[:1] == (program,) else (program, *after))


def _npx(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    valued = names("-p --package -c --call -w --workspace --node-options")
    code = split(args, valued).value("-c", "--call")
    if code is not None:
        return Unwrapped(code=(code,))
    rest = args[command_at(args, valued) :]
    return Unwrapped(commands=((re.sub(r"(?<=.)@[^/]*\Z", "", rest[0]), *rest[1:]),)) if rest else None


def _nix(call: Call) -> Unwrapped | None:
    if call.name == "nix-shell":
        code = split(call.argv[1:], names("--run --command -p -I -E --arg")).all("--run", "--command")
        return Unwrapped(code=code) if code else None
    args = call.argv[1:]
    at = next((i for i, word in enumerate(args) if word in ("-c", "--command")), None)
    return None if at is None else commands(args[at + 1 :])


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = {
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "script": _script,
    "watch": _watch,
    "flock": _flock,
    "xargs": _xargs,
    "gxargs": _xargs,
    "parallel": _parallel,
    "find": _find,
    "gfind": _find,
    "fd": _fd,
    "fdfind": _fd,
    "start-stop-daemon": _start_stop,
    "launchctl": _submitted,
    "cmd": _cmd,
    "cmd.exe": _cmd,
    "npx": _npx,
    "nix-shell": _nix,
    "nix": _nix,
}
