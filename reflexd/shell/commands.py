"""Simple commands with their words resolved: builtins, functions, aliases, files written a moment ago, wrappers."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from msgspec import structs

from reflexd.shell import builtins, feeds, filters, foreign, interpreters, local, sources
from reflexd.shell.calls import Call, Redirect
from reflexd.shell.carriers import Unwrapped
from reflexd.shell.fields import BRACKET, GLOB_MARKS, ONE, PIPED, STAR, UNKNOWN, UNSET, known, shown
from reflexd.shell.known import RISKY, SHELLS
from reflexd.shell.options import names, split
from reflexd.shell.output import printed
from reflexd.shell.realms import said
from reflexd.shell.sources import LITERAL
from reflexd.shell.state import Function, Shell
from reflexd.shell.wrappers import unwrap

if TYPE_CHECKING:
    from reflexd.shell.script import Script

_BINS = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/")
_CANDIDATES_MAX = 8
FILE_MAX = 256 * 1024
_STATEFUL = names("cd pushd popd read set shift alias export declare typeset readonly local unset eval source . trap")
_FILTERS = frozenset(filters.PRINTERS) | names("cat base64 base32 xxd openssl")
_KEYWORDS = names("! time")
_SHELL_WORDS = names("coproc noglob nocorrect { -")
"""Words before a command that the shell still looks up itself."""
_PROMPTS = re.compile(r"PS[0-4]\Z")
_HOOKS = re.compile(
    r"(?:\w*PAGER|\w*EDITOR|VISUAL|BROWSER|GIT_SSH(?:_COMMAND)?|GIT_EXTERNAL_DIFF|PROMPT_COMMAND|(?:GIT|SSH)_ASKPASS"
    r"|GIT_PROXY_COMMAND|LESSOPEN)\Z"
)
_READS = names("read mapfile readarray")
_LOADING = {"NODE_OPTIONS": "node", "RUBYOPT": "ruby"}
"""Variables with options of an interpreter, which may name code that it runs first."""
_EVALUATES = names("let read unset declare typeset local export readonly test [ [[ printf mapfile")


def run(
    script: Script,
    argv: tuple[str, ...],
    assigned: tuple[tuple[str, str], ...],
    redirects: tuple[Redirect, ...],
    stdin: str | None,
    fed: str,
    via: tuple[str, ...],
    nest: int,
    program: bool = False,
) -> str | None:
    """Note the command, do to the shell what it does, and walk what it runs in turn.

    `program`: another program starts it, so functions and aliases of the shell do not count.
    """
    walk, shell = script.walk, script.shell
    walk.count(1 + len(argv) // 8)
    for name, value in assigned:
        hooked(script, name, value, via)
    if not argv:
        for name, value in assigned:
            shell.set(name, value)
        if redirects:
            walk.note(Call((), shell.cwd, assigned, redirects, via=via))
            builtins.written(shell, redirects, "", False)
        return ""
    if argv[0] in _KEYWORDS and argv[1:] and (argv[1][:1] != "-" or argv[1] == "-p"):
        rest = argv[2:] if argv[1] == "-p" else argv[1:]
        return run(script, rest, assigned, redirects, stdin, fed, via, nest + 1) if rest else ""
    first = argv[0]
    if not known(first):
        _unknown_program(script, argv, stdin, fed, via, nest)
    elif not first.isascii():
        walk.opaque.append("the program's name is not plain ASCII")
    if first[:1] == "=" and len(first) > 1:  # zsh: the program itself, whatever is called like it
        argv = (first[1:], *argv[1:])
    if first in _EVALUATES:
        for word in argv[1:]:
            if first != "printf" or argv[1] == "-v":
                script.expander.evaluated(word)
    aliased: str | None = None
    if "/" not in first and not program:
        bodies = shell.functions.get(first, ())
        if bodies:
            walk.note(Call(argv, shell.cwd, assigned, redirects, stdin, fed, via, defined=True))
            output = _function(script, bodies, argv[1:], stdin, fed, nest)
            if None not in bodies:
                return output
        if first in shell.aliases and f"alias {first}" not in via:
            # Shells that run a script mostly know no aliases: the program of that name counts as well.
            walk.note(Call(argv, shell.cwd, assigned, redirects, stdin, fed, via, defined=True))
            within = shell.copy()
            within.positional(argv[1:])
            code = shell.aliases[first] + ' "$@"'
            aliased = walk.code(code, within, stdin, fed, (*via, f"alias {first}"), script.depth + 1)
    if shell.links:
        argv = tuple(_through_links(shell, word, argv[0]) for word in argv)
    if any(UNSET in word for word in argv) and argv[0] not in _STATEFUL:
        # What most likely is not set may well be empty: then the words are these.
        plain = tuple(word.replace(UNSET, "") for word in argv if word != UNSET)
        if plain and plain[0]:
            run(script, plain, assigned, (), stdin, fed, via, nest + 1, program)
    call = Call(argv, shell.cwd, assigned, redirects, stdin, fed, via, exported=shell.exported())
    walk.note(call)
    builtins.apply(shell, call)
    if first in _READS and stdin:
        script.expander.evaluated(stdin)
    output = _runs(script, call, nest)
    shell.variables["_"] = [argv[-1]]
    builtins.written(shell, redirects, output, builtins.downloads(call))
    sources.sent(script, call, output)
    if (first in shell.aliases or first in shell.functions) and not program and output != aliased:
        output = None
    if any(made.writes and made.op[:1] != "2" for made in redirects):
        return ""
    return output


def _through_links(shell: Shell, word: str, program: str) -> str:
    """A path that leads through a link made in this line, as what it leads to; the link itself stays itself."""
    if word.startswith("-") or (
        word != program and program in ("rm", "unlink", "mv", "ln") and not re.search("/.", word)
    ):
        return word
    path = shell.path(word)
    return path if path != UNKNOWN and shell.linked(word) else word


def hooked(script: Script, name: str, value: str, via: tuple[str, ...]) -> None:
    """A variable whose value some program runs later."""
    if not value:
        return
    script.expander.evaluated(value)
    if _PROMPTS.match(name):
        script.expander.heredoc(value)
    elif _HOOKS.match(name):
        script.walk.code(
            value.translate(LITERAL).lstrip("|-"), script.shell.copy(), None, "", (*via, name), script.depth + 1
        )
    elif name in ("BASH_ENV", "ENV") and known(value.removeprefix(PIPED)):
        run(script, (".", value), (), (), None, "", (*via, name), 1)
    elif name in _LOADING:
        for file in interpreters.loaded(value):
            run(script, (_LOADING[name], file), (), (), None, "", (*via, name), 1)


def _unknown_program(
    script: Script, argv: tuple[str, ...], stdin: str | None, fed: str, via: tuple[str, ...], nest: int
) -> None:
    script.walk.opaque.append(f"the program to run is not known ({shown(argv[0])})")
    if any(mark in argv[0] for mark in GLOB_MARKS):
        for name in _matching(argv[0], script.shell.cwd):
            run(script, (name, *argv[1:]), (), (), stdin, fed, via, nest + 1)


def _matching(pattern: str, cwd: str) -> list[str]:
    """Programs that a pattern might name, the risky ones first."""
    glob = pattern.replace(STAR, "*").replace(ONE, "?").replace(BRACKET, "[")
    if UNKNOWN in glob or UNSET in glob:
        return []
    if "/" not in glob or glob.startswith("."):
        glob = f"{cwd}/{glob.removeprefix('./')}" if known(cwd) and f"{cwd}/" in _BINS else glob
    return list(_programs_like(glob))


@lru_cache(maxsize=256)
def _programs_like(glob: str) -> tuple[str, ...]:
    every = sorted(RISKY | SHELLS)
    if "/" not in glob:
        return tuple(name for name in every if fnmatchcase(name, glob))[:_CANDIDATES_MAX]
    return tuple(name for name in every if any(fnmatchcase(at + name, glob) for at in _BINS))[:_CANDIDATES_MAX]


def _runs(script: Script, call: Call, nest: int) -> str | None:
    """What the call prints, after walking what it runs."""
    text = sources.started(script, call, nest)
    if text is not None:
        return text
    call = _fed_otherwise(script, call)
    unwrapped = unwrap(call)
    by_convention = local.named(call)
    if by_convention is not None:
        within = script.sub(script.shell.copy())
        if by_convention.below:
            within.shell.cd(by_convention.below)
        sources.run(within, call, by_convention.kind, by_convention.file, by_convention.arguments, nest)
    if unwrapped is not None:
        walk = script.walk
        outside, walk.around = walk.around, (*walk.around, *said(call, unwrapped))
        text = inner(script, call, unwrapped, nest)
        walk.around = outside
        return _prints(script.shell, call) if call.name in filters.PRINTERS else text
    if call.name in SHELLS:
        return sources.shell(script, call, nest)
    return _prints(script.shell, call)


def _prints(shell: Shell, call: Call) -> str | None:
    return printed(_with_files(shell, call) if shell.files else call)


def _with_files(shell: Shell, call: Call) -> Call:
    """A filter whose files this line has written, as one that reads their text instead."""
    if call.name not in _FILTERS:
        return call
    held = [(word, shell.files.get(shell.path(word))) for word in call.argv[1:] if not word.startswith("-")]
    texts = [file.text for _, file in held if file is not None and file.text is not None]
    if not texts or any(file is not None and file.text is None for _, file in held):
        return call
    read = {word for word, file in held if file is not None}
    argv = tuple(word for word in call.argv if word not in read)
    return structs.replace(call, argv=argv, stdin="".join(texts)[:FILE_MAX], fed="text")


_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([3-9]|[1-9]\d)\Z")


def _fed_otherwise(script: Script, call: Call) -> Call:
    """What reads something else than its standard input: xargs -a FILE, a shell given a descriptor to read."""
    if call.name in ("xargs", "gxargs"):
        file = split(call.argv[1:], names("-I -n -P -L -d -E -s -a --arg-file")).value("-a", "--arg-file")
        if file is not None and file not in ("-", "/dev/stdin"):
            stdin, fed = feeds.from_file(script, file)
            return structs.replace(call, stdin=stdin, fed=fed)
    elif call.name in SHELLS or call.name in ("source", "."):
        numbers = [found[1] for word in call.argv[1:] if (found := _DESCRIPTOR.match(word))]
        if numbers and numbers[0] in script.shell.descriptors:
            stdin, fed = script.shell.descriptors[numbers[0]]
            return structs.replace(call, stdin=stdin, fed=fed or "pipe")
    return call


def inner(script: Script, call: Call, unwrapped: Unwrapped, nest: int) -> str | None:
    walk = script.walk
    name = unwrapped.name or ("container" if unwrapped.inside else f"{call.name} {unwrapped.host}".rstrip())
    via = (*call.via, name)
    walk.opaque.extend(unwrapped.opaque)
    if unwrapped.at_exit:
        shell, depth = script.shell, script.depth + 1
        walk.later.extend(partial(walk.code, code, shell, None, "", via, depth) for code in unwrapped.code)
        return ""
    output: str | None = None
    shell = script.shell if unwrapped.same_shell else script.shell.copy()
    if unwrapped.cwd:
        there = shell.home if unwrapped.cwd == "~" else unwrapped.cwd
        shell.cwd = there if not known(there) else shell.path(there)
    within = script if shell is script.shell else script.sub(shell)
    for path in unwrapped.files:
        kind = unwrapped.kind or foreign.language(call.name) or ("sourced" if unwrapped.same_shell else "shell")
        output = sources.run(within, call, kind, path, unwrapped.arguments, nest)
    for argv in unwrapped.commands:
        assigned = (*call.assigned, *unwrapped.assigned)
        output = run(within, argv, assigned, (), call.stdin, call.fed, via, nest + 1, call.name not in _SHELL_WORDS)
    kept = {name: shell.variables.get(name, [UNSET]) for name, _ in call.assigned}
    for name, value in (*call.assigned, *unwrapped.assigned):
        shell.set(name, value)
    for code in unwrapped.code:
        if not known(code.translate(LITERAL)):
            walk.opaque.append(f"{call.name} runs code that is not known")
        if unwrapped.arguments:
            shell.positional(unwrapped.arguments[1:])
            shell.variables["0"] = [unwrapped.arguments[0]]
        output = walk.code(code.translate(LITERAL), shell, call.stdin, call.fed, via, script.depth + 1)
    shell.variables.update(kept)
    return output


def _function(
    script: Script, bodies: tuple[Function, ...], args: tuple[str, ...], stdin: str | None, fed: str, nest: int
) -> str | None:
    shell = script.shell
    outer = {key: value for key, value in shell.variables.items() if key.isdigit() or key in ("@", "*", "#")}
    before, ends = shell.copy(), []
    for body in bodies:
        shell.become(before)
        output: str | None = None
        if body is not None:
            shell.positional(args)
            # A function that calls itself ends at the nesting cap, like any other nesting.
            within = type(script)(script.walk, body[0], shell, script.via, script.depth)
            output = within.called(body[1], stdin, fed, nest + 6)
            shell.ended = "" if shell.ended == "return" else shell.ended
        ends.append(shell.copy())
    shell.merge(ends)
    shell.positional(())
    shell.variables.update(outer)
    return output if len(bodies) == 1 else None
