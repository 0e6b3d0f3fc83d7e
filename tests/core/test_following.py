"""Local code: what is looked at for a call, what counts as seen, and what is said about code that was not."""

from __future__ import annotations

import posixpath

import pytest

from reflexd.core.facts import facts
from reflexd.types import Context, Facts, Past, Seen, Shell, Sighting, Unseen, Want

CWD, HOME = "/home/dev/proj", "/home/dev"


def looked(command: str, files: dict[str, str], past: Past = Past(), cwd: str = CWD) -> Facts:
    """The facts once everything wanted was looked at; `files` are below the working directory."""
    there = {posixpath.normpath(posixpath.join(cwd, name)): text for name, text in files.items()}
    context = Context(cwd=cwd, home=HOME, past=past)
    seen = Seen()
    for _ in range(6):
        found = facts(Shell(command), context, seen)
        if not found.wants:
            return found
        seen = Seen((*seen.found, *((want, sighting(want, there)) for want in found.wants)))
    raise AssertionError(f"it never stops wanting: {found.wants}")


def sighting(want: Want, there: dict[str, str]) -> Sighting:
    if want.kind != "file":
        return Sighting(text=want.path) if want.kind == "real" else Sighting(problem="missing")
    text = there.get(want.path)
    if text is None:
        return Sighting(problem="missing")
    return Sighting(problem="not text") if text == "\0" else Sighting(text=text, digest=f"sha:{text}")


def deletes(found: Facts) -> list[str]:
    return [effect.target for effect in found.effects if effect.kind == "delete"]


@pytest.mark.parametrize(
    ("command", "files", "deleted"),
    [
        ("./a.sh", {"a.sh": "rm -rf ~"}, "/home/dev"),
        ("./a.sh x", {"a.sh": 'rm -rf "/etc/$1"'}, "/etc/x"),
        ("./a.py", {"a.py": "#!/usr/bin/env python3\nimport shutil\nshutil.rmtree('/etc')"}, "/etc"),
        ("bash a.sh", {"a.sh": "./b.sh", "b.sh": "rm -rf out"}, f"{CWD}/out"),
        ("make", {"Makefile": "all:\n\trm -rf out"}, f"{CWD}/out"),
        ("make", {"makefile": "all:\n\trm -rf a", "Makefile": "all:\n\trm -rf b"}, f"{CWD}/a"),
        ("make", {"GNUmakefile": "include x.mk\nall:\n\trm -rf $(D)", "x.mk": "D = out"}, f"{CWD}/out"),
        ("make -C sub", {"sub/Makefile": "all:\n\trm -rf out"}, f"{CWD}/sub/out"),
        ("make", {"Makefile": "include x.mk x.mk\n", "x.mk": "include Makefile\nall:\n\trm -rf out"}, f"{CWD}/out"),
        ("make out", {"Makefile": "-include gone.mk\nout:\n\trm -rf $@"}, f"{CWD}/out"),
        ("just x", {".justfile": "x:\n  rm -rf out"}, f"{CWD}/out"),
        ("npm test", {"package.json": '{"scripts": {"pretest": "rm -rf out", "test": "jest"}}'}, f"{CWD}/out"),
        ("npm ci", {"package.json": '{"scripts": {"postinstall": "rm -rf out"}}'}, f"{CWD}/out"),
        ("npm --prefix web run x", {"web/package.json": '{"scripts": {"x": "rm -rf out"}}'}, f"{CWD}/web/out"),
        ("cp a.sh b.sh && ./b.sh", {"a.sh": "rm -rf out"}, f"{CWD}/out"),
        ("python3 -m a.b", {"a/b.py": "import shutil\nshutil.rmtree('/etc')"}, "/etc"),
        ("python3 -m a", {"a/__main__.py": "import shutil\nshutil.rmtree('/etc')"}, "/etc"),
        ("uv run x.py", {"x.py": "import shutil\nshutil.rmtree('/etc')"}, "/etc"),
        ("poe x", {"pyproject.toml": '[tool.poe.tasks]\nx = "rm -rf out"'}, f"{CWD}/out"),
    ],
)
def test_code_that_was_seen_counts_as_typed(command: str, files: dict[str, str], deleted: str) -> None:
    found = looked(command, files)
    assert deleted in deletes(found)
    assert not found.opaque


