"""Awkward lines: the programs that really run in each, and the files it redirects to.

parse.jsonl: `names` are those of every program, function and wrapped command in it, or null where the line is
not valid shell; `opaque`: what runs can only be told in part. The same lines go through bash itself and through
shfmt's parser, which must not know of a command that the reader does not.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.shell.calls import Reading
from reflexd.shell.fields import PIPED, decode_ansi_c, shown
from reflexd.shell.interpret import read

HERE = Path(__file__).parent
CASES = [json.loads(line) for line in (HERE / "parse.jsonl").read_text().splitlines()]
GATE = [json.loads(line)["command"] for line in (HERE.parent / "gate" / "cases.jsonl").read_text().splitlines()]
SHFMT = str(Path(sys.executable).with_name("shfmt"))
"""The program of shfmt-py, one of the development requirements."""

BASH = shutil.which("bash") or ""
MARK = "\x1e"
RENAMED = {"", "./x", "=rm"}
"""Names in the cases for a program that the reader calls by its own: a link or a copy made in the line, zsh's =rm."""


def reading(text: str, cwd: str = "/home/dev/proj") -> Reading:
    return read(text, cwd, "/home/dev", {})


def names(found: Reading) -> list[str]:
    return [shown(call.argv[0]) for call in found.calls if call.argv]


def files(found: Reading) -> list[str]:
    made = [redirect for call in found.calls for redirect in call.redirects if redirect.target]
    return [
        shown(redirect.target)
        for redirect in made
        if not redirect.target.startswith(PIPED)
        and not (redirect.op.endswith("&") and re.fullmatch(r"\d+-?|-", redirect.target))
    ]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_line_runs_what_it_should(case: dict[str, object]) -> None:
    found = reading(str(case["command"]))
    if case["names"] is None:
        assert found.broken
        assert found.opaque
        return
    assert Counter(names(found)) == Counter(case["names"])  # type: ignore[arg-type]
    assert Counter(files(found)) == Counter(case["redirects"])  # type: ignore[arg-type]
    assert bool(found.opaque) == bool(case.get("opaque"))


# ---- bash --------------------------------------------------------------------------------


def traced(text: str, cwd: Path) -> list[str]:
    """The names of the commands that bash runs for `text`, with no program to be found."""
    log = cwd.parent / "trace"
    code = f"command_not_found_handle() {{ : {MARK}; }}\nexec 47>{log}; BASH_XTRACEFD=47; PS4='{MARK}'; set -x\n{text}"
    env = {"PATH": str(cwd.parent / "nothing"), "HOME": "/home/dev", "LC_ALL": "C.UTF-8"}
    subprocess.run(
        [BASH, "-c", code], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
    )
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return [name for line in lines if line.startswith(MARK) and (name := _traced_name(line.lstrip(MARK)))]


_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'")
_NO_COMMAND = re.compile(r"\w+(?:\[[^]]*\])?\+?=|\(\(|\[\[ |(?:for|case|select) .* in |: [$']*(?:\x1e|\\036)")


def _traced_name(line: str) -> str:
    """Empty for what is no command: assignments, tests, arithmetic, the heads of loops, our own handler."""
    if _NO_COMMAND.match(line):
        return ""
    ansi = _ANSI.match(line)
    if ansi:
        return decode_ansi_c(ansi[1])
    word = re.match(r"((?:'[^']*'|\\.|[^\s'\\])+|'')", line)
    return re.sub(r"'([^']*)'|\\(.)", lambda m: m[1] if m[1] is not None else m[2], word[1]) if word else ""


# A line is given to bash only where nothing in it can reach beyond its directory: bash finds no program there, but it
# would start one named by its path, and kill, exec and functions are its own.
_REACHES = re.compile(r"[/~]|kill|exec|\(\)|function|ulimit|coproc|trap|&\s*$|suspend|logout")
CONTAINED = [case for case in CASES if not _REACHES.search(str(case["command"]))]


@pytest.mark.skipif(not BASH, reason="no bash to compare with")
@pytest.mark.parametrize("case", CONTAINED, ids=[case["id"] for case in CONTAINED])
def test_what_bash_runs_is_found(case: dict[str, str], tmp_path: Path) -> None:
    cwd = tmp_path / "cwd"
    cwd.mkdir()
    ran = traced(case["command"], cwd)
    found = reading(case["command"], str(cwd))
    missing = Counter(ran).keys() - set(names(found))
    assert not missing or found.opaque
    left = {path.name for path in cwd.iterdir()}
    assert left <= {file.rpartition("/")[2] for file in files(found)} or found.opaque


