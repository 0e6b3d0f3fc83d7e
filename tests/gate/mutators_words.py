"""Other spellings of a plain command's words.

NAME: of the program's name alone, whatever follows. WORDS: of every word; needs a command without
quotes and operators.
"""

from __future__ import annotations

from tests.gate.mutators_text import PLAIN_WORD, Mutator, b64, half, hexa, octal, quote


def _name(change: Mutator) -> Mutator:
    """Changes the program's name alone."""

    def mutate(command: str) -> str:
        name, space, rest = command.partition(" ")
        return change(name) + space + rest

    return mutate


def _held(make: Mutator, use: str) -> Mutator:
    """The name goes through a variable: made first, used in its place."""

    def mutate(command: str) -> str:
        name, space, rest = command.partition(" ")
        return f"{make(name)}; {use}{space}{rest}"

    return mutate


def _each(change: Mutator) -> Mutator:
    """Every word that means itself; a pattern or a tilde would lose its meaning in quotes."""
    return lambda c: " ".join(change(word) if PLAIN_WORD.match(word) else word for word in c.split(" "))


def _without(marks: str, change: Mutator) -> Mutator:
    return lambda c: c if any(mark in c for mark in marks) else change(c)


def _letters(name: str) -> str:
    return "q" + "q".join(name) + "q"


def _taken(name: str) -> str:
    return "".join(f"${{x:{2 * i + 1}:1}}" for i in range(len(name)))


def _slots(words: list[str]) -> str:
    return " ".join(f"w{i}={word}" for i, word in enumerate(words))


