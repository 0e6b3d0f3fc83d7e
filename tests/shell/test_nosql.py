"""Readers of what is no SQL: Redis' commands, MongoDB's shell, code that speaks to a database; on any text at all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflexd.shell import dbcode, mongo, redis
from reflexd.shell.dbclients import file
from reflexd.shell.statements import worst

PIECES = st.sampled_from(
    [
        "db",
        ".",
        "drop",
        "['drop']",
        "(",
        ")",
        "{}",
        "'",
        '"',
        "`",
        "\n",
        " ",
        "/",
        "*",
        "deleteMany",
        "flushall",
        "set a",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES).map("".join))
BEFORE = TEXTS.filter(lambda text: "/" not in text)  # a comment would take what follows


@given(TEXTS)
def test_every_text_is_read(text: str) -> None:
    assert mongo.read(text, file().mongo)
    assert len(redis.read(text, file().redis)) <= len(text.splitlines()) + 1
    assert all(call[0] in ("database-call", "database-change") for call in dbcode.told(text))


@given(BEFORE, TEXTS)
def test_what_stands_around_it_hides_no_method_that_destroys(before: str, after: str) -> None:
    assert worst(mongo.read(f"{before}\ndb.users.drop(){after}", file().mongo)) == "destroys"


@given(
    st.lists(st.sampled_from(["get a", "set a 1", "5 ping", "", "acl setuser x"])),
    st.sampled_from(["flushall", "FlushDB"]),
)
def test_no_line_is_lost(lines: list[str], last: str) -> None:
    assert worst(redis.read("\n".join([*lines, last]), file().redis)) == "destroys"


def test_more_lines_than_are_read_are_unclear() -> None:
    assert worst(redis.read("get a\n" * (redis.LINES_MAX + 1), file().redis)) == "unclear"