def test_every_file_that_was_read_is_named_with_its_digest() -> None:
    found = looked("make", {"Makefile": "include x.mk\nall:\n\t./a.sh", "x.mk": "", "a.sh": "ls"})
    assert {source.path: source.digest for source in found.sources} == {
        f"{CWD}/Makefile": "sha:include x.mk\nall:\n\t./a.sh",
        f"{CWD}/x.mk": "sha:",
        f"{CWD}/a.sh": "sha:ls",
    }
    assert found.unseen == ()


@pytest.mark.parametrize(
    ("command", "files", "past", "unseen"),
    [
        ("./a.sh", {}, Past(), Unseen(f"{CWD}/a.sh", "missing")),
        ("./a.out", {"a.out": "\0"}, Past(), Unseen(f"{CWD}/a.out", "not text")),
        ("bash /tmp/a.sh", {}, Past(), Unseen("/tmp/a.sh", "missing", "scratch")),
        ("bash a.sh", {}, Past(downloaded=(f"{CWD}/a.sh",)), Unseen(f"{CWD}/a.sh", "missing", "network")),
        (
            "bash a.sh",
            {"a.sh": "ls"},
            Past(downloaded=(f"{CWD}/a.sh",)),
            Unseen(f"{CWD}/a.sh", "it came from the network", "network"),
        ),
        (
            "bash x/a.sh",
            {"x/a.sh": "ls"},
            Past(downloaded=(f"{CWD}/x",)),
            Unseen(f"{CWD}/x/a.sh", "it came from the network", "network"),
        ),
        (
            "bash a.sh",
            {"a.sh": "ls"},
            Past(pending=(f"{CWD}/a.sh",)),
            Unseen(f"{CWD}/a.sh", "it may change before it runs", "changing"),
        ),
        ("bash a.sh", {"a.sh": "ls"}, Past(busy="a job"), Unseen(f"{CWD}/a.sh", "it may change before it runs")),
        ("node a.js", {"a.js": "x();\n" * 20_000}, Past(), Unseen(f"{CWD}/a.js", "it is too long to be read whole")),
        ("bash $X.sh", {}, Past(), Unseen("….sh", "it is not known which file")),
        ("make", {"Makefile": "include $(X).mk\nall:\n\tls"}, Past(), Unseen(f"{CWD}/Makefile", "it includes ${X}.mk")),
        (
            "make",
            {"Makefile": "include .env\nall:\n\tls", ".env": "K=1"},
            Past(),
            Unseen(f"{CWD}/Makefile", "it includes .env"),
        ),
    ],
)
def test_code_that_was_not_seen_is_named(command: str, files: dict[str, str], past: Past, unseen: Unseen) -> None:
    assert unseen in looked(command, files, past).unseen


@pytest.mark.parametrize(
    "command", ["npm install", "composer test", "poe x", "python3 -m x.y", "ls", "pytest", "npx tsc"]
)
def test_no_file_is_no_code(command: str) -> None:
    assert looked(command, {}).unseen == ()


def test_a_file_changed_in_the_same_line_is_not_taken_for_what_lies_on_the_disk() -> None:
    found = looked("sed -i s/x/y/ a.sh && bash a.sh", {"a.sh": "ls"})
    assert found.opaque
    assert found.sources == ()


def test_code_given_as_data_is_not_followed() -> None:
    assert looked("cat a.sh; grep x Makefile; git add a.sh", {"a.sh": "rm -rf ~"}).sources == ()


@pytest.mark.parametrize(
    "code",
    [
        "import shutil, sys\nshutil.rmtree(sys.argv[1])",
        "import os\nos.system('rm -rf ' + x)\nDOC = 'rm -rf /'",
        "open('.env').read()\nKEYS = '~/.ssh/id_rsa'",
    ],
)
def test_a_program_is_held_to_what_it_is_sure_to_do(code: str) -> None:
    found = looked("python3 a.py", {"a.py": code})
    assert [effect for effect in found.effects if effect.kind != "read" or "dotenv" in effect.places] == []
    assert not found.opaque


def test_a_call_that_runs_unseen_code_is_not_proved_to_look_only() -> None:
    assert not looked("./a.sh", {}).read_only
    assert looked("./a.sh", {"a.sh": "ls"}).unseen == ()


def test_no_more_than_a_few_files_are_looked_at() -> None:
    files = {f"{n}.sh": "ls" for n in range(30)}
    found = looked("; ".join(f"sh {name}" for name in files), files)
    assert len(found.sources) == 8
    assert len(found.unseen) == 22