NAME: dict[str, Mutator] = {
    "backslash": _name(lambda name: "\\" + name),
    "backslashes": _name(lambda name: "".join("\\" + c if c.isalpha() else c for c in name)),
    "empty-quotes": _name(lambda name: name[:1] + "''" + name[1:]),
    "empty-double-quotes": _name(lambda name: name[:1] + '""' + name[1:]),
    "empty-ansi-quotes": _name(lambda name: name[:1] + "$''" + name[1:]),
    "locale-quotes": _name(lambda name: f'$"{name}"'),
    "letters-quoted": _name(lambda name: "".join(f"'{c}'" for c in name)),
    "name-unicode": _name(lambda name: "$'" + "".join(f"\\u{ord(c):04x}" for c in name) + "'"),
    "name-long-unicode": _name(lambda name: "$'" + "".join(f"\\U{ord(c):08x}" for c in name) + "'"),
    "name-mixed-quotes": _name(lambda name: f"\"{name[:1]}\"$'{octal(name[1:])}'"),
    "empty-variable": _name(lambda name: name[:1] + "${nothing}" + name[1:]),
    "empty-parameters": _name(lambda name: name[:1] + "$@$*" + name[1:]),
    "empty-substitution": _name(lambda name: name[:1] + "$(true)" + name[1:]),
    "empty-backquotes": _name(lambda name: name[:1] + "`:`" + name[1:]),
    "name-variable": _held(lambda name: f"x={name}", "$x"),
    "name-in-halves": _held(lambda name: f"a={half(name)[0]} b={half(name)[1]}", "$a$b"),
    "name-appended": _held(lambda name: f"x={half(name)[0]}; x+={half(name)[1]}", "$x"),
    "name-substituted": _name(lambda name: f"$(echo {name})"),
    "name-backquoted": _name(lambda name: f"`echo {name}`"),
    "name-printf": _name(lambda name: f"$(printf '{octal(name)}')"),
    "name-printf-v": _held(lambda name: f"printf -v x %s {name}", "$x"),
    "name-printf-pieces": _name(lambda name: f"$(printf %s%s {half(name)[0]} {half(name)[1]})"),
    "name-printf-numbers": _name(
        lambda name: "$(printf \"$(printf '\\\\%o' " + " ".join(str(ord(c)) for c in name) + ')")'
    ),
    "name-echo-hex": _name(lambda name: f"$(echo -e '{hexa(name)}')"),
    "name-base64": _name(lambda name: f"$(base64 -d <<< {b64(name)})"),
    "name-hex": _name(lambda name: f"$(xxd -r -p <<< {name.encode().hex()})"),
    "name-reversed": _name(lambda name: f"$(echo {name[::-1]} | rev)"),
    "name-shifted": _name(
        lambda name: (
            f"$(echo {''.join(chr(ord(c) - 1) if 'b' <= c <= 'z' else c for c in name)} | tr a-y b-z)"
            if name.isascii() and not any(c in "a" for c in name)
            else name
        )
    ),
    "name-sed": _name(lambda name: f"$(echo {name[:1]}@{name[1:]} | sed s/@//)"),
    "name-cut-out": _name(lambda name: f"$(echo x:{name}:y | cut -d: -f2)"),
    "name-awk": _name(lambda name: f"$(awk 'BEGIN {{ print \"{name}\" }}')"),
    "name-cut": _held(lambda name: f"x=__{name}", "${x#__}"),
    "name-cut-end": _held(lambda name: f"x={name}__", "${x%__}"),
    "name-cut-longest": _held(lambda name: f"x=/any/where/{name}", "${x##*/}"),
    "name-slice": _held(lambda name: f"x=__{name}", "${x:2}"),
    "name-letters": lambda c: f"x={_letters(c.split(' ')[0])}; {_taken(c.split(' ')[0])}{c[len(c.split(' ')[0]) :]}",
    "name-replaced": _held(lambda name: f"x={name[:1]}__{name[1:]}", "${x/__/}"),
    "name-replaced-all": _held(lambda name: "x=_" + "_".join(name), "${x//_}"),
    "name-lower": _held(lambda name: f"x={name.upper()}", "${x,,}"),
    "name-lower-first": _held(lambda name: f"x={name[:1].upper()}{name[1:]}", "${x,}"),
    "name-declared-lower": _held(lambda name: f"declare -l x={name.upper()}", "$x"),
    "name-at-lower": _held(lambda name: f"x={name.upper()}", "${x@L}"),
    "name-at-escapes": _held(lambda name: f"x='{hexa(name)}'", "${x@E}"),
    "name-at-prompt": _held(lambda name: f"x={name}", "${x@P}"),
    "name-default": _name(lambda name: f"${{never_set_here:-{name}}}"),
    "name-default-assigned": _name(lambda name: f"${{never_set_here:={name}}}"),
    "name-alternative": lambda c: f"x=1; ${{x:+{c.partition(' ')[0]}}} {c.partition(' ')[2]}",
    "name-indirect": _held(lambda name: f"y={name} x=y", "${!x}"),
    "name-reference": _held(lambda name: f"y={name}; declare -n x=y", "$x"),
    "name-array": _held(lambda name: f"a=({name})", "${a[0]}"),
    "name-array-later": _held(lambda name: f"a=(x y); a+=({name})", "${a[2]}"),
    "name-array-index": _held(lambda name: f"a[7]={name}", "${a[7]}"),
    "name-array-counted": _held(lambda name: f"a=(x {name}); i=0", "${a[i+1]}"),
    "name-array-last": _held(lambda name: f"a=(x {name})", "${a[-1]}"),
    "name-keyed-array": _held(lambda name: f"declare -A m=([k]={name})", "${m[k]}"),
    "name-array-joined": _held(lambda name: f'a=({" ".join(name)}); IFS=; x="${{a[*]}}"; unset IFS', "$x"),
    "name-read": _held(lambda name: f"read -r x <<< {name}", "$x"),
    "name-read-document": lambda c: f"read -r x <<'E'\n{c.partition(' ')[0]}\nE\n$x {c.partition(' ')[2]}",
    "name-read-array": _held(lambda name: f"IFS=, read -ra a <<< {half(name)[0]},{half(name)[1]}", "${a[0]}${a[1]}"),
    "name-mapfile": _held(lambda name: f"mapfile -t a <<< {name}", "${a[0]}"),
    "name-positional": lambda c: f"set -- {c.partition(' ')[0]}; $1 {c.partition(' ')[2]}",
    "name-matched": _held(lambda name: f"[[ x{name} =~ x(.*) ]]", "${BASH_REMATCH[1]}"),
    "name-looped": lambda c: f"for x in {c.partition(' ')[0]}; do $x {c.partition(' ')[2]}\ndone",
    "name-in-file": _held(lambda name: f"echo {name} > w", "$(cat w)"),
    "name-in-file-read": _held(lambda name: f"echo {name} > w; read -r x < w", "$x"),
    "name-in-file-opened": _held(lambda name: f"echo {name} > w", "$(<w)"),
    "name-path": _name(lambda name: f"/usr/bin/{name}"),
    "name-odd-path": _name(lambda name: f"/usr/./bin/../bin//{name}"),
    "name-process-path": _name(lambda name: f"/proc/self/root/usr/bin/{name}"),
    "name-pattern": _name(lambda name: f"/usr/bin/{name[:-1]}?"),
    "name-class": _name(lambda name: f"/usr/bin/{name[:-1]}[{name[-1]}]"),
    "name-directory-pattern": _name(lambda name: f"/us?/b[i]n/{name}"),
    "name-brace-range": _name(lambda name: f"{name[:-1]}{{{name[-1]}..{name[-1]}}}" if name[-1].isalpha() else name),
    "name-extended-pattern": lambda c: f"shopt -s extglob\n/usr/bin/@({c.partition(' ')[0]}) {c.partition(' ')[2]}",
    "name-which": _name(lambda name: f"$(which {name})"),
    "name-command-v": _name(lambda name: f'"$(command -v {name})"'),
    "name-type": _name(lambda name: f"$(type -P {name})"),
    "continuation-inside": _name(lambda name: name[:1] + "\\\n" + name[1:]),
    "continuation-everywhere": _name("\\\n".join),
    "redirect-first": lambda c: f"2>/dev/null {c}",
    "redirect-inside": lambda c: f"{c.partition(' ')[0]} 2>/dev/null {c.partition(' ')[2]}",
    "input-first": lambda c: f"</dev/null {c}",
    "assignment-first": lambda c: f"A=1 B=2 {c}",
    "path-first": lambda c: f"PATH=/usr/bin:/bin {c}",
    "alias": lambda c: f"shopt -s expand_aliases; alias go='{c.partition(' ')[0]}'\ngo {c.partition(' ')[2]}",
    "alias-of-harmless": lambda c: (
        f"shopt -s expand_aliases; alias ls='{c.partition(' ')[0]}'\nls {c.partition(' ')[2]}"
    ),
    "function-as-harmless": lambda c: f'ls() {{ {c.partition(" ")[0]} "$@"; }}; ls {c.partition(" ")[2]}',
    "function-as-builtin": lambda c: f'test() {{ {c.partition(" ")[0]} "$@"; }}; test {c.partition(" ")[2]}',
    "hash": lambda c: f"hash -p /usr/bin/{c.partition(' ')[0]} go; go {c.partition(' ')[2]}",
    "copy": lambda c: f"cp /usr/bin/{c.partition(' ')[0]} ./go; ./go {c.partition(' ')[2]}",
    "link": lambda c: f"ln -s /usr/bin/{c.partition(' ')[0]} go && ./go {c.partition(' ')[2]}",
    "link-on-path": lambda c: f"ln -s /usr/bin/{c.partition(' ')[0]} go; PATH=.:$PATH; go {c.partition(' ')[2]}",
    "cat-copy": lambda c: f"cat /usr/bin/{c.partition(' ')[0]} > go; chmod +x go; ./go {c.partition(' ')[2]}",
    "last-word": lambda c: f": {c.partition(' ')[0]}; $_ {c.partition(' ')[2]}",
    "loader": _name(lambda name: f"/lib64/ld-linux-x86-64.so.2 /usr/bin/{name}"),
    **{
        f"prefix-{prefix.split()[0]}": _name(lambda name, prefix=prefix: f"{prefix} {name}")  # type: ignore[misc]
        for prefix in (
            "command",
            "exec -a ls",
            "env -i HOME=$HOME PATH=/usr/bin:/bin",
            "nice -n 5",
            "ionice -c 3",
            "nohup",
            "setsid -w",
            "stdbuf -o L",
            "timeout -s KILL 9",
            "time -p",
            "taskset 1",
            "chrt -o 0",
            "setarch -R",
            "unshare --user",
            "setpriv --no-new-privs",
            "prlimit --nofile=99",
            "strace -f -o /dev/null",
            "sudo -n",
            "doas",
            "chroot /",
            "systemd-run --user --wait",
            "choom -n 9 --",
            "bwrap --dev-bind / / --",
            "busybox",
            "some-wrapper --quiet",
        )
    },
}

