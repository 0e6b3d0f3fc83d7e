"""Policy files: what loads, and what an error says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.core.examples import failures
from reflexd.core.policy import load, shipped
from reflexd.errors import PolicyError

HEAD = 'policy = 1\nversion = "7"\n'
RULE = """
[[rule]]
id = "no-touch"
decision = "ask"
reason = "touches {target}"
when = { effect = "write", place = "workspace" }
catches = ["echo x > a"]
leaves = ["cat a"]
"""


def test_every_shipped_rule_catches_and_leaves_its_examples() -> None:
    assert failures(shipped()) == ()


def test_an_example_that_is_wrong_is_named() -> None:
    policy = load((HEAD + RULE.replace('["cat a"]', '["echo y > b"]')).encode(), "x.toml")
    assert failures(policy) == ("no-touch does not leave echo y > b alone",)


def test_a_file_adds_to_its_base_and_has_a_version_of_its_own() -> None:
    policy = load((HEAD + RULE).encode(), "x.toml", shipped())
    assert policy.rules[: len(shipped().rules)] == shipped().rules
    assert policy.rules[-1].id == "no-touch"
    assert policy.version.startswith(f"{shipped().version}/7+")
    assert policy.version != load((HEAD + RULE + "# more\n").encode(), "x.toml", shipped()).version


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("policy = 1\nversion = \n", "x.toml: Invalid value (at line 2"),
        ('policy = 2\nversion = "1"', "x.toml: line 1: format 2"),
        (HEAD + "colour = 3", "x.toml: line 3: Object contains unknown field `colour`"),
        (HEAD + RULE + 'severity = "high"\n', "x.toml: line 11: Object contains unknown field `severity`"),
        (HEAD + RULE.replace("place =", "plce ="), "x.toml: line 8: Object contains unknown field `plce`"),
        (HEAD + RULE.replace('"ask"', '"allow"'), "x.toml: line 6: Invalid enum value 'allow'"),
        (HEAD + RULE.replace('"workspace"', '"wrkspace"'), "x.toml: line 8: Invalid enum value 'wrkspace'"),
        (HEAD + RULE.replace("{target}", "{target.__class__}"), "x.toml: line 4: rule no-touch: its reason"),
        (HEAD + RULE.replace("{target}", "{who}"), "x.toml: line 4: rule no-touch: its reason"),
        (HEAD + RULE.replace('when = { effect = "write", place = "workspace" }', "when = {}"), "it has no condition"),
        (HEAD + RULE.replace('["cat a"]', "[]"), "x.toml: line 4: rule no-touch: it needs examples"),
        (HEAD + RULE + RULE, "x.toml: line 12: rule no-touch: the id is taken"),
        (HEAD + RULE.replace("no-touch", "push-main"), "rule push-main: the id is taken"),
        (HEAD.replace('"7"', "7"), "x.toml: line 2: Expected `str`, got `int`"),
    ],
)
def test_an_error_names_the_file_and_the_line(text: str, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load(text.encode(), "x.toml", shipped())
    assert says in caught.value.message, caught.value.message


def test_bytes_that_are_not_text() -> None:
    with pytest.raises(PolicyError, match=r"x\.toml: line 2: not UTF-8"):
        load(b"policy = 1\n\xff", "x.toml")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: (HEAD + RULE + t).encode("utf-8", "replace")))
def test_any_bytes_load_or_fail_as_a_policy(data: bytes) -> None:
    try:
        message = load(data, "x.toml").version
    except PolicyError as e:
        message = e.message
    assert message
    assert message.startswith("x.toml: ") or "+" in message
