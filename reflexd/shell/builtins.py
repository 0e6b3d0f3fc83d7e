"""What builtins do to the shell they run in, and what programs leave in files for the rest of the line."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from reflexd.shell import sedcode
from reflexd.shell.calls import Call, Redirect
from reflexd.shell.downloads import fetched
from reflexd.shell.fields import UNKNOWN, known
from reflexd.shell.known import RISKY, SHELLS
from reflexd.shell.options import names, split
from reflexd.shell.output import printed
from reflexd.shell.programs import known as known_programs
from reflexd.shell.state import Shell, Written

BIN = re.compile(r"(?:/usr|/usr/local|/opt/homebrew|/opt/local)?/s?bin/+[^/]+\Z")
FILE_MAX = 256 * 1024
_INSTALL_VALUED = names("-m -o -g -S -Z --mode --owner --group")
_IN_PLACE = re.compile(r"-[a-zA-Z]{0,4}i(?:\W.*)?\Z|--in-place", re.S)


def apply(shell: Shell, call: Call) -> None:
    """What a builtin (or a program that makes files) does to this shell's state."""
    argv = call.argv
    match call.name:
        case "exit" | "return":
            shell.ended = call.name
        case "exec" if len(argv) > 1:
            shell.ended = "exit"
        case "cd" | "pushd":
            words = [word for word in argv[1:] if not word.startswith("-") or word == "-"]
            home = "".join(shell.lookup("HOME") or [UNKNOWN])
            shell.cd(words[0] if words else home)
            if any(name in ("CDPATH", "HOME") for name, _ in call.assigned):
                shell.cwd = UNKNOWN
        case "popd":
            shell.cd(UNKNOWN)
        case "alias":
            for word in argv[1:]:
                name, equals, value = word.partition("=")
                if equals and known(value):
                    shell.aliases[name] = value
        case "hash" if len(argv) > 3 and argv[1] == "-p":
            shell.aliases[argv[3]] = argv[2]
        case "set" if len(argv) > 1:
            words = list(argv[1:])
            while words and words[0] != "--" and words[0][:1] in ("-", "+"):
                option = words.pop(0)
                if option in ("-o", "+o") and words:
                    words.pop(0)
            if words or "--" in argv:
                shell.positional(words[1:] if words[:1] == ["--"] else words)
        case "shift":
            held = shell.variables.get("@") or []
            count = int(argv[1]) if len(argv) > 1 and argv[1].isdigit() else 1
            shell.positional(held[count:])
        case "read":
            _read(shell, call)
        case "mapfile" | "readarray" | "getopts":
            for word in argv[1:]:
                if word.isidentifier():
                    lines = call.stdin.splitlines() if call.stdin is not None and known(call.stdin) else None
                    shell.variables[word] = lines
        case "printf" if len(argv) > 3 and argv[1] == "-v":
            text = printed(Call(("printf", *argv[3:]), shell.cwd))
            shell.variables[argv[2]] = None if text is None else [text]
        case "export" | "declare" | "typeset" | "readonly" | "local":
            declared(shell, argv)
        case "mount" if "--bind" in argv or "-B" in argv or "--rbind" in argv:
            words = [word for word in argv[1:] if not word.startswith("-")]
            if len(words) == 2 and all(map(known, words)):
                shell.links[shell.path(words[1])] = shell.path(words[0])
        case "mkfifo":
            for word in argv[1:]:
                if not word.startswith("-"):
                    shell.files[shell.path(word)] = Written(None, pipe=True)
        case "dd":
            for word in argv[1:]:
                if word.startswith("of="):
                    keep(shell, word[3:], call.stdin, call.fed == "download")
        case "tee":
            for word in argv[1:]:
                if not word.startswith("-"):
                    keep(shell, word, call.stdin, call.fed == "download", "-a" in argv)
        case "cp" | "mv" | "ln" | "install" | "link":
            _copied(shell, call)
        case "dd":
            given = dict(word.partition("=")[::2] for word in argv[1:])
            if "of" in given:
                keep(shell, given["of"], None if "if" in given else call.stdin, call.fed == "download")
        case "sed" | "gsed" if sedcode.written(call):
            for name in sedcode.written(call):
                keep(shell, name, None)
        case "sed" | "gsed" | "perl" | "patch" if call.name == "patch" or any(map(_IN_PLACE.match, argv)):
            for word in argv[1:]:
                if not word.startswith("-") and known(word):
                    keep(shell, word, None)
        case "curl" | "wget" | "aria2c" | "xh" | "http" | "https":
            for path in fetched(call):
                keep(shell, path, None, True)


