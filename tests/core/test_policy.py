"""Policy files: what loads, and what an error says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from reflexd.core.examples import failures
from reflexd.core.policy import load, load_repository, shipped
from reflexd.errors import PolicyError
from reflexd.types import Context, Facts, Past, Pin, Unseen

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
        (HEAD + RULE.replace("place =", 'unseen = ["magnetic"], place ='), "x.toml: line 8: "),
        (
            HEAD + RULE.replace('["cat a"]', '[{ tool = "mcp", comand = "x" }]'),
            "line 10: Object contains unknown",
        ),
        (HEAD + '[[mcp]]\nserver = "x"\n', "x.toml: line 3: a pin names its server and the tools"),
        (HEAD + '[[mcp]]\nserver = "x"\ntools = "*"\n', "x.toml: line 5: Expected `array`"),
        (HEAD + '[[mcp]]\nserver = "x"\nversoin = "1"\ntools = ["*"]\n', "x.toml: line 5: Object contains unknown"),
        (HEAD + 'protected = ["a"]', "x.toml: line 3: files are protected by a repository's file"),
    ],
)
def test_an_error_names_the_file_and_the_line(text: str, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load(text.encode(), "x.toml", shipped())
    assert says in caught.value.message, caught.value.message


def test_pins_and_names_of_production_add_up() -> None:
    pins = '[[mcp]]\nserver = "linear"\nversion = "1.2"\ntools = ["save_*"]\n'
    first = load((HEAD + 'production = ["blue-*"]\n' + pins).encode(), "x.toml", shipped())
    second = load((HEAD + 'production = ["red"]\n' + pins.replace("linear", "other")).encode(), "y.toml", first)
    assert second.production == ("blue-*", "red")
    assert [pin.server for pin in second.pins] == ["linear", "other"]
    assert second.pins[0] == Pin("linear", version="1.2", tools=("save_*",))


SESSION = Context(cwd="/home/dev/proj", home="/home/dev")
UNREAD = Facts(unseen=(Unseen("/x.sh", "missing", "network"), Unseen("/y.sh", "missing")))


@pytest.mark.parametrize(
    ("when", "facts", "context", "reason"),
    [
        ("unseen = true", UNREAD, SESSION, "/x.sh"),
        ("unseen = true", Facts(), SESSION, None),
        ("unseen = false", Facts(), SESSION, ""),
        ('unseen = ["network", "stdin"]', UNREAD, SESSION, "/x.sh"),
        ('unseen = ["scratch"]', UNREAD, SESSION, None),
        ("tainted = true", Facts(), structs.replace(SESSION, taint=("a page",)), "a page"),
        ("tainted = true", Facts(), SESSION, None),
        ("tainted = true, unseen = true", Facts(), structs.replace(SESSION, taint=("a page",)), None),
        ("busy = true", Facts(), structs.replace(SESSION, past=Past(busy="npm run dev")), ""),
        ("busy = true", Facts(), structs.replace(SESSION, past=Past(pending=("/a",))), ""),
        ("busy = true", Facts(), SESSION, None),
        ('busy = true, effect = "write"', Facts(), structs.replace(SESSION, past=Past(busy="x")), None),
    ],
)
def test_a_rule_may_ask_about_the_call_as_a_whole_and_its_session(
    when: str, facts: Facts, context: Context, reason: str | None
) -> None:
    rule = RULE.replace('effect = "write", place = "workspace"', when).replace("touches {target}", "<{unseen}{taint}>")
    found = load((HEAD + rule).encode(), "x.toml").findings(facts, context)
    assert [each.reason for each in found] == ([] if reason is None else [f"<{reason}>"])


def test_bytes_that_are_not_text() -> None:
    with pytest.raises(PolicyError, match=r"x\.toml: line 2: not UTF-8"):
        load(b"policy = 1\n\xff", "x.toml")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: (HEAD + RULE + t).encode("utf-8", "replace")))
def test_any_bytes_load_or_fail_as_a_policy(data: bytes) -> None:
    for read in (lambda: load(data, "x.toml"), lambda: load_repository(data, "x.toml", "/r")):
        try:
            message = read().version
        except PolicyError as e:
            message = e.message
        assert message.startswith("x.toml: ") or "+" in message


def test_the_example_in_the_documentation_loads_and_is_right() -> None:
    text = (Path(__file__).parents[2] / "docs/policy.md").read_text()
    example = text.partition("```toml\n")[2].partition("```")[0]
    found = load(example.encode(), "policy.toml", shipped())
    assert failures(found) == ()
    assert [pin.server for pin in found.pins] == ["linear"]
