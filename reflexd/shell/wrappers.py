"""Programs that run other programs: what they would run, taken out of their words.

A program that is not known at all has its tail searched for one that is: a wrapper nobody listed
must not hide `rm -rf /`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from reflexd.shell import builders, carriers, databases, foreign, hooked, hosts
from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped, commands
from reflexd.shell.fields import known
from reflexd.shell.known import RISKY, SHELLS
from reflexd.shell.options import command_at, names, split
from reflexd.shell.programs import known as known_programs

_CODE_OPTIONS = frozenset({"-c", "--command", "--cmd", "--exec", "-x", "--run", "--shell-command"})


def unwrap(call: Call) -> Unwrapped | None:
    """What `call` runs in turn, None where it runs nothing else."""
    name, args = call.name, call.argv[1:]
    if name in PREFIXES:
        valued, skip = PREFIXES[name]
        return commands(args[command_at(args, valued) + skip :])
    if databases.speaking(call) is not None:
        return databases.unwrap(call)
    special = SPECIAL.get(name)
    if special is not None:
        return special(call)
    if args and (found := RUNNERS.get(f"{name} {args[0]}")) is not None:
        at = command_at(args[1:], found) + 1
        return commands(args[at:])
    if foreign.language(name):
        return _foreign(call)
    if not args or name in known_programs():
        return None
    return _tail(args)


def _tail(args: tuple[str, ...]) -> Unwrapped | None:
    for i, word in enumerate(args):
        if word.rpartition("/")[2] in RISKY and i + 1 < len(args):
            return commands(args[i:])
        if word in _CODE_OPTIONS and i + 1 < len(args):
            return Unwrapped(code=(args[i + 1],))
    return None


PREFIXES: dict[str, tuple[frozenset[str], int]] = {
    name: (names(valued), skip)
    for name, valued, skip in [
        ("doas", "-u -C", 0),
        ("nice", "-n --adjustment", 0),
        ("ionice", "-c -n -p -P -u --class --classdata", 0),
        ("chrt", "-T -P -D", 1),
        ("taskset", "", 1),
        ("cpulimit", "-l -p -e --limit", 0),
        ("numactl", "-N -m -C --cpunodebind --membind --physcpubind", 0),
        ("nohup", "", 0),
        ("setsid", "", 0),
        ("stdbuf", "-i -o -e --input --output --error", 0),
        ("timeout", "-s -k --signal --kill-after", 1),
        ("gtimeout", "-s -k --signal --kill-after", 1),
        ("time", "-f -o --format --output", 0),
        ("builtin", "", 0),
        ("exec", "-a", 0),
        ("coproc", "", 0),
        ("noglob", "", 0),
        ("nocorrect", "", 0),
        ("!", "", 0),
        ("-", "", 0),
        ("{", "", 0),
        ("chroot", "--userspec --groups", 1),
        ("unshare", "-S -G -R -w --setuid --setgid --root --wd", 0),
        ("nsenter", "-t -S -G --target --setuid --setgid", 0),
        ("setpriv", "--reuid --regid --groups", 0),
        ("prlimit", "-p --pid", 0),
        ("pkexec", "--user", 0),
        ("firejail", "", 0),
        ("caffeinate", "-t -w", 0),
        ("unbuffer", "", 0),
        ("rlwrap", "-a -b -C -f -H -p -s", 0),
        ("proxychains", "-f", 0),
        ("proxychains4", "-f", 0),
        ("strace", "-e -o -p -s -u -E -P -a -b -I -O -S -X", 0),
        ("ltrace", "-e -o -p -s -u -n -l -a -x", 0),
        ("valgrind", "", 0),
        ("fakeroot", "-l -s -i -b", 0),
        ("faketime", "-f", 1),
        ("xvfb-run", "-n -e -f -p -s -w", 0),
        ("dbus-run-session", "--config-file", 0),
        (
            "systemd-run",
            "-u -p -t -M -H -E --unit --property --slice --uid --gid --setenv --on-active --on-calendar",
            0,
        ),
        ("systemd-inhibit", "--what --who --why --mode", 0),
        ("dotenv", "-f -e -c", 0),
        ("dotenvx", "", 1),
        ("busybox", "", 0),
        ("toybox", "", 0),
        ("bunx", "-p --package", 0),
        ("uvx", "--from --with -p --python --index-url", 0),
        ("rtk", "", 0),
        ("with-env", "", 0),
        ("cross-env-shell", "", 0),
        ("dumb-init", "", 0),
        ("tini", "", 0),
        ("gosu", "", 1),
        ("su-exec", "", 1),
        ("chpst", "-u -e -n", 0),
        ("ts", "", 99),
    ]
}
"""name -> its options that take a value, and how many operands come before the command."""

RUNNERS: dict[str, frozenset[str]] = {
    name: names(valued)
    for name, valued in [
        ("npm exec", "-p --package -w"),
        ("npm x", "-p --package -w"),
        ("pnpm exec", "-C --dir --filter"),
        ("pnpm dlx", "--package"),
        ("yarn dlx", "-p --package"),
        ("yarn exec", ""),
        ("bun x", ""),
        (
            "uv run",
            "--with --python -p --extra --group --env-file --directory --project --package --index-url --only-group",
        ),
        ("uv tool run", "--from --with"),
        ("pipx run", "--spec --python"),
        ("poetry run", ""),
        ("pipenv run", ""),
        ("pdm run", ""),
        ("hatch run", ""),
        ("rye run", ""),
        ("pixi run", "-e --environment"),
        ("conda run", "-n -p --name --prefix --cwd"),
        ("mamba run", "-n -p --name --prefix"),
        ("bundle exec", ""),
        ("rbenv exec", ""),
        ("pyenv exec", ""),
        ("asdf exec", ""),
        ("mise exec", ""),
        ("mise x", ""),
        ("volta run", "--node --npm --yarn"),
        ("fnm exec", "--using"),
        ("doppler run", "-p -c --project --config --command"),
        ("op run", "--env-file"),
        ("infisical run", "--env --path"),
        ("heroku run", "-a --app"),
        ("perf stat", "-e -o -r -C -p"),
        ("perf record", "-e -o -F -g -C -p"),
        ("perf trace", "-e -o -p"),
        ("gio trash", ""),
    ]
    if name != "gio trash"
}
"""`name subcommand` -> the options of that subcommand that take a value, before the command it runs."""


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


def _env(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    valued = names("-u -C --unset --chdir")
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
        i += 1
    return None


def _command(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    if args[:1] in (("-v",), ("-V",)):
        return None
    return commands(args[command_at(args, frozenset()) :])


def _eval(call: Call) -> Unwrapped | None:
    words = call.argv[2:] if call.argv[1:2] == ("--",) else call.argv[1:]
    return Unwrapped(code=(" ".join(words),), same_shell=True) if words else None


def _source(call: Call) -> Unwrapped | None:
    if len(call.argv) < 2:
        return None
    file = call.argv[1]
    if file in ("/dev/stdin", "/proc/self/fd/0", "/dev/fd/0", "-") and call.stdin is not None:
        return Unwrapped(code=(call.stdin,), same_shell=True)
    if file.startswith("\x05"):
        return Unwrapped(commands=(("bash", file),))
    return Unwrapped(files=(file,), arguments=call.argv[2:], same_shell=True)


def _trap(call: Call) -> Unwrapped | None:
    words = [word for word in call.argv[1:] if word not in ("--", "-l", "-p")]
    return Unwrapped(code=(words[0],), at_exit=True) if len(words) > 1 and words[0] not in ("", "-") else None


def _dash_c(call: Call) -> Unwrapped | None:
    """Shells, and what runs one with -c."""
    args = list(call.argv[1:])
    while args:
        word = args.pop(0)
        if word in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
            args = args[1:]
        elif word == "--command" or (word[:1] == "-" and word[:2] != "--" and "c" in word[1:]):
            while args and args[0][:1] in ("-", "+") and len(args[0]) > 1:
                option = args.pop(0)
                args = args[1:] if option in ("-o", "+o", "-O", "+O") else args
            if not args:
                return Unwrapped(opaque=(f"{call.name} -c is given no code",))
            return Unwrapped(code=(args[0],), arguments=tuple(args[1:]) or (call.name,))
        elif word.startswith("--command="):
            return Unwrapped(code=(word.partition("=")[2],))
        elif word[:1] not in ("-", "+"):
            return None
    return None


def _su(call: Call) -> Unwrapped | None:
    found = split(call.argv[1:], names("-c --command -s --shell -g --group -u --user -G --session-command"))
    code = found.value("-c", "--command", "--session-command")
    if code is not None:
        return Unwrapped(code=(code,))
    args = call.argv[1:]
    if call.name == "runuser" and found.has("-u", "--user"):
        at = command_at(args, names("-u --user -g -G"))
        return commands(args[at:])
    if "--" in args or len([word for word in found.operands if word != "-"]) > 1:
        return Unwrapped(opaque=("su hands its words to a shell",))
    return Unwrapped(commands=(("sh",),)) if call.fed else None


_PROMPTING = frozenset({"-i", "-q", "-u", "-B", "-E", "-s", "-S", "-I", "-a", "--interactive"})
"""Options with which an interpreter still waits for what is typed."""


def _foreign(call: Call) -> Unwrapped | None:
    language = foreign.language(call.name)
    args = call.argv[1:]
    code = foreign.inline(args, language)
    if code is None and call.fed in ("pipe", "download", "decoded", "text") and foreign.reads_stdin(args):
        if call.stdin is None or not known(call.stdin):
            if call.fed == "text":
                return None
            return Unwrapped(opaque=(f"{call.name} runs what comes out of a {call.fed}, which nobody has seen",))
        code = call.stdin
    if code is None:
        if "-m" in args:
            words = args[args.index("-m") + 1 :]
            known_module = language == "python" and words and words[0] in known_programs()
            return commands(words) if known_module else None
        if call.name in ("deno", "bun") and args[:1] and args[0].isalpha():
            args = args[1:] if args[0] == "run" else ()
            if not any("." in word or "/" in word for word in args):
                return None  # a subcommand, or a script of the package's
        at = next((i for i, word in enumerate(args) if not word.startswith("-")), len(args))
        file = args[at] if at < len(args) else None
        if file is None and not call.fed and _PROMPTING.issuperset(args):
            return Unwrapped(opaque=(f"a bare {call.name} runs whatever is typed into it",))
        return Unwrapped(files=(file,), arguments=args[at + 1 :]) if file else None
    read = foreign.read(code, language)
    return Unwrapped(commands=read.commands, code=read.code, opaque=read.opaque)


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = {
    **carriers.SPECIAL,
    **hosts.SPECIAL,
    **hooked.SPECIAL,
    **builders.UNWRAPS,
    **dict.fromkeys(SHELLS, _dash_c),
    "sudo": _sudo,
    "env": _env,
    "genv": _env,
    "cross-env": _env,
    "command": _command,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _trap,
    "su": _su,
    "runuser": _su,
}