# ---- shfmt -------------------------------------------------------------------------------


def shfmt_names(text: str) -> set[str] | None:
    """The literal names of the commands in shfmt's tree, outside of functions; None where it cannot parse."""
    done = subprocess.run([SHFMT, "--to-json", "-ln", "bash"], input=text.encode(), capture_output=True, check=False)
    return set(_call_names(json.loads(done.stdout))) if done.returncode == 0 else None


def _call_names(node: object) -> Iterator[str]:
    pending = [node]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            if node.get("Type") == "FuncDecl":
                continue
            if node.get("Type") == "CallExpr" and node.get("Args"):
                name = _literal(node["Args"][0].get("Parts", []))
                if name is not None:
                    yield name
            pending.extend(node.values())


def _literal(parts: list[dict[str, object]]) -> str | None:
    out = []
    for part in parts:
        match part:
            case {"Type": "Lit", "Value": str(value)}:
                if re.search(r"[*?\[{~]", value):
                    return None
                out.append(re.sub(r"\\(\n|.)", lambda m: "" if m[1] == "\n" else m[1], value))
            case {"Type": "SglQuoted", **rest}:
                value = str(rest.get("Value", ""))
                out.append(decode_ansi_c(value) if rest.get("Dollar") else value)
            case {"Type": "DblQuoted", **rest}:
                inner = rest.get("Parts") or []
                if not isinstance(inner, list) or any(piece.get("Type") != "Lit" for piece in inner):
                    return None
                out.extend(re.sub(r"\\([$`\"\\])", r"\1", str(piece["Value"])) for piece in inner)
            case _:
                return None
    return "".join(out)


def missed(text: str) -> set[str]:
    """Commands that shfmt knows of and the reader neither has nor owns up to not having."""
    theirs = shfmt_names(text)
    found = reading(text)
    return set() if theirs is None or found.opaque else theirs - set(names(found)) - RENAMED


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_what_shfmt_finds_is_found(case: dict[str, str]) -> None:
    assert missed(case["command"]) == set()


def test_what_shfmt_finds_in_the_gates_cases_is_found() -> None:
    assert {text: lost for text in GATE if (lost := missed(text))} == {}


WORDS = ["a", "b1", "'c d'", '"e"', "$x", '"$@"', "${y:-f}", "{g,h}", "*.c", "\\i", "$'j\\x6b'", "~", "k=l", "#m", "-n"]
SMALL = st.sampled_from(["p", "q", "echo", "true", "'r'", "s\\t", "x=1", "x=1 p", "eval p"])
ENDS = st.sampled_from([";", "\n", " &", " &&", " ||", " |", " |&", " && \\\n", " ; # c\n"])
REDIRECTS = st.sampled_from(["", " >f", " 2>&1", " >>f", " <g", " &>f", " >|f", " <<<w", " 3>f", " {v}>f"])


def composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{}{} {}".format, inner, ENDS, inner),
        st.builds("( {} ){}".format, inner, REDIRECTS),
        st.builds("{{ {}\n}}{}".format, inner, REDIRECTS),
        st.builds("if {}\nthen {}\nelse {}\nfi".format, inner, inner, inner),
        st.builds("while {}\ndo {}\nbreak; done".format, inner, inner),
        st.builds("for v in 1 $x; do {}\ndone{}".format, inner, REDIRECTS),
        st.builds("case $x in a|b) {}\n;; *) {}\n;; esac".format, inner, inner),
        st.builds("f() {{ {}\n}}; f w".format, inner),
        st.builds('echo $({}\n) "$({}\n)"'.format, inner, inner),
        st.builds("cat <({}\n)".format, inner),
        st.builds("v=$({}\n)".format, inner),
        st.builds("cat <<E\n$({}\n)\nE\n".format, inner),
        st.builds("cat <<-'E' | p\n{}\nE\n".format, inner),
        st.builds("[[ -n $({}\n) ]] && {}".format, inner, inner),
        st.builds("! {}".format, inner),
    )


LINES = st.recursive(
    st.builds("{} {}{}".format, SMALL, st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join), REDIRECTS),
    composed,
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(LINES)
def test_what_shfmt_finds_in_any_line_is_found(text: str) -> None:
    assert missed(text) == set()


@pytest.mark.skipif(not BASH, reason="no bash to compare with")
@settings(max_examples=150, deadline=None)
@given(text=LINES)
def test_what_bash_runs_in_any_line_is_found(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    cwd = tmp_path_factory.mktemp("line") / "cwd"
    cwd.mkdir()
    found = reading(text, str(cwd))
    assert found.opaque or set(traced(text, cwd)) <= set(names(found))
