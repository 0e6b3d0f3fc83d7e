"""Hostile commands without end, the same for the same seed: mutated cases, nesting, broken quotes, bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence

from .home import ROOT
from .shapes import SHAPES

SEEDS = (ROOT / "tests" / "gate" / "cases.jsonl", *sorted((ROOT / "tests" / "gate" / "harmless").glob("*.jsonl")))
LENGTH_MAX = 40_000
PIECES = (
    *"\\'\"`$(){}[]<>|&;#!~*?=,:%^@-+/ \t\n\r\0\x01\x7f",
    *("\\\n", "$(", "${", "$((", "((", "[[", "]]", "<(", ">(", "<<", "<<-", "<<<", "<>", ">|", "&>", "|&"),
    *("||", "&&", ";;", ";&", "$'", '$"', "'\\''", '"$@"', "$*", "$#", "$?", "$$", "$!", "$-", "$0"),
    *("${x:-", "${x//a/", "${#x}", "${!x}", "${x@P}", "${x[@]}", "<<E\n", "\nE\n", "<<'E'\n", "<<-\"E\"\n"),
    *("{a,b}", "{1..9}", "{a..z..2}", "!(a|b)", "?(x)", "[!a-z]", "**/", "if ", "then ", "else ", "elif "),
    *("fi", "for i in ", "do ", "done", "while ", "until ", "case x in ", "esac", "select "),
    *("function f {", "f() {", "coproc ", "time ", "! ", "exec ", "eval ", "source ", ". ", "trap '"),
    *("alias a='", "set -- ", "sudo ", "env -S '", "xargs ", "find . -exec ", "bash -c '", 'sh -c "'),
    *("python3 -c '", "perl -e '", "node -e '", "ssh h '", "base64 -d", "| sh", "| bash -s", "printf '%b'"),
    *("IFS=", "declare -n ", "read x", "local ", "export ", "unset ", "PATH=", "rm -rf ", "git push "),
    *("dd of=", "/dev/sda", "~/.ssh/id_rsa", "/etc/passwd", "~root/", "../", "//", "./", "/proc/self/"),
    *("é", "ｒｍ", "\u202e", "\u200b", "\u00a0", "\ufeff", "\U0001f600", "\udc80", "\ud800", "е", "İ", "ſ"),
    *("\u0661", "\u2028"),
)  # fmt: skip


def commands(seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    seeds = _seeds()
    while True:
        yield _one(rng, seeds)[:LENGTH_MAX]


def _seeds() -> tuple[str, ...]:
    lines = (line for file in SEEDS for line in file.read_text("utf-8").splitlines())
    return tuple(str(json.loads(line)["command"]) for line in lines)


def _one(rng: random.Random, seeds: Sequence[str]) -> str:
    kind = rng.random()
    if kind < 0.04:
        return rng.randbytes(rng.randint(0, 400)).decode("utf-8", "surrogateescape")
    if kind < 0.08:
        return SHAPES[rng.choice(tuple(SHAPES))](rng.choice((20, 200, 2_000)))
    if kind < 0.16:
        return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 60)))
    text = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 2, 2, 3, 5, 9))):
        text = rng.choice(MUTATIONS)(rng, text, seeds)
        if len(text) > LENGTH_MAX:
            break
    return text


def _inserted(rng: random.Random, text: str, _: Sequence[str]) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(PIECES) + text[at:]


def _dropped(rng: random.Random, text: str, _: Sequence[str]) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.randint(1, 8) :]


def _cut(rng: random.Random, text: str, _: Sequence[str]) -> str:
    return text[: rng.randint(0, len(text))]


def _spliced(rng: random.Random, text: str, seeds: Sequence[str]) -> str:
    other = rng.choice(seeds)
    return text[: rng.randint(0, len(text))] + other[rng.randint(0, len(other)) :]


def _words(rng: random.Random, text: str, seeds: Sequence[str]) -> str:
    """One word in the place of another."""
    words, other = text.split(" "), rng.choice(seeds).split(" ")
    words[rng.randrange(len(words))] = rng.choice(other)
    return " ".join(words)


def _repeated(rng: random.Random, text: str, _: Sequence[str]) -> str:
    start = rng.randint(0, len(text))
    piece = text[start : start + rng.randint(1, 12)]
    return text[:start] + piece * rng.choice((2, 3, 20, 200)) + text[start:]


def _joined(rng: random.Random, text: str, seeds: Sequence[str]) -> str:
    return text + rng.choice((" | ", " && ", "; ", "\n", " & ", " || ", " |& ")) + rng.choice(seeds)


def _wrapped(rng: random.Random, text: str, _: Sequence[str]) -> str:
    before, after = rng.choice(WRAPS)
    return (before + text + after) if rng.random() < 0.8 else before * rng.choice((3, 30)) + text


def _swapped(rng: random.Random, text: str, _: Sequence[str]) -> str:
    chars = list(text)
    for _time in range(min(len(chars), 3)):
        i, j = rng.randrange(len(chars)), rng.randrange(len(chars))
        chars[i], chars[j] = chars[j], chars[i]
    return "".join(chars)


def _long(rng: random.Random, text: str, _: Sequence[str]) -> str:
    return text + " " + rng.choice(("a", "-", "/a", "$x", "'", "é", "{", "*", "a=b ")) * rng.choice((50, 500, 5_000))


WRAPS = (
    *(("$(", ")"), ("`", "`"), ('"', '"'), ("'", "'"), ("(", ")"), ("{ ", "; }"), ("<(", ")")),
    *(("eval '", "'"), ("$((", "))"), ("bash -c '", "'"), ('sh -c "', '"'), ("f() {\n", "\n}; f")),
    *(("if ", "; then :; fi"), ("for i in ", "; do $i; done"), ("cat <<E\n", "\nE\n")),
    *(("bash <<'E'\n", "\nE\n"), ("x=$(", "); $x"), ("python3 -c '", "'"), ("case x in ", ") ls;; esac")),
    *(("echo ", " | sh"), ("sudo env A=1 ", ""), ("xargs -I{} sh -c '", "'"), ("${x:-", "}")),
    *(("[[ ", " ]]"), ("trap '", "' EXIT")),
)  # fmt: skip
MUTATIONS = (
    *(_inserted, _inserted, _dropped, _cut, _spliced, _words, _words, _repeated, _joined),
    *(_wrapped, _wrapped, _swapped, _long),
)
