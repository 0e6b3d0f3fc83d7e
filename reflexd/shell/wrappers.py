"""Programs that run other programs: what they would run, taken out of their words.

A program that is not known at all has its tail searched for one that is: a wrapper nobody listed
must not hide `rm -rf /`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from msgspec import Struct

from reflexd.shell import foreign
from reflexd.shell.calls import Call
from reflexd.shell.fields import STAR, UNKNOWN, known
from reflexd.shell.known import KNOWN, RISKY
from reflexd.shell.options import command_at, split


class Unwrapped(Struct, frozen=True):
    """`commands` are run as given, `code` is read as shell. `arguments` are the code's $0, $1, ..."""

    commands: tuple[tuple[str, ...], ...] = ()
    code: tuple[str, ...] = ()
    assigned: tuple[tuple[str, str], ...] = ()
    opaque: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    same_shell: bool = False
    cwd: str = ""
    arguments: tuple[str, ...] = ()


def unwrap(call: Call) -> Unwrapped | None:
    """What `call` runs in turn, None where it runs nothing else."""
    name, args = call.name, call.argv[1:]
    if name in PREFIXES:
        valued, skip = PREFIXES[name]
        return _commands(args[command_at(args, valued, skip) :])
    special = SPECIAL.get(name)
    if special is not None:
        return special(call)
    if foreign.language(name):
        return _foreign(call)
    if name in KNOWN or not args:
        return None
    for i, word in enumerate(args):
        if word.rpartition("/")[2] in RISKY and i + 1 < len(args):
            return _commands(args[i:])
    return None


def _v(text: str) -> frozenset[str]:
    return frozenset(text.split())


PREFIXES: dict[str, tuple[frozenset[str], int]] = {
    "doas": (_v("-u -C"), 0),
    "nice": (_v("-n --adjustment"), 0),
    "ionice": (_v("-c -n -p -P -u --class --classdata"), 0),
    "chrt": (_v("-T -P -D"), 1),
    "taskset": (_v(""), 1),
    "nohup": (_v(""), 0),
    "setsid": (_v(""), 0),
    "stdbuf": (_v("-i -o -e --input --output --error"), 0),
    "timeout": (_v("-s -k --signal --kill-after"), 1),
    "gtimeout": (_v("-s -k --signal --kill-after"), 1),
    "time": (_v("-f -o --format --output"), 0),
    "builtin": (_v(""), 0),
    "exec": (_v("-a"), 0),
    "coproc": (_v(""), 0),
    "noglob": (_v(""), 0),
    "nocorrect": (_v(""), 0),
    "!": (_v(""), 0),
    "-": (_v(""), 0),
    "chroot": (_v("--userspec --groups"), 1),
    "unshare": (_v("-S -G -R -w --setuid --setgid --root --wd"), 0),
    "nsenter": (_v("-t -S -G --target --setuid --setgid"), 0),
    "setpriv": (_v("--reuid --regid --groups"), 0),
    "prlimit": (_v("-p --pid"), 0),
    "pkexec": (_v("--user"), 0),
    "caffeinate": (_v("-t -w"), 0),
    "unbuffer": (_v(""), 0),
    "rlwrap": (_v("-a -b -C -f -H -p -s"), 0),
    "proxychains": (_v("-f"), 0),
    "proxychains4": (_v("-f"), 0),
    "strace": (_v("-e -o -p -s -u -E -P -a -b -I -O -S -X"), 0),
    "ltrace": (_v("-e -o -p -s -u -n -l -a -x"), 0),
    "fakeroot": (_v("-l -s -i -b"), 0),
    "xvfb-run": (_v("-n -e -f -p -s -w"), 0),
    "dbus-run-session": (_v("--config-file"), 0),
    "systemd-run": (_v("-u -p -t -M -H -E --unit --property --slice --uid --gid --setenv"), 0),
    "systemd-inhibit": (_v("--what --who --why --mode"), 0),
    "direnv": (_v(""), 2),
    "dotenv": (_v("-f -e"), 0),
    "busybox": (_v(""), 0),
    "toybox": (_v(""), 0),
    "gdb": (_v("-ex -x"), 0),
    "hyperfine": (_v("-w -r -m -M --warmup --runs"), 0),
}


def _commands(argv: tuple[str, ...], **more: object) -> Unwrapped | None:
    return Unwrapped(commands=(argv,)) if argv else None


def _sudo(call: Call) -> Unwrapped | None:
    valued = _v("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --close-from")
    args = call.argv[1:]
    at = command_at(args, valued)
    assigned = []
    while at < len(args) and "=" in args[at] and args[at].partition("=")[0].isidentifier():
        name, _, value = args[at].partition("=")
        assigned.append((name, value))
        at += 1
    if at < len(args):
        return Unwrapped(commands=(args[at:],), assigned=tuple(assigned))
    if {"-i", "-s", "--login", "--shell"} & split(args, valued).flags:
        return Unwrapped(commands=(("sh",),))
    return None


