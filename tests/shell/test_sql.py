"""What SQL does, statement by statement: the table in sql.jsonl, and what holds for any text at all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.shell.sql import read
from reflexd.shell.sqltext import Client, Dialect
from reflexd.shell.statements import ORDER, worst

CASES = [json.loads(line) for line in Path(__file__).with_name("sql.jsonl").read_text().splitlines()]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
CLIENTS: tuple[Client, ...] = get_args(Client)


@pytest.mark.parametrize("case", CASES, ids=[f"{case['dialect']}:{case['sql'][:50]}" for case in CASES])
def test_a_statement_does_what_it_does(case: dict[str, str]) -> None:
    found = read(case["sql"], case["dialect"], case.get("client", ""))  # type: ignore[arg-type]
    assert worst(found) == case["does"], found


DESTROYERS = ["drop table users", "truncate users", "delete from users", "update users set a = 1", "drop database app"]
WRAPPINGS = [
    "select 1; {}",
    "{}; select 1",
    "/* x */ {}",
    "-- x\n{}",
    "{} -- x",
    "begin; {}; commit",
    "select 'a'; {}",
    "select ';'; {}",
    "  \n\t{} ;;",
]


@given(
    st.sampled_from(DESTROYERS),
    st.sampled_from(WRAPPINGS),
    st.sampled_from(WRAPPINGS),
    st.sampled_from(DIALECTS),
    st.data(),
)
def test_what_stands_around_a_statement_hides_nothing(
    statement: str, outer: str, inner: str, dialect: Dialect, data: st.DataObject
) -> None:
    upper = data.draw(st.lists(st.booleans(), min_size=len(statement), max_size=len(statement)))
    spelled = "".join(c.upper() if up else c for c, up in zip(statement, upper, strict=True))
    assert worst(read(outer.format(inner.format(spelled)), dialect)) == "destroys"


@given(st.sampled_from(DESTROYERS), st.sampled_from(DIALECTS))
def test_what_is_only_said_is_not_done(statement: str, dialect: Dialect) -> None:
    assert worst(read(f"select '{statement};' as note -- {statement}", dialect)) == "reads"
    assert worst(read(f"insert into notes values ('{statement};') /* ; {statement}; */", dialect)) == "changes"


_WORDS = [
    "begin",
    "end",
    "case",
    "explain",
    "delete",
    "from",
    "t",
    "where",
    "1",
    "select",
    "drop",
    "table",
    "as",
    "do",
    "create",
]
_SIGNS = [*"'\"`[]();\\$-/*:,.@#=", "$$", "--", "/*", "*/", "/*!", " ", "\n", "\\!", "E'"]
_PIECES = st.sampled_from(_SIGNS + [f"{word} " for word in _WORDS])


@settings(max_examples=400, deadline=None)
@given(
    st.lists(_PIECES, max_size=40).map("".join) | st.text(max_size=200),
    st.sampled_from(DIALECTS),
    st.sampled_from(CLIENTS),
)
def test_any_text_is_read_and_always_the_same(text: str, dialect: Dialect, client: Client) -> None:
    found = read(text, dialect, client)
    assert all(statement.does in ORDER for statement in found)
    assert read(text, dialect, client) == found


_DEEP = {
    "(": 5000,
    "case when ": 3000,
    "not ": 4000,
    "select 1;": 5000,
    "explain analyze ": 3000,
    "begin ": 4000,
    "if a then ": 3000,
    "prepare p as ": 2000,
    "execute immediate '": 2000,
    "$$": 4001,
    "/*": 5000,
    "'": 9999,
}


@pytest.mark.parametrize("text", [piece * times for piece, times in _DEEP.items()], ids=list(_DEEP))
@pytest.mark.parametrize("dialect", ["postgres", "tsql"])
def test_long_and_deep_text_is_read(text: str, dialect: Dialect) -> None:
    assert worst(read(text + "; drop table users", dialect)) in ("destroys", "unclear")


def test_the_parser_is_loaded_only_when_sql_is_read_and_says_nothing() -> None:
    code = (
        "import sys; import reflexd.core.facts; from reflexd.shell import sql; assert 'sqlglot' not in sys.modules;"
        "sql.read('create extension x; select frobnicate(1) within foo; kill 3', 'postgres');"
        "assert 'sqlglot' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
