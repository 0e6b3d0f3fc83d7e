"""Scripts that projects describe: package.json, composer.json, deno.json, pyproject.toml and justfiles."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.shell import justfile, packagejson, pyscripts, taskfile
from reflexd.shell.calls import Local
from reflexd.shell.carriers import Unwrapped
from reflexd.shell.local import READERS


def local(*words: str) -> Local:
    return Local("", "/p/file", "file", words)


def plain(unwrapped: Unwrapped) -> list[str]:
    return [code.removeprefix("(").strip("\n").removesuffix(")").strip("\n") for code in unwrapped.code]


def package(words: tuple[str, ...], **scripts: str) -> list[str]:
    return plain(packagejson.read(json.dumps({"scripts": scripts}), local(*words)))


@pytest.mark.parametrize(
    ("words", "scripts", "expected"),
    [
        (("a",), {"a": "ls"}, ["ls"]),
        (("a", "-x", "y z"), {"a": "ls"}, ["ls -x 'y z'"]),
        (("a",), {"posta": "3", "a": "2", "prea": "1"}, ["1", "2", "3"]),
        (("gone",), {"a": "ls"}, []),
        (("a",), {"a": "run-s b c", "b": "rm b", "c": "rm c"}, ["run-s b c", "rm b", "rm c"]),
        (("a",), {"a": "npm-run-all -p 'x:*'", "x:1": "rm 1", "y": "rm y"}, ["npm-run-all -p 'x:*'", "rm 1"]),
        (
            ("a",),
            {"a": 'concurrently "npm:b" "yarn:x:*"', "b": "1", "x:y": "2"},
            ['concurrently "npm:b" "yarn:x:*"', "1", "2"],
        ),
        (("a",), {"a": "run-s a"}, ["run-s a"]),
    ],
)
def test_what_a_package_script_runs(words: tuple[str, ...], scripts: dict[str, str], expected: list[str]) -> None:
    assert package(words, **scripts) == expected


def test_installing_runs_the_package_s_own_hooks_and_no_other_script() -> None:
    text = json.dumps({"scripts": {"postinstall": "3", "preinstall": "1", "prepare": "4", "install": "2", "test": "x"}})
    assert plain(packagejson.read_install(text, local())) == ["1", "2", "3", "4"]


@pytest.mark.parametrize("text", ["", "[", "[]", "1", '{"scripts": ', "[" * 100_000, '{"a":' * 100_000])
def test_what_is_no_description_is_said(text: str) -> None:
    assert packagejson.read(text, local("a")).opaque
    assert not packagejson.read(text, local("a")).code


@pytest.mark.parametrize(
    "text", ["{}", '{"scripts": []}', '{"scripts": {"a": 1}}', '{"scripts": {"a": null}}', "\ufeff{}"]
)
def test_a_description_without_the_script_runs_nothing(text: str) -> None:
    assert packagejson.read(text, local("b")) == Unwrapped()


def test_composer_and_deno_write_scripts_in_their_own_way() -> None:
    text = json.dumps({"scripts": {"a": ["@php x", "@b"], "b": "rm b"}})
    assert plain(packagejson.read_composer(text, local("a", "y"))) == ["php x && @b y", "rm b"]
    text = json.dumps({"tasks": {"a": "rm a", "b": {"command": "rm b"}}})
    assert plain(packagejson.read_deno(text, local("b"))) == ["rm b"]


@pytest.mark.parametrize(
    ("tool", "text", "expected"),
    [
        ("poe", '[tool.poe.tasks]\na = "ls"\n', ["ls"]),
        ("poe", '[tool.poe.tasks.a]\nshell = "ls | wc"\n', ["ls | wc"]),
        ("poe", '[tool.poe.tasks]\na = ["b", "c"]\nb = "rm b"\nc.cmd = "rm c"\n', ["b", "c", "rm b", "rm c"]),
        ("pdm", '[tool.pdm.scripts]\na = {composite = ["b"]}\nb = "rm b"\npre_a = "1"\n', ["1", "b", "rm b"]),
        ("hatch", '[tool.hatch.envs.x.scripts]\na = "ls"\n', ["ls"]),
        ("rye", '[tool.rye.scripts]\na = {cmd = ["rm", "x"]}\n', ["rm x"]),
        ("poe", '[tool.pdm.scripts]\na = "ls"\n', []),
    ],
)
def test_what_a_python_project_s_script_runs(tool: str, text: str, expected: list[str]) -> None:
    assert [line.strip() for line in plain(pyscripts.read(text, local(tool, "a")))] == expected


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("a:\n  ls\n", (), ["ls"]),
        ("a:\n  ls\nb:\n  rm b\n", ("b",), ["rm b"]),
        ("a: b\n  ls\nb:\n  rm b\n", ("a",), ["rm b", "ls"]),
        ("a: (b 'x')\n  ls\nb y:\n  rm b\n", ("a",), ["rm b", "ls"]),
        ("a x y='2':\n  rm {{x}} {{ y }}\n", ("a", "1"), ["rm 1 2"]),
        ("a x:\n  rm {{x}}\n", ("a",), ["rm ${RANDOM}"]),
        ("d := 'out'\na:\n  rm {{d}}\n", ("d=in", "a"), ["rm in"]),
        ("d := `rm x`\na:\n  ls {{d}}\n", (), ["rm x", "ls $(rm x)"]),
        ("alias b := a\na:\n  ls\n", ("b",), ["ls"]),
        ("a:\n  @-ls \\\n    -l\n", (), ["ls -l"]),
        ("[private]\n# x\nset shell := ['bash', '-c']\nexport X := 'y'\na:\n  ls\n", (), ["ls"]),
        ("a x='b:c':\n  rm {{x}}\n", ("a",), ["rm b:c"]),
    ],
)
def test_what_a_justfile_runs(text: str, words: tuple[str, ...], expected: list[str]) -> None:
    assert plain(justfile.read(text, local(*words))) == expected


def test_a_recipe_for_another_program_is_given_to_it() -> None:
    assert justfile.read("a:\n  #!/usr/bin/env python3\n  print(1)\n", local()).commands == (
        ("python3", "-c", "print(1)"),
    )
    assert justfile.read("set shell := ['python3', '-c']\na:\n  print(1)\n", local()).commands == (
        ("python3", "-c", "print(1)"),
    )
    assert justfile.read("import 'x.just'\na:\n  ls\n", local()).opaque


TASKS = """version: '3'
vars:
  NOW:
    sh: rm now
