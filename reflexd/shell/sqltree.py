"""What a parsed statement does to rows, and which functions it calls. Importing this module loads sqlglot.

A condition counts when it can leave rows alone: one without a column, one that compares a column with itself,
and the usual ways of writing "every row" do not.
"""

from __future__ import annotations

import sqlglot
import sqlglot.parser
from msgspec import Struct
from sqlglot import exp

from reflexd.shell.sqltext import Dialect

sqlglot.parser.logger.disabled = True  # it says on standard error what it does not understand
FEW = 1000  # rows that a limit leaves to a statement without a condition

_STATEMENTS = (
    exp.Query,
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
    exp.Values,
    exp.Table,
    exp.MultitableInserts,
)
_ROW_WRITERS = (exp.Insert, exp.Merge, exp.MultitableInserts)
_OTHER_WRITERS = (
    exp.Create,
    exp.Drop,
    exp.TruncateTable,
    exp.Alter,
    exp.Copy,
    exp.Command,
    exp.Set,
    exp.Pragma,
)
_NOT_ONLY_COMPUTING = (exp.Anonymous, exp.AnonymousAggFunc)
_IDS = frozenset({"id", "rowid", "_rowid_", "oid", "ctid", "uuid", "pk", "_id"})


class Called(Struct, frozen=True):
    """A function by its name in lower case, with the texts it is given; `strange`: the parser does not know it."""

    name: str
    texts: tuple[str, ...]
    strange: bool


class Tree(Struct, frozen=True):
    """`emptied`: what loses or changes every row ("delete every row of t"); `written`: what else is written;
    `files`: tables that are files."""

    emptied: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    called: tuple[Called, ...] = ()
    files: tuple[str, ...] = ()


def read(text: str, dialect: Dialect) -> Tree | None:
    """None where the parser does not understand it whole. Never raises."""
    try:
        parsed = [tree for tree in sqlglot.parse(text, read=dialect) if tree is not None]
        if len(parsed) != 1 or not isinstance(parsed[0], _STATEMENTS):
            return None
        return _judge(parsed[0], dialect)
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, LookupError):
        return None


def _judge(tree: exp.Expr, dialect: Dialect) -> Tree | None:
    emptied: list[str] = []
    written: list[str] = []
    called: list[Called] = []
    files: list[str] = []
    for node in tree.walk():
        if isinstance(node, _OTHER_WRITERS):
            return None
        if isinstance(node, exp.Delete | exp.Update):
            verb = "delete" if isinstance(node, exp.Delete) else "update"
            if _bounded(node):
                written.append(f"{verb} {_name(node)}")
            else:
                emptied.append(f"{verb} every row of {_name(node)}")
        elif isinstance(node, _ROW_WRITERS):
            written.append(f"{node.key} into {_name(node)}")
        elif isinstance(node, exp.Into):
            written.append(f"select into {_name(node)}")
        elif isinstance(node, exp.Func) and not isinstance(node, exp.And | exp.Or):
            called.append(_called(node))
        elif isinstance(node, exp.Table) and dialect in ("duckdb", "clickhouse") and _is_file(node.name):
            files.append(node.name)
    return Tree(tuple(emptied), tuple(written), tuple(called), tuple(files))


def _name(node: exp.Expr) -> str:
    table = node.find(exp.Table)
    return ".".join(part.name for part in table.parts if hasattr(part, "name")) if table is not None else "?"


def _is_file(name: str) -> bool:
    return "/" in name or name.lower().endswith(
        (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson", ".db", ".xlsx")
    )


def _called(node: exp.Func) -> Called:
    strange = isinstance(node, _NOT_ONLY_COMPUTING)
    name = node.name if strange else node.sql_name()
    above = node.parent
    while isinstance(above, exp.Dot) and above.expression is node:
        name = f"{above.this.name}.{name}"
        node, above = above, above.parent  # type: ignore[assignment]
    texts = tuple(found.name for found in node.find_all(exp.Literal) if found.is_string)
    return Called(name.lower(), texts, strange)


# ---- conditions ------------------------------------------------------------------------------


def _bounded(node: exp.Delete | exp.Update) -> bool:
    """Whether something keeps the statement from touching every row of its table."""
    limit = node.args.get("limit")
    if limit is not None:
        count = limit.expression if isinstance(limit, exp.Limit) else None
        if isinstance(count, exp.Literal) and count.is_int and int(count.this) <= FEW:
            return True
    where = node.args.get("where")
    if where is not None:
        return not _always(where.this)
    joins = [join for table in node.find_all(exp.Table) for join in table.args.get("joins") or ()]
    inner = [join.args.get("on") for join in joins if not join.side]
    return any(on is not None and not _always(on) for on in inner)


def _always(node: exp.Expr | None) -> bool:
    """Whether a condition holds for every row, as far as it says so itself."""
    match node:
        case None:
            return True
        case exp.Paren() | exp.Alias():
            return _always(node.this)
        case exp.And():
            return all(_always(part) for part in node.flatten())
        case exp.Or():
            return any(_always(part) for part in node.flatten())
        case exp.Not():
            return _not_never(node.this)
        case exp.Expr() if node.args.get("negate"):
            return _not_never(node)
        case exp.Exists():
            query = node.this
            return not isinstance(query, exp.Select) or _always_finds(query)
        case exp.In() if node.args.get("query") is not None:
            query = node.args["query"].this
            return isinstance(query, exp.Select) and _always_finds(query) and _same_column(node.this, query)
        case exp.Like() | exp.ILike():
            pattern = node.expression
            return isinstance(pattern, exp.Literal) and not pattern.this.strip("%")
        case exp.EQ() | exp.NullSafeEQ() | exp.GTE() | exp.LTE() if node.left == node.right:
            return True
        case exp.GT() | exp.GTE() | exp.NEQ() if _is_id(node.left) and _is_low(node.right):
            return True
        case _:
            return not _depends(node)


def _not_never(node: exp.Expr) -> bool:
    """Whether NOT of this holds for every row: it is false for all of them."""
    inner = node.unnest()
    if isinstance(inner, exp.Is):
        return isinstance(inner.expression, exp.Null) and _is_id(inner.this)
    if isinstance(inner, exp.NEQ | exp.LT | exp.GT):
        return inner.left == inner.right
    return not _depends(inner)


def _depends(node: exp.Expr) -> bool:
    """Whether a row decides it: a column stands in it, or a parameter whose value is not seen."""
    return node.find(exp.Column, exp.Placeholder, exp.Parameter, exp.Subquery, exp.Select, exp.Rand) is not None


def _always_finds(query: exp.Select) -> bool:
    where = query.args.get("where")
    return (where is None or _always(where.this)) and not any(
        query.args.get(part) for part in ("limit", "having", "joins", "group", "offset")
    )


def _same_column(left: exp.Expr, query: exp.Select) -> bool:
    shown = query.expressions[0] if len(query.expressions) == 1 else None
    return isinstance(left, exp.Column) and isinstance(shown, exp.Column) and left.name == shown.name


def _is_id(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name.lower() in _IDS


def _is_low(node: exp.Expr) -> bool:
    """A bound that every usual id lies above, or a value that none has."""
    if isinstance(node, exp.Neg):
        return True
    return isinstance(node, exp.Literal) and (node.this in ("0", "") or (node.is_int and int(node.this) <= 0))