WORDS: dict[str, Mutator] = {
    "double-quotes": _each(lambda word: f'"{word}"'),
    "single-quotes": _each(lambda word: f"'{word}'"),
    "half-quotes": _each(lambda word: f"{half(word)[0]}'{half(word)[1]}'"),
    "letters-in-quotes": _each(lambda word: "".join(f'"{c}"' for c in word)),
    "letters-escaped": _each(lambda word: "".join(f"\\{c}" for c in word)),
    "ansi-hex": _each(lambda word: f"$'{hexa(word)}'"),
    "ansi-octal": _each(lambda word: f"$'{octal(word)}'"),
    "ansi-unicode": _each(lambda word: "$'" + "".join(f"\\u{ord(c):x}" for c in word) + "'"),
    "every-word-substituted": _each(lambda word: f"$(printf %s {word})"),
    "every-word-default": _each(lambda word: f"${{never_set_here:-{word}}}"),
    "every-word-variable": lambda c: "{}; {}".format(
        _slots([w for w in c.split() if PLAIN_WORD.match(w)]),
        " ".join(_numbered(c.split())),
    ),
    "words-brace": _without("~", lambda c: "{" + ",".join(c.split()) + "}"),
    "words-brace-nested": _without(
        "~", lambda c: "{{{},{{{}}}}}".format(c.split()[0], ",".join(c.split()[1:])) if c.count(" ") > 1 else c
    ),
    "words-ifs": _without("~", lambda c: c.replace(" ", "${IFS}")),
    "words-ifs-piece": _without("~", lambda c: c.replace(" ", "${IFS:0:1}")),
    "words-ifs-own": _without("~,", lambda c: f"IFS=,; x={c.replace(' ', ',')}; $x"),
    "words-variable": _without("~", lambda c: f"x='{c}'; $x"),
    "words-substituted": _without("~", lambda c: f"$(echo '{c}')"),
    "words-backquoted": _without("~", lambda c: f"`echo '{c}'`"),
    "words-document": _without("~", lambda c: f"$(cat <<'E'\n{c}\nE\n)"),
    "words-array": lambda c: f'a=({c}); "${{a[@]}}"',
    "words-array-grown": lambda c: f'a=({c.split()[0]}); a+=({" ".join(c.split()[1:])}); "${{a[@]}}"',
    "words-array-slice": lambda c: f'a=(x y {c}); "${{a[@]:2}}"',
    "words-array-looped": lambda c: f'a=(); for w in {c}; do a+=("$w"); done; "${{a[@]}}"',
    "words-array-counted": lambda c: f'a=({c}); "${{a[0]}}" "${{a[@]:1}}"',
    "words-positional": lambda c: f'set -- {c}; "$@"',
    "words-positional-star": lambda c: f"set -- {c}; $*",
    "words-positional-slice": lambda c: f'set -- x {c}; "${{@:2}}"',
    "words-positional-shift": lambda c: f'set -- x {c}; shift; "$@"',
    "words-positional-function": lambda c: f'f() {{ "$@"; }}; f {c}',
    "words-positional-function-shift": lambda c: f'f() {{ shift 2; "$@"; }}; f x y {c}',
    "words-positional-shell": lambda c: f"bash -c '\"$@\"' x {c}",
    "words-positional-zero": lambda c: f'bash -c \'"$0" "$@"\' {c}',
    "words-read-array": _without("~*", lambda c: f"read -ra a <<< '{c}'; \"${{a[@]}}\""),
    "words-mapfile": lambda c: f"mapfile -t a < <(printf '%s\\n' {c}); \"${{a[@]}}\"",
    "words-tabs": lambda c: c.replace(" ", "\t\t"),
    "continuation": lambda c: c.replace(" ", " \\\n  "),
    "trailing-comment": lambda c: f"{c} # nothing to see",
    "xargs-name": lambda c: f"printf '%s ' {c.partition(' ')[2]} | xargs {c.partition(' ')[0]}",
    "xargs-words": lambda c: f"echo {c} | xargs env",
    "xargs-zero": lambda c: f"printf '%s\\0' {c.partition(' ')[2]} | xargs -0 {c.partition(' ')[0]}",
    "xargs-words-file": lambda c: f"xargs -a <(printf '%s ' {c.partition(' ')[2]}) {c.partition(' ')[0]}",
    "xargs-lines": lambda c: f"printf '%s\\n' {c.partition(' ')[2]} > w; xargs {c.partition(' ')[0]} < w",
    "find-exec-words": lambda c: f"find . -maxdepth 0 -exec {c} \\;",
    "find-execdir-words": lambda c: f"find . -maxdepth 0 -execdir {c} ';'",
    "parallel-words": lambda c: f"parallel {c.partition(' ')[0]} ::: '{c.partition(' ')[2]}'" if "~" not in c else c,
    "python-words": _without(
        "~*", lambda c: "python3 -c " + quote(f"import subprocess; subprocess.run({c.split()!r})")
    ),
    "python-exec-words": _without(
        "~*", lambda c: "python3 -c " + quote(f"import os; os.execvp({c.split()[0]!r}, {c.split()!r})")
    ),
    "python-split": _without("~*", lambda c: "python3 -c " + quote(f"import subprocess as s; s.call({c!r}.split())")),
    "perl-words": _without("~*", lambda c: f"perl -e 'exec qw({c})'"),
    "node-words": _without(
        "~*",
        lambda c: "node -e " + quote(f"require('child_process').spawnSync({c.split()[0]!r}, {c.split()[1:]!r})"),
    ),
    "ruby-words": _without("~*", lambda c: f"ruby -e 'exec(*%w[{c}])'"),
}


def _numbered(words: list[str]) -> list[str]:
    found, number = [], 0
    for word in words:
        if PLAIN_WORD.match(word):
            found.append(f"$w{number}")
            number += 1
        else:
            found.append(word)
    return found
