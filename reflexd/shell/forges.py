"""gh and glab: what their subcommands do by their rows, and what a request through their `api` does."""

from __future__ import annotations

import re

import msgspec

from reflexd.shell import web
from reflexd.shell.arguments import parse
from reflexd.shell.calls import Call
from reflexd.shell.fields import UNKNOWN, UNSET, shown
from reflexd.shell.operands import effect
from reflexd.shell.operations import harmless, operation
from reflexd.shell.places import Ground
from reflexd.shell.programs import find_operation, find_row
from reflexd.types import Effect

_FIELDS = ("-f", "--raw-field", "-F", "--field", "--form")
_ACCESS = re.compile(
    r"/(?:secrets|keys|deploy-keys|deploy_keys|collaborators|protection|protected_branches|rulesets|permissions|hooks"
    r"|environments|memberships|members|invitations|access_tokens|personal_access_tokens|impersonation_tokens|variables"
    r"|runners|installations|approvals)(?:/|\Z|\?)"
)
_ACCESS_FIELD = re.compile(r"(?:visibility|private|archived|permission|role_name|access_level|allow_force_pushes)\Z")


def _forge(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    base = find_row(call.name)
    assert base is not None
    outer = parse(call.argv[1:], base)
    first = outer.operands[:1]
    if first == ("api",) or (outer.strange and "api" in outer.operands and find_operation(call.name, first) is None):
        return _api(call, ground)
    found = operation(call, call.name, ground)
    return found if found is not None else ([], not first and harmless(call, base, parse(call.argv[1:], base)))


def _api(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """A request by hand. gh asks with POST as soon as it is given a field."""
    known = find_operation(call.name, ("api",))
    assert known is not None
    parsed = parse(call.argv[1:], known[1])
    if harmless(call, known[1], parsed):
        return [], False
    fields = [value for name, value in parsed.values if name in _FIELDS]
    inputs = [value for name, value in parsed.values if name == "--input"]
    given = next((value for name, value in reversed(parsed.values) if name in ("-X", "--method")), "")
    method = shown(given).upper() or ("POST" if fields or inputs else "GET")
    paths = parsed.operands[1:]  # one, unless an option that nobody described has left its value here
    found: list[Effect] = []
    for value in (*(v.partition("=")[2] for v in fields), *(f"@{v}" for v in inputs)):
        made = effect("read", value[1:], call, ground, detail="api") if value.startswith("@") else None
        if made is not None:
            found.append(made)
    body = "\n".join((*fields, call.stdin or ""))
    if any(path.endswith("graphql") for path in paths) and not any(mark in body for mark in (UNKNOWN, UNSET)):
        does = web.mutation(body)
        if does is not None:
            found.append(Effect(does, "api graphql mutation", ("elsewhere",), detail="api"))
        return found, not found and does is None and not parsed.strange
    if method in ("GET", "HEAD"):
        return found, not found and not parsed.strange
    found.extend(_request(method, tuple(map(shown, paths)), fields))
    return found, False


def _request(method: str, paths: tuple[str, ...], fields: list[str]) -> list[Effect]:
    branch = next((path.partition("/refs/heads/")[2] for path in paths if "/refs/heads/" in path), "")
    if branch and method in ("DELETE", "PATCH"):
        return [Effect("push", branch, force=True, detail="delete" if method == "DELETE" else "force")]
    made = Effect(
        "destroy" if method == "DELETE" else "change", " ".join(("api", method, *paths)), ("elsewhere",), detail="api"
    )
    # A comment or a review is said to people and can be said again; keys and permissions are handed out once.
    names = [field.partition("=")[0] for field in fields]
    if made.kind == "change" and (any(map(_ACCESS.search, paths)) or any(map(_ACCESS_FIELD.match, names))):
        made = msgspec.structs.replace(made, places=("elsewhere", "credentials"))
    elif made.kind == "change" and method not in ("POST", "PATCH", "PUT"):
        made = msgspec.structs.replace(made, places=("elsewhere", "unknown"))
    return [made]


SPECIAL = {"gh": _forge, "glab": _forge}
