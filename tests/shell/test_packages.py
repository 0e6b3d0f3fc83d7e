"""What brings in code: the words of package managers and runners, and what a project's manifest names already."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.core.facts import facts
from reflexd.shell.manifests import named
from reflexd.shell.packages import is_local
from reflexd.types import Context, Seen, Shell, Sighting, Want

CWD = "/home/dev/proj"


def brought(command: str, seen: Seen = Seen()) -> list[tuple[str, str]]:
    found = facts(Shell(command), Context(cwd=CWD, home="/home/dev"), seen)
    return [(effect.target, effect.detail) for effect in found.effects if effect.kind == "install"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npm i a b@2 ../c", [("a", "npm i"), ("b@2", "npm i")]),
        ("npm --prefix x --foo bar add a", [("a", "npm add")]),
        (
            "pip3.12 install -U a -r r.txt -e git+https://e.example/b",
            [("a", "pip install"), ("git+https://e.example/b", "pip install")],
        ),
        ("npx -y a@1 b c", [("a@1", "npx")]),
        ("npx -p a -p ./b tool", [("a", "npx")]),
        ("uvx --from a --with b tool", [("a", "uvx"), ("b", "uvx")]),
        ("uv run --with a,b x.py", [("a,b", "uv run")]),
        ("go get ./... e.example/a@v1", [("e.example/a@v1", "go get")]),
        ("go run ./a && go run e.example/a", []),
        ("yarn npm info a; npm view a; pip download --no-deps .", []),
    ],
)
def test_what_a_call_brings_in(command: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(brought(command)) == sorted(expected)


@pytest.mark.parametrize(
    "word", [".", "..", "./a", "../a", "/a", "~/a", ".[dev]", "file:a", "a@file:../a", "a.tgz", "d/a.whl", "./..."]
)
def test_words_for_what_lies_here(word: str) -> None:
    assert is_local(word)


@pytest.mark.parametrize(
    "word",
    [
        "a",
        "@a/b",
        "a@1",
        "a/b",
        "a==1",
        "https://e.example/a.tgz",
        "git+ssh://e.example/a",
        "file://host/a",
        "a.b",
        "-",
    ],
)
def test_words_for_what_does_not(word: str) -> None:
    assert not is_local(word)


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (
            "package.json",
            '{"name": "x", "scripts": {"s": "t"}, "dependencies": {"A": "1"}, "devDependencies": {"@b/c": "2"}}',
            {"a", "@b/c"},
        ),
        ("composer.json", '{"require": {"a/b": "1"}, "require-dev": {"c/d": "1"}}', {"a/b", "c/d"}),
        (
            "Cargo.toml",
            '[package]\nname = "x"\n[dependencies]\na = "1"\n[target.x.dev-dependencies]\nb = {path = "y"}',
            {"a", "b"},
        ),
        (
            "pyproject.toml",
            '[project]\ndependencies = ["a>=1", "b[c]"]\n[dependency-groups]\nd = ["e", {include-group = "f"}]',
            {"a", "b", "e"},
        ),
        (
            "pyproject.toml",
            '[tool.poetry.group.d.dependencies]\na = "1"\n[tool.uv]\ndev-dependencies = ["b"]',
            {"a", "b"},
        ),
        ("requirements.txt", "a==1\n# b\n-r c.txt\nd @ https://e.example/d\n e [f] ; x", {"a", "e"}),
        (
            "go.mod",
            "module e.example/x\n\nrequire e.example/a v1\nrequire (\n\te.example/b v1 // indirect\n)\n",
            {"e.example/a", "e.example/b"},
        ),
        ("Gemfile", "source 'x'\ngem 'a'\n  gem \"b\", '1'\n# gem 'c'\n", {"a", "b"}),
        ("package.json", "[", set()),
        ("Cargo.toml", "[", set()),
    ],
)
def test_what_a_manifest_names(file: str, text: str, expected: set[str]) -> None:
    assert named(f"{CWD}/{file}", text) == expected


def test_what_the_project_names_is_its_choice_unless_it_is_for_all_or_comes_from_elsewhere() -> None:
    text = json.dumps({"dependencies": {"a": "1"}})
    seen = Seen(((Want("file", f"{CWD}/package.json"), Sighting(text=text)),))
    assert brought("npm i a@2", seen) == []
    assert brought("npm i -g a", seen) == [("a", "npm i")]
    assert brought("npm i a@npm:b", seen) == [("a@npm:b", "npm i")]
    assert brought("npm i b", seen) == [("b", "npm i")]


FILES = st.sampled_from(["package.json", "Cargo.toml", "pyproject.toml", "requirements.txt", "go.mod", "Gemfile"])


@settings(max_examples=200, deadline=None)
@given(
    FILES,
    st.text(max_size=120)
    | st.recursive(
        st.none() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["dependencies", "a", "project"]), inner, max_size=3)
        ),
    ).map(json.dumps),
)
def test_any_text_names_what_it_names(file: str, text: str) -> None:
    assert isinstance(named(file, text), frozenset)


WORDS = st.sampled_from(
    [
        "npx",
        "npm",
        "exec",
        "i",
        "-y",
        "-p",
        "--package=a",
        "--",
        "a@1",
        "uv",
        "run",
        "--with",
        "uvx",
        "pip",
        "install",
        "-r",
        "x",
        "go",
        "pnpm",
        "dlx",
        "''",
        "-",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=8).map(" ".join))
def test_any_words_have_facts(command: str) -> None:
    found = facts(Shell(command), Context(cwd=CWD, home="/home/dev"))
    assert "failed" not in found.opaque