def _read(shell: Shell, call: Call) -> None:
    given = split(call.argv[1:], names("-a -d -i -n -N -p -t -u"))
    array = given.value("-a")
    into = [word for word in given.operands if word.isidentifier()] or ["REPLY"]
    separators = dict(call.assigned).get("IFS", (shell.lookup("IFS") or [" \t\n"])[0])
    if call.stdin is None or not known(call.stdin) or given.has("-u", "-n", "-N"):
        for name in into if array is None else [array]:
            shell.variables[name] = None
        return
    end = given.value("-d")
    line = call.stdin.partition("\n" if end is None else end[:1] or "\ufffd")[0]
    parts = re.split(f"[{re.escape(separators)}]+", line.strip(separators)) if separators else [line]
    if array is not None:
        shell.variables[array] = parts
        return
    if len(into) == 1:
        shell.set(into[0], line)
        return
    if separators:
        parts = re.split(f"[{re.escape(separators)}]+", line.strip(separators), maxsplit=len(into) - 1)
    for number, name in enumerate(into):
        shell.set(name, parts[number] if number < len(parts) else "")


def _copied(shell: Shell, call: Call) -> None:
    """A copy or link of a file made in this line, or of a program, is that file or program."""
    words = split(call.argv[1:], _INSTALL_VALUED if call.name == "install" else frozenset()).operands
    if len(words) != 2 or not all(map(known, words)):
        return
    source, target = words
    if source in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        keep(shell, target, call.stdin, call.fed == "download")
        return
    if call.name == "ln" and (
        "-s" in call.argv or "--symbolic" in call.argv or any(re.match(r"-\w*s", w) for w in call.argv)
    ):
        if not source.startswith("/"):
            source = f"{shell.path(target).rpartition('/')[0]}/{source}"
        shell.links[shell.path(target)] = shell.path(source)
        return
    held = shell.files.get(shell.path(source))
    if held is not None:
        shell.files[shell.path(target)] = held
    elif BIN.match(source) and source.rpartition("/")[2] in known_programs() | RISKY | SHELLS:
        shell.links[shell.path(target)] = source
    else:
        target = target + posixpath.basename(source) if target.endswith("/") else target
        shell.files[shell.path(target)] = Written(None, copied=shell.path(source))


def written(shell: Shell, redirects: Iterable[Redirect], output: str | None, downloaded: bool) -> None:
    """Remember what a redirection left in a file, for whoever runs that file later in the line."""
    for made in redirects:
        if made.writes and made.op[:1] != "2" and made.target.strip("0123456789&-"):
            keep(shell, made.target, output, downloaded, ">>" in made.op)


def keep(shell: Shell, target: str, text: str | None, downloaded: bool = False, append: bool = False) -> None:
    path = shell.path(target)
    if append and path in shell.files and text is not None:
        before = shell.files[path].text
        text = None if before is None else before + text
    if text is not None and len(text) > FILE_MAX:
        text = None
    held = shell.files.get(path)
    into = held is not None and held.pipe
    shell.files[path] = Written(text, downloaded, pipe=into, code=into and held is not None and held.code)


def declared(shell: Shell, words: tuple[str, ...]) -> None:
    """export, declare, local, readonly, typeset, unset: what they do to variables."""
    if words[:1] == ("unset",):
        for word in words[1:]:
            shell.unset(word)
        return
    letters = "".join(word[1:] for word in words[1:] if word[:1] in ("-", "+"))
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not name.isidentifier():
            continue
        if "n" in letters and words[0] != "export":
            shell.variables.pop(name, None)
            shell.references = {**shell.references, name: value if value.isidentifier() else name}
        elif equals:
            shell.set(name, value)
            if set(letters) & set("iluc"):
                shell.variables[name] = None  # such a variable holds something else than it was given
        if words[0] == "export" or "x" in letters:
            shell.exports |= {name}
        if words[0] == "readonly" or "r" in letters:
            shell.fixed |= {name}


def downloads(call: Call) -> bool:
    return call.name in ("curl", "wget", "nc", "ncat", "http", "https", "xh", "aria2c") or call.fed == "download"