tasks:
  default:
    deps: [lint, "test"]
    cmds:
      - echo {{.NOW}}
      - task: build
      - cmd: rm "x y"
      - |
        rm a
        rm b
  lint: rm lint
  test:
    desc: "rm: no command"
    cmds:
    - 'rm test'
  build:
    cmd: rm build
    env: {A: rm env}
"""


def test_what_a_taskfile_runs() -> None:
    assert plain(taskfile.read(TASKS, local("test"))) == ["rm now", "rm test"]
    ran = ["rm now", "rm lint", "rm test", "rm build", "echo ${RANDOM}", 'rm "x y"', "rm a\nrm b"]
    assert plain(taskfile.read(TASKS, local())) == ran
    assert plain(taskfile.read(TASKS, local("gone"))) == ["rm now"]
    assert taskfile.read("includes:\n  x: ./x\n", local()).opaque


def test_what_a_table_of_tasks_runs() -> None:
    text = '[tasks]\nc = "rm c"\na = {run = ["rm a", "ls"], depends = ["b"]}\nb = {command = "rm", args = ["b"]}\n'
    assert plain(taskfile.read_toml(text, local("a"))) == ["rm b", "rm a", "ls"]
    assert plain(taskfile.read_toml(text, local("c"))) == ["rm c"]
    assert taskfile.read_toml("[", local("a")).opaque


PIECES = st.sampled_from(
    [
        '{"scripts":',
        "{",
        "}",
        '"a"',
        ":",
        '"rm x"',
        "[",
        "]",
        ",",
        "\n",
        "  ",
        "a:",
        "a",
        "=",
        ":=",
        "{{",
        "}}",
        "`",
        "'",
        "#!/bin/sh",
        "[tool.poe.tasks]\n",
        'a = "ls"\n',
        "(b 'x')",
        "set shell",
        "alias a := b",
        '"a":"run-s b"',
        "import 'x'",
        "tasks:\n",
        "- ",
        "|\n",
        "cmds:",
        "\\\n",
        "é",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=150), st.sampled_from(sorted(READERS)))
def test_any_text_can_be_read(text: str, kind: str) -> None:
    read = READERS[kind]
    assert read(text, local("poe", "a")) == read(text, local("poe", "a"))


@pytest.mark.parametrize(
    "text",
    [
        "a" + " " * 200_000 + ":",
        "a:\n  " + "{{" * 100_000,
        "a:\n  {{" + " " * 200_000,
        "a '" * 50_000 + ":",
        "x := '" * 50_000,
        "a: " + "b " * 100_000,
        "a:\n" + "  x\\\n" * 60_000,
        "- " * 100_000,
        "tasks:\n" + "  a:\n" * 60_000,
        "`" * 200_001,
        "(" * 200_000,
        "a:\n" + "  x\n" * 50_000,
        "[" * 200_000,
        '"' * 200_000,
    ],
    ids=range(14),
)
@pytest.mark.parametrize("kind", sorted(READERS))
def test_hostile_text_is_read_in_bounds(text: str, kind: str) -> None:
    """Each of these takes for ever where a step is repeated for each character."""
    found = READERS[kind](text, local("poe", "a"))
    assert sum(map(len, found.code)) <= 20 * len(text)
