"""What one SQL statement, or one line for a database's client, does."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Does = Literal["reads", "calls", "changes", "access", "runs", "unclear", "destroys"]
ORDER: tuple[Does, ...] = ("reads", "calls", "changes", "access", "runs", "unclear", "destroys")
"""From harmless to worst. calls: it looks, as far as can be seen, but a function that nobody described may do more.
access: who may do what. runs: code or files that are not the database's own. unclear: it could not be read, and
something in it destroys things elsewhere."""
File = tuple[Literal["read", "write"], str]


class Statement(Struct, frozen=True):
    """`what` is for a reader ("drop table users"). `code` is what a shell would be given, `files` what is
    read or written besides the database, `scripts` files whose SQL it runs. `database`: the one it goes over to.
    """

    does: Does
    what: str
    code: tuple[str, ...] = ()
    files: tuple[File, ...] = ()
    scripts: tuple[str, ...] = ()
    database: str = ""


def worst(statements: tuple[Statement, ...]) -> Does:
    return max((each.does for each in statements), key=ORDER.index, default="reads")


def together(found: list[Statement], what: str) -> Statement:
    """One statement out of its parts, the strictest of which names it."""
    first = max(found, key=lambda each: ORDER.index(each.does))
    return Statement(
        first.does,
        first.what or what,
        tuple(code for each in found for code in each.code),
        tuple(dict.fromkeys(file for each in found for file in each.files)),
        tuple(script for each in found for script in each.scripts),
    )
