"""Programs that carry a command among words of another meaning: find -exec, xargs, ssh, containers, git's options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from itertools import pairwise

from msgspec import Struct

from reflexd.shell.calls import Call
from reflexd.shell.fields import STAR, UNKNOWN
from reflexd.shell.options import command_at, names, split

ITEMS_MAX = 16


class Unwrapped(Struct, frozen=True):
    """`commands` are run as given, `code` is read as shell, `files` hold code. `arguments` are the code's $0, $1, ...

    `at_exit`: when everything else has run. `inside`: in a file system of its own.
    """

    commands: tuple[tuple[str, ...], ...] = ()
    code: tuple[str, ...] = ()
    assigned: tuple[tuple[str, str], ...] = ()
    opaque: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    same_shell: bool = False
    at_exit: bool = False
    inside: bool = False
    cwd: str = ""
    arguments: tuple[str, ...] = ()


FIND_TESTS = names(
    "-name -iname -path -ipath -regex -iregex -mtime -mmin -atime -amin -ctime -cmin -size -newer -empty -user"
    " -group -perm -wholename -iwholename -lname -inum -links -samefile -uid -gid -newermt -anewer -cnewer"
)


def _commands(argv: tuple[str, ...]) -> Unwrapped | None:
    return Unwrapped(commands=(argv,)) if argv else None


def _script(call: Call) -> Unwrapped | None:
    found = split(call.argv[1:], names("-c --command -t -T -m -o -E -I -O -B"))
    code = found.value("-c", "--command")
    if code is not None:
        return Unwrapped(code=(code,))
    return _commands(found.operands[1:]) if len(found.operands) > 1 else Unwrapped(commands=(("sh",),))


def _watch(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    words = args[command_at(args, names("-n --interval -q --equexit")) :]
    return Unwrapped(code=(" ".join(words),)) if words else None


def _flock(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    rest = args[command_at(args, names("-w -E --timeout --conflict-exit-code")) + 1 :]
    if rest[:1] in (("-c",), ("--command",)):
        return Unwrapped(code=rest[1:2])
    return _commands(rest[command_at(rest, frozenset()) :])


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
    if options.has("-n", "-L", "--max-args", "--max-lines"):
        return Unwrapped(commands=tuple((*argv, item) for item in given[:ITEMS_MAX]))
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
    names_found = []
    for start in find_starts(args):
        root = start.rstrip("/")
        if filtered:
            names_found.append(f"{root}/{UNKNOWN}")
        else:
            plain = any(a == "-type" and b in ("f", "l", "p", "s") for a, b in pairwise(args))
            names_found.extend([f"{root}/{STAR}"] if plain else [start, f"{root}/{STAR}"])
    return names_found


def _find(call: Call) -> Unwrapped | None:
    """-exec and its kin; the files it would name are patterns below where it starts."""
    args = call.argv[1:]
    found: list[tuple[str, ...]] = []
    for i, word in enumerate(args):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((j for j in range(i + 1, len(args)) if args[j] in (";", "+")), len(args))
            for name in find_names(args):
                found.append(tuple(w.replace("{}", name) for w in args[i + 1 : end]))
    return Unwrapped(commands=tuple(f for f in found if f)) if found else None


def _fd(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    for i, word in enumerate(args):
        if word in ("-x", "--exec", "-X", "--exec-batch"):
            operands = [w for w in args[:i] if not w.startswith("-")]
            below = (operands[1].rstrip("/") if len(operands) > 1 else ".") + "/" + UNKNOWN
            argv = tuple(w.replace("{}", below) for w in args[i + 1 :] if w != ";")
            return _commands(argv if any(UNKNOWN in w for w in argv) else (*argv, below))
    return None


_SSH_VALUED = names("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B")


def _ssh(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    options = split(args, _SSH_VALUED)
    local = [
        value.partition("=")[2]
        for value in options.all("-o")
        if value.partition("=")[0].strip().lower() in ("proxycommand", "localcommand", "knownhostscommand")
    ]
    rest = args[command_at(args, _SSH_VALUED) + 1 :]
    if rest or local:
        return Unwrapped(code=(*local, *((" ".join(rest),) if rest else ())), cwd=UNKNOWN)
    return Unwrapped(commands=(("sh",),), cwd=UNKNOWN) if call.fed else None


_CONTAINER_VALUED = names(
    "-e -u -w -v -p --env --user --workdir --volume --publish --name --network --net --entrypoint --mount -m -l -h"
    " --env-file --platform --memory --cpus --label --hostname --add-host --gpus --ipc --pid --restart --cap-add"
    " --security-opt --device --tmpfs --shm-size --ulimit --dns --expose --link --userns --cidfile --log-driver -c -n"
    " --namespace --container --context --index --kubeconfig"
)


_REACHES_OUT = (
    "-v",
    "--volume",
    "--mount",
    "--volumes-from",
    "--privileged",
    "--pid",
    "--device",
    "--cap-add",
    "--ipc",
)


def _container(call: Call) -> Unwrapped | None:
    """docker|podman|kubectl exec and run: the words after the container's (or image's) name."""
    args = call.argv[1:]
    verb = next((i for i, word in enumerate(args) if word in ("exec", "run")), None)
    if verb is None or any(word in ("build", "logs", "ps", "images") for word in args[:verb]):
        return None
    rest = args[verb + 1 :]
    if call.name in ("kubectl", "oc"):
        return _commands(rest[rest.index("--") + 1 :]) if "--" in rest else None
    at = command_at(rest, _CONTAINER_VALUED)
    mounts = _mounts(rest[:at])
    entry = split(rest[:at], _CONTAINER_VALUED).value("--entrypoint")
    words = (*((entry,) if entry else ()), *rest[at + 1 :])
    if not words:
        return None
    given = split(rest[:at], _CONTAINER_VALUED)
    inside = args[verb] == "run" and verb == 0 and not any(given.has(name) for name in _REACHES_OUT)
    return Unwrapped(commands=(tuple(_mounted(word, mounts) for word in words),), cwd=UNKNOWN, inside=inside)


def _mounts(options: tuple[str, ...]) -> list[tuple[str, str]]:
    """Directories of the machine and where a container sees them."""
    found = split(options, _CONTAINER_VALUED)
    mounts = [tuple(value.split(":")[:2]) for value in found.all("-v", "--volume") if ":" in value]
    for value in found.all("--mount"):
        parts = dict(part.partition("=")[::2] for part in value.split(","))
        source = parts.get("source") or parts.get("src")
        target = parts.get("target") or parts.get("destination") or parts.get("dst")
        if source and target:
            mounts.append((source, target))
    return [(pair[0], pair[1]) for pair in mounts if pair[0][:1] in "/.~"]


def _mounted(word: str, mounts: list[tuple[str, str]]) -> str:
    for source, target in mounts:
        if word == target or word.startswith(target.rstrip("/") + "/"):
            return (source.rstrip("/") + word[len(target.rstrip("/")) :]) or "/"
        if " " in word and target in word:
            return re.sub(rf"(?<![\w/.]){re.escape(target)}(?=[/\s;&|*]|\Z)", source.rstrip("/") or "/", word)
    return word


def _cmd(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    at = next((i for i, word in enumerate(args) if word.lower() in ("/c", "/k")), None)
    return None if at is None else _commands(args[at + 1 :])


_GIT_PROGRAMS = re.compile(
    r"(?:alias\..*|core\.(?:pager|editor|sshcommand|fsmonitor|askpass)|diff\.external|diff\..*\.(?:command|textconv)"
    r"|sequence\.editor|credential.*\.helper|pager\..*|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|gpg\.program"
    r"|uploadpack\.packobjectshook|difftool\..*\.cmd|mergetool\..*\.cmd|browser\..*\.cmd|sendemail\.\w*cmd)\Z",
    re.IGNORECASE,
)


def _git(call: Call) -> Unwrapped | None:
    """Configuration that names a program, and the subcommands that run one."""
    args = call.argv[1:]
    code: list[str] = []
    i = 0
    while i < len(args) and args[i].startswith("-"):
        if args[i] in ("-c", "--config-env") and i + 1 < len(args):
            code.extend(_configured(args[i + 1]))
            i += 1
        elif args[i] in ("-C", "--git-dir", "--work-tree", "--namespace", "--exec-path"):
            i += 1
        i += 1
    sub, rest = (args[i], args[i + 1 :]) if i < len(args) else ("", ())
    match sub:
        case "submodule" if rest[:1] == ("foreach",):
            words = [word for word in rest[1:] if word not in ("--recursive", "-q", "--quiet")]
            code.append(" ".join(words))
        case "bisect" if rest[:1] == ("run",):
            return Unwrapped(commands=(rest[1:],), code=tuple(code)) if rest[1:] else None
        case "rebase":
            code.extend(split(rest, names("-x --exec -s -X --onto --strategy")).all("-x", "--exec"))
        case "filter-branch":
            code.extend(value for flag, value in pairwise(rest) if flag.endswith("-filter"))
        case "config":
            operands = [word for word in rest if not word.startswith("-") and word != "set"]
            if len(operands) > 1:
                code.extend(_configured(f"{operands[0]}={operands[1]}"))
        case "difftool" | "mergetool":
            code.extend(split(rest, names("-x --extcmd")).all("-x", "--extcmd"))
    return Unwrapped(code=tuple(code)) if code else None


def _configured(setting: str) -> list[str]:
    key, _, value = setting.partition("=")
    if not _GIT_PROGRAMS.match(key.strip()) or not value.strip():
        return []
    if key.lower().startswith(("alias.", "credential")) and not value.startswith("!"):
        return ["git " + value] if key.lower().startswith("alias.") else []
    return [value.lstrip("!")]


def _tar(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    code = [word.partition("exec=")[2] for word in args if word.startswith("--checkpoint-action") and "exec=" in word]
    valued = names("-f -C -I --to-command --use-compress-program --info-script --new-volume-script --rsh-command -F")
    found = split(args, valued)
    code.extend(found.all("--to-command", "--info-script", "--new-volume-script", "-F", "-I", "--use-compress-program"))
    return Unwrapped(code=tuple(code)) if code else None


def _rsync(call: Call) -> Unwrapped | None:
    code = split(call.argv[1:], names("-e --rsh --exclude --include -f")).all("-e", "--rsh")
    return Unwrapped(code=code) if code else None


def _vim(call: Call) -> Unwrapped | None:
    texts = split(call.argv[1:], names("-c --cmd")).all("-c", "--cmd")
    texts = (*texts, *(word[1:] for word in call.argv[1:] if word.startswith("+")))
    code = [text.partition("!")[2] for text in texts if "!" in text.lstrip(":").partition(" ")[0]]
    code.extend(m for text in texts for m in re.findall(r"system\(\s*['\"](.*?)['\"]\s*\)", text))
    return Unwrapped(code=tuple(code)) if code else None


def _at(call: Call) -> Unwrapped | None:
    """at and batch run what they read, later."""
    if {"-l", "-r", "-d", "-c", "-q"} & set(call.argv) and call.stdin is None:
        return None
    return Unwrapped(code=(call.stdin,)) if call.stdin is not None else None


def _crontab(call: Call) -> Unwrapped | None:
    if call.stdin is None or "-" not in call.argv:
        return None
    lines = [re.sub(r"^\s*(?:@\w+|(?:\S+\s+){5})", "", line) for line in call.stdin.splitlines() if line[:1] != "#"]
    return Unwrapped(code=tuple(line for line in lines if line.strip())[:ITEMS_MAX])


def _make(call: Call) -> Unwrapped | None:
    """A makefile that comes on the standard input, and $(shell ...) among the words."""
    found = split(call.argv[1:], names("-f --file --makefile -C -j -o -W -I"))
    code = [m for word in call.argv[1:] for m in re.findall(r"\$\(shell ([^)]*)\)", word)]
    if call.stdin is not None and found.value("-f", "--file", "--makefile") in ("-", "/dev/stdin"):
        lines = [line for line in call.stdin.splitlines() if line[:1] == "\t"]
        lines.extend(line.partition(";")[2] for line in call.stdin.splitlines() if re.match(r"[^\t#=]*:[^=]*;", line))
        code.extend(line.strip().lstrip("@-+") for line in lines)
    return Unwrapped(code=tuple(code)[:ITEMS_MAX]) if code else None


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
    return None if at is None else _commands(args[at + 1 :])


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = {
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
    **dict.fromkeys(("docker", "podman", "nerdctl", "kubectl", "oc"), _container),
    "cmd": _cmd,
    "cmd.exe": _cmd,
    "git": _git,
    "tar": _tar,
    "gtar": _tar,
    "bsdtar": _tar,
    "rsync": _rsync,
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "view"), _vim),
    "at": _at,
    "batch": _at,
    "crontab": _crontab,
    "make": _make,
    "gmake": _make,
    "npx": _npx,
    "nix-shell": _nix,
    "nix": _nix,
}
