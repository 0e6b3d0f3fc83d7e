"""Ways to write a command differently without changing what it does.

A mutator takes shell code and gives shell code. Those in WORDS need a plain command (words without
quotes or operators); those in CODE take any code, so they can be put on top of each other.
"""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable

Mutator = Callable[[str], str]


def _first(change: Callable[[str], str]) -> Mutator:
    """Changes the program's name alone."""

    def mutate(command: str) -> str:
        name, space, rest = command.partition(" ")
        return change(name) + space + rest

    return mutate


def _each(change: Callable[[str], str]) -> Mutator:
    return lambda command: " ".join(change(word) if not word.startswith("~") else word for word in command.split(" "))


def _end(code: str) -> str:
    """A delimiter that no line of `code` is: a document ends at the first one."""
    return next(word for word in ("STOP", *(f"STOP{n}" for n in range(9))) if word not in code.split("\n"))


def _octal(text: str) -> str:
    return "".join(f"\\{ord(c):03o}" for c in text)


def _hexa(text: str) -> str:
    return "".join(f"\\x{ord(c):02x}" for c in text)


def _half(word: str) -> tuple[str, str]:
    return word[: len(word) // 2], word[len(word) // 2 :]


WORDS: dict[str, Mutator] = {
    "backslash": _first(lambda name: "\\" + name),
    "backslashes": _first(lambda name: "".join("\\" + c if c.isalpha() else c for c in name)),
    "empty-quotes": _first(lambda name: name[:1] + "''" + name[1:]),
    "empty-double-quotes": _first(lambda name: name[:1] + '""' + name[1:]),
    "double-quotes": _each(lambda word: f'"{word}"'),
    "single-quotes": _each(lambda word: f"'{word}'"),
    "half-quotes": _each(lambda word: f"{_half(word)[0]}'{_half(word)[1]}'"),
    "ansi-hex": _each(lambda word: f"$'{_hexa(word)}'"),
    "ansi-octal": _each(lambda word: f"$'{_octal(word)}'"),
    "empty-variable": _first(lambda name: name[:1] + "${nothing}" + name[1:]),
    "name-variable": lambda c: f"x={c.partition(' ')[0]}; $x {c.partition(' ')[2]}",
    "name-in-halves": lambda c: f"a={_half(c.split()[0])[0]} b={_half(c.split()[0])[1]}; $a$b {c.partition(' ')[2]}",
    "name-substituted": _first(lambda name: f"$(echo {name})"),
    "name-backquoted": _first(lambda name: f"`echo {name}`"),
    "name-printf": _first(lambda name: f"$(printf '{_octal(name)}')"),
    "name-printf-v": lambda c: f"printf -v x %s {c.partition(' ')[0]}; $x {c.partition(' ')[2]}",
    "name-cut": lambda c: f"x=__{c.partition(' ')[0]}; ${{x#__}} {c.partition(' ')[2]}",
    "name-slice": lambda c: f"x=__{c.partition(' ')[0]}; ${{x:2}} {c.partition(' ')[2]}",
    "name-lower": lambda c: f"x={c.partition(' ')[0].upper()}; ${{x,,}} {c.partition(' ')[2]}",
    "name-default": _first(lambda name: f"${{never_set_here:-{name}}}"),
    "name-array": lambda c: f"a=({c.partition(' ')[0]}); ${{a[0]}} {c.partition(' ')[2]}",
    "name-path": _first(lambda name: f"/usr/bin/{name}"),
    "name-odd-path": _first(lambda name: f"/usr/./bin/../bin//{name}"),
    "name-pattern": _first(lambda name: f"/usr/bin/{name[:-1]}?"),
    "name-class": _first(lambda name: f"/usr/bin/{name[:-1]}[{name[-1]}]"),
    "words-brace": lambda c: "{" + ",".join(c.split()) + "}" if "~" not in c else c,
    "words-ifs": lambda c: c.replace(" ", "${IFS}"),
    "words-array": lambda c: f'a=({c}); "${{a[@]}}"',
    "words-positional": lambda c: f'set -- {c}; "$@"',
    "words-tabs": lambda c: c.replace(" ", "\t\t"),
    "continuation": lambda c: c.replace(" ", " \\\n  "),
    "continuation-inside": _first(lambda name: name[:1] + "\\\n" + name[1:]),
    "redirect-first": lambda c: f"2>/dev/null {c}",
    "assignment-first": lambda c: f"A=1 B=2 {c}",
    "trailing-comment": lambda c: f"{c} # nothing to see",
    "alias": lambda c: f"alias go='{c.partition(' ')[0]}'\ngo {c.partition(' ')[2]}",
    "hash": lambda c: f"hash -p /usr/bin/{c.partition(' ')[0]} go; go {c.partition(' ')[2]}",
    "copy": lambda c: f"cp /usr/bin/{c.partition(' ')[0]} ./go; ./go {c.partition(' ')[2]}",
    "last-word": lambda c: f": {c.partition(' ')[0]}; $_ {c.partition(' ')[2]}",
    "xargs-name": lambda c: f"echo {c.partition(' ')[2]} | xargs {c.partition(' ')[0]}",
}

CODE: dict[str, Mutator] = {
    "variable-eval": lambda c: f'x={shlex.quote(c)}; eval "$x"',
    "eval": lambda c: f"eval {shlex.quote(c)}",
    "bash-c": lambda c: f"bash -c {shlex.quote(c)}",
    "sh-flags": lambda c: f"sh -e -u -c {shlex.quote(c)}",
    "bash-option": lambda c: f"bash -o pipefail -c {shlex.quote(c)}",
    "env-shell": lambda c: f"/usr/bin/env bash -c {shlex.quote(c)}",
    "shell-variable": lambda c: f"$SHELL -c {shlex.quote(c)}",
    "dollar-zero": lambda c: f"$0 -c {shlex.quote(c)}",
    "argument-one": lambda c: f"bash -c 'eval \"$1\"' x {shlex.quote(c)}",
    "here-string": lambda c: f"bash <<< {shlex.quote(c)}",
    "here-document": lambda c: f"bash <<'{_end(c)}'\n{c}\n{_end(c)}",
    "here-document-piped": lambda c: f"cat <<'{_end(c)}' | sh\n{c}\n{_end(c)}",
    "echo-pipe": lambda c: f"echo {shlex.quote(c)} | sh",
    "printf-pipe": lambda c: f"printf '%s\\n' {shlex.quote(c)} | bash -s",
    "printf-octal": lambda c: f"printf '{_octal(c)}' | sh",
    "echo-e-hex": lambda c: f"echo -e '{_hexa(c)}' | bash",
    "base64": lambda c: f"echo {base64.b64encode(c.encode()).decode()} | base64 -d | sh",
    "base64-eval": lambda c: f'eval "$(echo {base64.b64encode(c.encode()).decode()} | base64 --decode)"',
    "base64-string": lambda c: f"base64 -d <<< {base64.b64encode(c.encode()).decode()} | bash",
    "hex": lambda c: f"echo {c.encode().hex()} | xxd -r -p | sh",
    "reversed": lambda c: f"echo {shlex.quote(c[::-1])} | rev | sh" if "\n" not in c else c,
    "rot13": lambda c: f"echo {shlex.quote(_rot13(c))} | tr 'A-Za-z' 'N-ZA-Mn-za-m' | sh",
    "substituted": lambda c: f'echo "$({c}\n)"',
    "backquoted": lambda c: f"echo `{_backquoted(c)}`",
    "process-substitution": lambda c: f"bash <(echo {shlex.quote(c)})",
    "source-process": lambda c: f"source <(printf '%s' {shlex.quote(c)})",
    "source-stdin": lambda c: f". /dev/stdin <<< {shlex.quote(c)}",
    "function": lambda c: f"f() {{\n{c}\n}}; f",
    "function-word": lambda c: f"function f {{\n{c}\n}}\nf",
    "subshell": lambda c: f"(\n{c}\n)",
    "group": lambda c: f"{{\n{c}\n}}",
    "if": lambda c: f"if true; then\n{c}\nfi",
    "else": lambda c: f"if false; then :; else\n{c}\nfi",
    "for": lambda c: f"for i in 1; do\n{c}\ndone",
    "while": lambda c: f"while true; do\n{c}\nbreak; done",
    "until": lambda c: f"until false; do\n{c}\nbreak; done",
    "case": lambda c: f"case a in a)\n{c}\n;; esac",
    "and": lambda c: f"true && {{\n{c}\n}}",
    "or": lambda c: f"false || {{\n{c}\n}}",
    "background": lambda c: f"{{\n{c}\n}} & wait",
    "piped-into": lambda c: f"echo y | {{\n{c}\n}}",
    "after": lambda c: f"cd . ; echo start; {c}",
    "negated": lambda c: f"! {{\n{c}\n}}",
    "trap": lambda c: f"trap {shlex.quote(c)} EXIT",
    "sudo": lambda c: f"sudo -u root -- bash -c {shlex.quote(c)}",
    "env": lambda c: f"env A=1 sh -c {shlex.quote(c)}",
    "env-split": lambda c: f"env -S {shlex.quote('sh -c ' + shlex.quote(c))}",
    "nohup": lambda c: f"nohup sh -c {shlex.quote(c)} >/dev/null 2>&1 &",
    "timeout": lambda c: f"timeout -k 1 5 sh -c {shlex.quote(c)}",
    "nice": lambda c: f"nice -n 10 sh -c {shlex.quote(c)}",
    "setsid": lambda c: f"setsid -f bash -c {shlex.quote(c)}",
    "stdbuf": lambda c: f"stdbuf -oL bash -c {shlex.quote(c)}",
    "command": lambda c: f"command bash -c {shlex.quote(c)}",
    "exec": lambda c: f"exec bash -c {shlex.quote(c)}",
    "time": lambda c: f"time bash -c {shlex.quote(c)}",
    "busybox": lambda c: f"busybox sh -c {shlex.quote(c)}",
    "xargs": lambda c: f"echo x | xargs -I@ sh -c {shlex.quote(c)}" if "@" not in c else c,
    "xargs-shell": lambda c: f"printf '%s' {shlex.quote(c)} | xargs -0 bash -c",
    "find-exec": lambda c: f"find . -maxdepth 0 -exec sh -c {shlex.quote(c)} \\;",
    "watch": lambda c: f"watch -n 1 -g bash -c {shlex.quote(shlex.quote(c))}",
    "script": lambda c: f"script -qc {shlex.quote(c)} /dev/null",
    "flock": lambda c: f"flock /tmp/lock -c {shlex.quote(c)}",
    "su": lambda c: f"su -c {shlex.quote(c)}",
    "unknown-wrapper": lambda c: f"some-wrapper --quiet bash -c {shlex.quote(c)}",
    "python-system": lambda c: f"python3 -c {shlex.quote(f'import os; os.system({c!r})')}",
    "python-subprocess": lambda c: f"python3 -c {shlex.quote(f'import subprocess as s; s.run({c!r}, shell=True)')}",
    "python-list": lambda c: (
        f"python3 -c {shlex.quote('from subprocess import *; call(' + repr(['sh', '-c', c]) + ')')}"
    ),
    "python-stdin": lambda c: f"python3 - <<'{_end(c)}'\nimport os\nos.system({c!r})\n{_end(c)}",
    "perl": lambda c: f"perl -e {shlex.quote('system(' + _double_quoted(c) + ')')}",
    "node": lambda c: "node -e " + shlex.quote(f"require('child_process').execSync({_double_quoted(c)})"),
    "ruby": lambda c: f"ruby -e {shlex.quote('system(' + _double_quoted(c) + ')')}",
    "awk": lambda c: f"awk {shlex.quote('BEGIN { system(' + _double_quoted(c) + ') }')}",
    "file-then-run": lambda c: f"echo {shlex.quote(c)} > go.sh; bash go.sh",
    "file-then-start": lambda c: f"printf '%s\\n' '#!/bin/sh' {shlex.quote(c)} > go; chmod +x go; ./go",
    "document-then-run": lambda c: f"cat > go.sh <<'{_end(c)}'\n{c}\n{_end(c)}\nsh ./go.sh",
    "tee-then-run": lambda c: f"echo {shlex.quote(c)} | tee go.sh >/dev/null; sh go.sh",
    "git-alias": lambda c: f"git -c alias.go={shlex.quote('!' + c)} go",
    "coproc": lambda c: f"coproc bash -c {shlex.quote(c)}",
    "export-function": lambda c: f"f() {{\n{c}\n}}; export -f f; bash -c f",
    "read-eval": lambda c: f'read -r x <<< {shlex.quote(c)}; eval "$x"' if "\n" not in c and "\\" not in c else c,
    "while-read-eval": lambda c: (
        f'echo {shlex.quote(c)} | while IFS= read -r x; do eval "$x"; done' if "\n" not in c else c
    ),
    "test-and": lambda c: f"[ 1 = 1 ] && [[ a == a ]] && eval {shlex.quote(c)}",
    "arithmetic": lambda c: f"(( 1 )) && {{\n{c}\n}}",
    "nested-default": lambda c: f'echo "${{never_set:-$({c}\n)}}"',
    "assignment": lambda c: f"x=$({c}\n)",
    "here-document-expanded": lambda c: f"cat <<STOP\n$({c}\n)\nSTOP" if "\n" not in c else c,
}


def _rot13(text: str) -> str:
    out = []
    for c in text:
        base = ord("a") if c.islower() else ord("A")
        out.append(chr((ord(c) - base + 13) % 26 + base) if c.isascii() and c.isalpha() else c)
    return "".join(out)


def _double_quoted(text: str) -> str:
    return (
        '"'
        + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("$", "\\$").replace("#", "\\#")
        + '"'
    )


def _backquoted(text: str) -> str:
    return (
        text.replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$") if any(c in text for c in "\\`$") else text
    )
