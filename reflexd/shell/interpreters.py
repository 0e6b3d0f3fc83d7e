"""Interpreters of other languages: the code they are given in words, in a file, or to read."""

from __future__ import annotations

from reflexd.shell import foreign
from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped, commands
from reflexd.shell.fields import known
from reflexd.shell.programs import known as known_programs

_PROMPTING = frozenset({"-i", "-q", "-u", "-B", "-E", "-s", "-S", "-I", "-a", "--interactive"})
"""Options with which an interpreter still waits for what is typed."""


def unwrap(call: Call) -> Unwrapped | None:
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
