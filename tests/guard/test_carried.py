"""Secrets in the text of a call that leaves the machine."""

from __future__ import annotations

import json

import pytest

from reflexd.guard.carried import carried
from reflexd.types import Fetch, Mcp, Other, Read, Shell, Tool, WebSearch

KEY = "AKIA" + "IOSFODNN7EXAMPLE"
TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize(
    ("tool", "kinds"),
    [
        (Mcp("linear", "save_comment", json.dumps({"body": f"the id is {KEY}."})), ("aws-access-key",)),
        (Mcp("x", "y", json.dumps({"a": [{"b": f"{TOKEN} {KEY}"}]})), ("github-token", "aws-access-key")),
        (Other("post", json.dumps({"text": "password: hunter2"})), ("secret",)),
        (Mcp("x", "y", json.dumps({"body": f"token: {KEY}"})), ("secret", "aws-access-key")),
        (Fetch(f"https://e.example/?q={TOKEN}"), ("github-token",)),
        (WebSearch(f"what is {KEY}"), ("aws-access-key",)),
        (Mcp("x", "y", json.dumps({"body": "it said [redacted:github-token] there"})), ()),
        (Mcp("x", "y", json.dumps({"body": "set your password, then a token"})), ()),
        (Mcp("x", "y", "{}"), ()),
        (Shell(f"echo {KEY}"), ()),
        (Read(f"/{KEY}"), ()),
    ],
)
def test_the_kinds_that_a_call_takes_along(tool: Tool, kinds: tuple[str, ...]) -> None:
    assert set(carried(tool)) == set(kinds)