def _env(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    valued = _v("-u -C --unset --chdir")
    assigned: list[tuple[str, str]] = []
    i = 0
    while i < len(args):
        word = args[i]
        if word.startswith(("-S", "--split-string")):
            text = word.partition("=")[2] if word.startswith("--") else word[2:]
            rest = args[i + 1 :]
            if not text and rest:
                text, rest = rest[0], rest[1:]
            try:
                words = tuple(shlex.split(text))
            except ValueError:
                return Unwrapped(opaque=("env -S was given words that cannot be split",))
            return _env(Call((call.argv[0], *words, *rest), call.cwd))
        if "=" in word and not word.startswith("-"):
            name, _, value = word.partition("=")
            assigned.append((name, value))
        elif not word.startswith("-"):
            return Unwrapped(commands=(args[i:],), assigned=tuple(assigned))
        elif word in valued:
            i += 1
        i += 1
    return None


def _command(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    if args[:1] in (("-v",), ("-V",)):
        return None
    return _commands(args[command_at(args, frozenset()) :])


def _eval(call: Call) -> Unwrapped | None:
    return Unwrapped(code=(" ".join(call.argv[1:]),), same_shell=True) if len(call.argv) > 1 else None


def _source(call: Call) -> Unwrapped | None:
    if len(call.argv) < 2:
        return None
    file = call.argv[1]
    if file.startswith("\x05"):
        return Unwrapped(commands=(("bash", file),))
    if file in ("/dev/stdin", "/proc/self/fd/0") and call.stdin is not None:
        return Unwrapped(code=(call.stdin,), same_shell=True)
    return Unwrapped(unseen=(file,))


def _trap(call: Call) -> Unwrapped | None:
    code = next((word for word in call.argv[1:] if not word.startswith("-")), "")
    return Unwrapped(code=(code,), same_shell=True) if len(call.argv) > 2 and code else None


def _dash_c(call: Call) -> Unwrapped | None:
    """Shells, and what runs one with -c."""
    args = call.argv[1:]
    for i, word in enumerate(args):
        if word in ("--command",) or (word.startswith("-") and not word.startswith("--") and "c" in word[1:]):
            rest = args[i + 1 :]
            while rest and rest[0].startswith("-") and len(rest[0]) > 1:
                rest = rest[1:]
            if not rest:
                return Unwrapped(opaque=(f"{call.name} -c is given no code",))
            return Unwrapped(code=(rest[0],), arguments=rest[1:] or (call.name,))
        if word.startswith("--command="):
            return Unwrapped(code=(word.partition("=")[2],))
        if not word.startswith(("-", "+")):
            return None
    return None


def _su(call: Call) -> Unwrapped | None:
    found = split(call.argv[1:], _v("-c --command -s --shell -g --group -u --user -G"))
    code = found.value("-c", "--command", "--session-command")
    if code is not None:
        return Unwrapped(code=(code,))
    args = call.argv[1:]
    if call.name == "runuser" and "--" in args:
        return _commands(args[args.index("--") + 1 :])
    return Unwrapped(commands=(("sh",),)) if call.fed else None


def _script(call: Call) -> Unwrapped | None:
    found = split(call.argv[1:], _v("-c --command -t -T -m -o -E -I -O -B"))
    code = found.value("-c", "--command")
    if code is not None:
        return Unwrapped(code=(code,))
    return _commands(found.operands[1:]) if len(found.operands) > 1 else Unwrapped(commands=(("sh",),))


def _watch(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    words = args[command_at(args, _v("-n --interval -q --equexit")) :]
    return Unwrapped(code=(" ".join(words),)) if words else None


def _flock(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    at = command_at(args, _v("-w -E --timeout --conflict-exit-code"), 1)
    rest = args[at:]
    if rest[:1] in (("-c",), ("--command",)):
        return Unwrapped(code=rest[1:2])
    return _commands(rest)


def _xargs(call: Call) -> Unwrapped | None:
    valued = _v("-I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --arg-file --replace --max-lines -J")
    args = call.argv[1:]
    at = command_at(args, valued)
    argv = args[at:] or ("echo",)
    options = split(args[:at], valued)
    mark = options.value("-I", "--replace", "-J") or ("{}" if options.has("-i") else None)
    given = _items(call.stdin, options.value("-d", "--delimiter"), options.has("-0", "--null"))
    if mark:
        return Unwrapped(commands=tuple(tuple(w.replace(mark, item) for w in argv) for item in given[:16]))
    return Unwrapped(commands=((*argv, *given),))


def _items(stdin: str | None, delimiter: str | None, null: bool) -> tuple[str, ...]:
    if stdin is None or null or not known(stdin):
        return (UNKNOWN,)
    if delimiter:
        return tuple(item for item in stdin.rstrip("\n").split(delimiter[0] if delimiter != "\\n" else "\n") if item)
    try:
        return tuple(shlex.split(stdin))
    except ValueError:
        return (UNKNOWN,)


def _parallel(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    rest = args[command_at(args, _v("-j -P --jobs -a --arg-file -I --joblog --timeout --retries")) :]
    mark = next((i for i, word in enumerate(rest) if word in (":::", "::::", ":::+")), len(rest))
    words, given = rest[:mark], rest[mark + 1 :]
    if not words:
        return Unwrapped(code=given or (UNKNOWN,))
    items = given if given and rest[mark] == ":::" else _items(call.stdin, "\n", False)
    line = " ".join(words)
    codes = [line.replace("{}", item) if "{}" in line else f"{line} {item}" for item in items[:16]]
    return Unwrapped(code=tuple(codes) or (line,))


def _find(call: Call) -> Unwrapped | None:
    """-exec and its kin; the files it would name are patterns below where it starts."""
    args = call.argv[1:]
    starts = []
    for word in args:
        if word.startswith(("-", "(", "!")) and word not in ("-H", "-L", "-P"):
            break
        if not word.startswith("-"):
            starts.append(word)
    filtered = bool(set(args) & FIND_TESTS)
    found: list[tuple[str, ...]] = []
    for i, word in enumerate(args):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((j for j in range(i + 1, len(args)) if args[j] in (";", "+")), len(args))
            for start in starts or ["."]:
                below = start.rstrip("/") + "/" + (UNKNOWN if filtered else STAR)
                found.append(tuple(w.replace("{}", below) for w in args[i + 1 : end]))
    return Unwrapped(commands=tuple(f for f in found if f)) if found else None


FIND_TESTS = _v(
    "-name -iname -path -ipath -regex -iregex -mtime -mmin -atime -amin -ctime -cmin -size -newer -empty -user"
    " -group -perm -wholename -iwholename -lname -inum -links -samefile -uid -gid -newermt -anewer -cnewer"
)


def _fd(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    for i, word in enumerate(args):
        if word in ("-x", "--exec", "-X", "--exec-batch"):
            argv = tuple(w.replace("{}", "./" + UNKNOWN) for w in args[i + 1 :])
            return _commands(argv if any(UNKNOWN in w for w in argv) else (*argv, "./" + UNKNOWN))
    return None


def _ssh(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    at = command_at(args, _v("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"), 1)
    rest = args[at:]
    if rest:
        return Unwrapped(code=(" ".join(rest),), cwd=UNKNOWN)
    return Unwrapped(commands=(("sh",),), cwd=UNKNOWN) if call.fed else None


def _container(call: Call) -> Unwrapped | None:
    """docker|podman|kubectl exec and run: the words after the container's (or image's) name."""
    args = call.argv[1:]
    verbs = [i for i, word in enumerate(args) if word in ("exec", "run")]
    if not verbs:
        return None
    rest = args[verbs[0] + 1 :]
    if call.name in ("kubectl", "oc"):
        return _commands(rest[rest.index("--") + 1 :]) if "--" in rest else None
    valued = _v(
        "-e -u -w -v -p --env --user --workdir --volume --publish --name --network --entrypoint --mount -m -l -h"
        " --env-file --platform --memory --cpus --label --hostname --add-host --gpus --ipc --pid --restart --cap-add"
    )
    at = command_at(rest, valued, 1)
    return Unwrapped(commands=(rest[at:],), cwd=UNKNOWN) if rest[at:] else None


def _foreign(call: Call) -> Unwrapped | None:
    language = foreign.language(call.name)
    code = foreign.inline(call.argv[1:], language)
    if code is None and call.fed in ("pipe", "download") and foreign.reads_stdin(call.argv[1:]):
        if call.stdin is None or not known(call.stdin):
            return Unwrapped(opaque=(f"{call.name} runs what comes out of a {call.fed}, which nobody has seen",))
        code = call.stdin
    if code is None and call.fed == "text" and foreign.reads_stdin(call.argv[1:]):
        code = call.stdin or ""
    if code is None:
        script = next((word for word in call.argv[1:] if not word.startswith("-")), None)
        return Unwrapped(unseen=(script,)) if script else None
    read = foreign.read(code)
    return Unwrapped(commands=read.commands, code=read.code)


def _cmd(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    at = next((i for i, word in enumerate(args) if word.lower() in ("/c", "/k")), None)
    return None if at is None else _commands(args[at + 1 :])


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = {
    "sudo": _sudo,
    "env": _env,
    "command": _command,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _trap,
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh", "ash", "rbash", "fish"), _dash_c),
    "su": _su,
    "runuser": _su,
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
    "ssh": _ssh,
    "docker": _container,
    "podman": _container,
    "nerdctl": _container,
    "kubectl": _container,
    "oc": _container,
    "cmd": _cmd,
    "cmd.exe": _cmd,
}
