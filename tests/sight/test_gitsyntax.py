"""git's format for settings, read as git itself reads it."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reflexd.sight.gitsyntax import parse

from .conftest import World

PIECES = [
    *("[core]", "[core ", "[Core]\n", '[a "B.c"]', '[a  "x\\"y"]', "[a.B]", "[a.b.C]", "]", '[x ""]', "[]", '[ "y"]'),
    *('"', "\\", "\\\n", "\\n", "\\t", "\\q", "=", " = ", "\n", "\r\n", "\r", "\t", "  ", "#", ";", "# c\n", "\v"),
    *(
        "key",
        "Key-2",
        "2key",
        "k",
        "k=v\n",
        "k = a  b \n",
        "k=\n",
        "=v",
        "v",
        "v w",
        '"q;q"',
        "é",
        "true",
        ".",
        "-",
        "_",
    ),
    "\ufeff",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map(lambda parts: "".join(parts).encode())


def listed(world: World, text: bytes) -> list[tuple[str, str | None]] | None:
    """What git makes of the text; None where it refuses it."""
    path = world.root / "settings"
    path.write_bytes(text)
    done = world.run("config", "--no-includes", "-z", "-l", "-f", str(path))
    if done.returncode:
        return None
    found = []
    for record in os.fsdecode(done.stdout).split("\0")[:-1]:
        key, newline, value = record.partition("\n")
        found.append((key, value if newline else None))
    return found


@given(TEXTS)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(b"[core]\n\tfsmonitor = a \\\n  b\n")
@example(b'[a "x"] k = "v # no" ; yes\n')
@example(b'[core]k="" x')
@example(b"\xef\xbb\xbf[core]\nk")
@example(b"[core]\r\nk = v\r\n")
@example(b"[core]k=a\\")
def test_git_reads_the_same(lasting_world: World, text: bytes) -> None:
    found = parse(text)
    theirs = listed(lasting_world, text)
    if theirs is None:
        assert found.malformed
    else:
        assert not found.malformed
        assert list(found.pairs) == theirs


@given(st.binary(max_size=200))
def test_any_bytes_are_read(text: bytes) -> None:
    found = parse(text)
    assert found == parse(text)


def test_a_cut_off_value_is_not_believed() -> None:
    assert parse(b"[core]\nfsmonitor = true\0x\n").malformed


@pytest.mark.parametrize(
    "text", [b"[" * 300_000, b'[a "' + b"x" * 300_000, b"[a]\n" + b"k=\\\n" * 80_000, b"[a]k=" + b'"' * 300_001]
)
def test_a_long_file_is_read_to_its_end(text: bytes) -> None:
    assert isinstance(parse(text).malformed, bool)
