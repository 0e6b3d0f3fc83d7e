"""Interpreters of other languages: the code they are given in words, in a file, or to read."""

from __future__ import annotations

import re

from msgspec import structs

from reflexd.shell import dbcode, foreign
from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped, commands
from reflexd.shell.fields import UNKNOWN, UNSET, known
from reflexd.shell.options import names, split
from reflexd.shell.programs import known as known_programs
from reflexd.shell.programs import with_subcommands

_PACKAGED = re.compile(r"(?:\A|/)node_modules/(?!\.bin/)((?:@[^/]+/)?[^/]+)/")
_TIMED = names("-n -r -s -u -p --number --repeat --setup --unit --process")
_PROMPTING = frozenset({"-i", "-q", "-u", "-B", "-E", "-s", "-S", "-I", "-a", "--interactive"})
"""Options with which an interpreter still waits for what is typed."""


def unwrap(call: Call) -> Unwrapped | None:
    language = foreign.language(call.name)
    args = call.argv[1:]
    code = foreign.inline(args, language)
    source = call.fed.partition(" ")[0]
    if code is None and source == "file" and foreign.reads_stdin(args, language) and call.stdin is None:
        return Unwrapped(files=(call.input_file,))
    if code is None and source in ("pipe", "download", "decoded", "text") and foreign.reads_stdin(args, language):
        if call.stdin is None or not known(call.stdin):
            if source == "text":
                return None
            return Unwrapped(opaque=(f"{call.name} runs what comes out of a {source}, which nobody has seen",))
        code = call.stdin
    if code is None:
        if "-m" in args:
            return _module(call, args[args.index("-m") + 1 :]) if language == "python" else None
        if call.name in ("deno", "bun") and args[:1] and args[0].isalpha():
            args = args[1:] if args[0] == "run" else ()
            if not any("." in word or "/" in word for word in args):
                return None  # a subcommand, or a script of the package's
        at = foreign.file_at(args, language)
        file = args[at] if at < len(args) else None
        if file is None and not call.fed and _PROMPTING.issuperset(args):
            return Unwrapped(opaque=(f"a bare {call.name} runs whatever is typed into it",))
        if file is None:
            return None
        found = script(file, args[at + 1 :])
        return structs.replace(found, files=(*loaded(" ".join(args[:at])), *found.files))
    read = foreign.read(code, language)
    hidden = any(line.strip() in (UNKNOWN, UNSET) for line in code.splitlines())
    opaque = (f"{call.name} runs code that is not known",) if hidden else ()
    told = dbcode.told(code) if language in dbcode.LANGUAGES else ()
    return Unwrapped(commands=(*read.commands, *told), code=read.code, opaque=(*read.opaque, *opaque))


_LOADS = re.compile(r"(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)[\s=]*((?:\.{1,2}/|/|~/)\S+)")


def loaded(options: str) -> tuple[str, ...]:
    """Files of code that node's or ruby's options have run first."""
    return tuple(match[1] for match in _LOADS.finditer(options))


def script(file: str, arguments: tuple[str, ...], kind: str = "") -> Unwrapped:
    """Code in a file; where that is a tool whose words are known (manage.py, artisan), what they say as well."""
    packaged = _PACKAGED.search(file)
    name = packaged[1] if packaged else file.rpartition("/")[2]
    tool = ((name, *arguments),) if name in with_subcommands() else ()
    return Unwrapped(files=(file,), commands=tool, arguments=arguments, kind=kind)


def _module(call: Call, words: tuple[str, ...]) -> Unwrapped | None:
    """python -m: a program of that name, a module of Python's own that runs code, a module of the project."""
    if not words:
        return None
    if words[0] in known_programs():
        return commands(words)
    if words[0] in ("timeit", "cProfile", "profile", "pdb", "trace", "runpy"):
        found = split(words[1:], _TIMED)
        if words[0] != "timeit":
            return Unwrapped(files=found.operands[:1], arguments=found.operands[1:])
        read = foreign.read("\n".join((*found.all("-s", "--setup"), *found.operands)), "python")
        return Unwrapped(commands=read.commands, code=read.code, opaque=read.opaque)
    return None  # a module of the project's is local code that has a name by convention
