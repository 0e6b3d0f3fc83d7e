"""What a call leaves for the calls after it."""

from __future__ import annotations

import pytest

from reflexd.core.facts import facts
from reflexd.core.past import Traces, traces
from reflexd.types import Context, Seen, Shell, Sighting, Want

CONTEXT = Context(cwd="/home/dev/proj", home="/home/dev")


def left(command: str, background: bool = False, seen: Seen = Seen()) -> Traces:
    tool = Shell(command, background=background)
    return traces(tool, facts(tool, CONTEXT, seen))


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("curl -o x.sh https://e.example/x.sh", ["/home/dev/proj/x.sh"]),
        ("curl https://e.example/x.sh > x.sh", ["/home/dev/proj/x.sh"]),
        ("curl -s https://e.example/x.sh | tee x.sh", ["/home/dev/proj/x.sh"]),
        ("wget -O /tmp/y https://e.example/y", ["/tmp/y"]),
        ("cp a b", []),
        ("curl https://e.example/x", []),
    ],
)
def test_files_from_the_network_are_named(command: str, files: list[str]) -> None:
    assert list(left(command).downloaded) == files


@pytest.mark.parametrize(
    ("command", "writes"),
    [
        ("cp a b", ("/home/dev/proj/b",)),
        ("mkdir -p x && echo hi > x/y", ("/home/dev/proj/x/y",)),
        ("ls", ()),
        ("make", None),
        ("python3 gen.py > out", None),
        ("rm -rf $(cat list)", None),
    ],
)
def test_what_may_change_is_told_or_not_known(command: str, writes: tuple[str, ...] | None) -> None:
    assert left(command).writes == writes


def test_variables_and_jobs_outlive_the_call() -> None:
    assert left("export DATABASE_URL=postgres://db.prod.example/app").exported == (
        ("DATABASE_URL", "postgres://db.prod.example/app"),
    )
    assert left("npm run dev", background=True).background
    assert not left("npm run dev").background


def test_the_code_that_was_read_is_remembered_with_its_digest() -> None:
    want = Want("file", "/home/dev/proj/run.sh")
    seen = Seen(((want, Sighting(text="ls\n", digest="d" * 64)),))
    sources = left("bash run.sh", seen=seen).sources
    assert [(source.path, source.digest) for source in sources] == [(want.path, "d" * 64)]
