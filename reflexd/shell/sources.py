"""Code that does not stand in the text: in files, and in what an interpreter reads.

A file that this line wrote is known, and so is one whose text was given; any other is named as unseen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import structs

from reflexd.shell import foreign, local
from reflexd.shell.calls import Call, Local
from reflexd.shell.carriers import Unwrapped
from reflexd.shell.fields import BRACKET, ONE, PIPED, STAR, UNKNOWN, UNSET, known, shown
from reflexd.shell.known import SHELLS

if TYPE_CHECKING:
    from reflexd.shell.script import Script
    from reflexd.shell.state import Shell, Written

LITERAL = str.maketrans({STAR: "*", ONE: "?", BRACKET: "["})
_TERMINAL = re.compile(r"/dev/(?:tty\w*|pts/\d+|console)\Z")
ALIKE_MAX = 4
_STDIN = re.compile(r"-\Z|/dev/stdin\Z|/dev/fd/\d+\Z|/proc/self/fd/\d+\Z")
_QUIET_SHELL = frozenset({"--version", "--help"})
_BIN = re.compile(r"(?:/usr|/usr/local|/opt/homebrew|/opt/local|/run/current-system/sw)?/s?bin/+[^/]+\Z")


def started(script: Script, call: Call, nest: int) -> str | None:
    """A program started by the path of a file, or found as one that this line wrote; None where it may be another,
    whose words are still to be read.
    """
    shell, word = script.shell, call.argv[0]
    if "/" in word:
        if _BIN.match(word) and not shell.files:
            return None
        held = shell.files.get(shell.path(word))
        if held is None and (_BIN.match(word) or not known(word)):
            return None
    elif shell.files and ("PATH" in shell.variables or any(name == "PATH" for name, _ in call.assigned)):
        held = next((file for path, file in shell.files.items() if path.endswith("/" + word)), None)
        if held is None:
            return None
    else:
        return None
    if held is None and (foreign.language(call.name) or call.name in SHELLS):
        return None  # an interpreter: its words say what it runs
    output = run(script, call, "program", word, call.argv[1:], nest, held)
    return output if held is None else output or ""


def run(
    script: Script, call: Call, kind: str, word: str, arguments: tuple[str, ...], nest: int, held: Written | None = None
) -> str | None:
    """Run the file that `word` names; what it prints, None if not known."""
    walk, shell = script.walk, script.shell
    if word.startswith(PIPED):
        text, fed = walk.piped(word[1:])
        if text is None or not known(text.translate(LITERAL)):
            doubts = walk.hidden if fed in ("download", "decoded") else walk.opaque
            doubts.append(f"{call.name} runs what comes out of a pipe, which nobody has seen")
            return None
        return _text(script, call, Local(kind, "", shown(word), arguments), text, nest)
    path = shell.path(word)
    if not known(path):
        for each in _alike(shell, path):
            run(script, call, kind, each, arguments, nest + 1)
    held = held or shell.files.get(path)
    if held is not None and held.copied:
        path, held = held.copied, None
    if held is not None:
        if held.downloaded or held.text is None:
            if held.pipe:
                held.code = True
                walk.opaque.append(f"{shown(word)} is a pipe, and nobody has seen what comes out of it")
                return None
            what = (
                "has just fetched and nobody has seen"
                if held.downloaded
                else "has just changed: run it later, by itself"
            )
            (walk.hidden if held.downloaded else walk.opaque).append(f"it runs {shown(word)}, which it {what}")
            return None
        return _text(script, call, Local(kind, path, shown(word), arguments), held.text, nest)
    at = path if known(path) else ""
    found = Local(kind, at, shown(word), tuple(map(shown, arguments)), shown(shell.cwd), call.via, walk.level)
    text = walk.given(found)
    if text is None:
        walk.unseen.append(found)
        return None
    return walk.follow(found, partial(_text, script, call, Local(kind, at, shown(word), arguments), text, nest))


def _alike(shell: Shell, path: str) -> list[str]:
    """Files of this line that a path which is not known whole may name."""
    # What is not known may be several names, or none: find's files lie anywhere below.
    glob = path.translate(LITERAL).replace(f"/{UNKNOWN}/", "*/").replace(UNKNOWN, "*").replace(UNSET, "*")
    return [name for name in shell.files if known(name) and fnmatchcase(name, glob)][:ALIKE_MAX]


def _text(script: Script, call: Call, file: Local, text: str, nest: int) -> str | None:
    kind = file.kind
    if kind == "program":
        kind = _written_for(text)
    if kind in ("shell", "sourced"):
        shell = script.shell if kind == "sourced" else script.shell.copy()
        if file.arguments or kind == "shell":
            shell.positional(file.arguments)
        if kind == "shell":
            shell.variables["0"] = [file.path or file.spelled]
        shell.variables["BASH_SOURCE"] = [file.path or file.spelled]
        return script.walk.code(text, shell, None, "", (*call.via, file.spelled), script.depth + 1)
    if kind == "sql":
        # The same client reads it as what comes in: its arguments are the client's words without the file.
        fed = structs.replace(call, stdin=text, fed="text")
        return script.inner(fed, Unwrapped(commands=(file.arguments,)), nest + 1)
    reader = local.READERS.get(kind)
    if reader is not None:
        unwrapped = reader(text, file)
    elif kind in foreign.LANGUAGES:
        read = foreign.read(text, kind, whole=True)
        unwrapped = Unwrapped(commands=read.commands, code=read.code, opaque=read.opaque)
    else:
        script.walk.opaque.append(f"{file.spelled} is code for {kind}, which is not read here")
        return None
    return script.inner(structs.replace(call, argv=(file.spelled, *file.arguments)), unwrapped, nest + 1)


def _written_for(text: str) -> str:
    """Whom the first line of a program names: "shell" (also where it names nobody), a language, else the word."""
    first = text.partition("\n")[0]
    if not first.startswith("#!"):
        return "shell"
    words = [word.rpartition("/")[2] for word in first[2:].split() if not word.startswith("-") and "=" not in word]
    words = words[1:] if words[:1] == ["env"] else words
    if not words or words[0] in SHELLS or words[0] == "busybox":
        return "shell"
    if words[:2] == ["uv", "run"]:
        return "python"
    return foreign.language(words[0]) or words[0]


_INTO_PROCESS = re.compile(r"/proc/(?!self\b)[^/]+/fd/0\Z")


def sent(script: Script, call: Call, output: str | None) -> None:
    """Text that goes into a process that runs already: to its standard input, or through a pipe that it reads."""
    walk = script.walk
    targets = [made.target for made in call.redirects if made.writes and made.op[:1] != "2"]
    if walk.listens:
        targets.extend(UNKNOWN for made in call.redirects if made.op.endswith(">&") and not known(made.target))
    if call.name == "tee":
        targets.extend(word for word in call.argv[1:] if not word.startswith("-"))
        output = call.stdin
    for target in targets:
        if target.startswith(PIPED) and target[1:] in walk.sinks and output is not None:
            code, within = walk.sinks[target[1:]]
            walk.code(code, within.copy(), output, "text", call.via, script.depth + 1)
        held = script.shell.files.get(script.shell.path(target))
        if (held is not None and held.code) or target == UNKNOWN or _INTO_PROCESS.match(shown(target)):
            if output is None or not known(output.translate(LITERAL)):
                walk.opaque.append("it sends text to a process that runs already, which nobody has seen")
            if output:
                walk.code(
                    output.translate(LITERAL), script.shell.copy(), None, "", (*call.via, "sent"), script.depth + 1
                )


def shell(script: Script, call: Call, nest: int) -> str | None:
    """A shell that was not given code: it runs a file, or what it reads."""
    via = (*call.via, call.name)
    for option, startup in pairwise(call.argv[1:]):
        if option in ("--rcfile", "--init-file") and startup != "/dev/null":
            run(script, call, "shell", startup, (), nest)
    operands = _operands(call.argv[1:])
    file = operands[0] if operands else None
    if file is not None and "-s" not in call.argv and not _STDIN.match(file):
        if file.startswith(PIPED):
            code, fed = script.walk.piped(file[1:])
            return fed_code(script, call, code, fed, via)
        if _TERMINAL.match(file):
            script.walk.opaque.append(f"{call.name} runs whatever is typed into it")
            return None
        return run(script, call, "shell", file, tuple(operands[1:]), nest)
    if call.fed.startswith("file"):
        return run(script, call, "shell", call.input_file, tuple(operands), nest)
    if not call.fed:
        if _QUIET_SHELL.isdisjoint(call.argv):
            script.walk.opaque.append(f"a bare {call.name} runs whatever is typed into it")
        return None
    return fed_code(script, call, call.stdin, call.fed, via, operands[1:] if file and _STDIN.match(file) else operands)


def _operands(args: tuple[str, ...]) -> list[str]:
    words = list(args)
    while words and words[0][:1] in ("-", "+") and len(words[0]) > 1:
        option = words.pop(0)
        if option == "--":
            break
        if option in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file") and words:
            words.pop(0)
    return words


def fed_code(
    script: Script,
    call: Call,
    code: str | None,
    fed: str,
    via: tuple[str, ...],
    arguments: Sequence[str] = (),
) -> str | None:
    if code is None or not known(code.translate(LITERAL)):
        where = "a download" if fed == "download" else "a pipe"
        doubts = script.walk.hidden if fed in ("download", "decoded") else script.walk.opaque
        doubts.append(f"{call.name} runs what comes out of {where}, which nobody has seen")
    if code is None:
        return None
    hidden = (*via, "decoded") if fed == "decoded" else via
    shell = script.shell.copy()
    shell.positional(arguments)
    return script.walk.code(code.translate(LITERAL), shell, None, "", hidden, script.depth + 1)
