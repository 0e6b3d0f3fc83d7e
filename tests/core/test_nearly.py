"""Rules that one condition kept from speaking."""

from __future__ import annotations

import pytest

from reflexd.core.facts import facts
from reflexd.core.nearly import nearly
from reflexd.core.policy import Policy, load
from reflexd.types import Context, Effect, Facts, Near, Shell, Unseen

CONTEXT = Context(cwd="/home/dev/proj", home="/home/dev")


EXAMPLES = 'catches = ["x"]\nleaves = ["y"]'


def policy(**conditions: str) -> Policy:
    rules = "".join(
        f'\n[[rule]]\nid = "{name}"\ndecision = "ask"\nreason = "x"\nwhen = {{ {when} }}\n{EXAMPLES}'
        for name, when in conditions.items()
    )
    return load(f'policy = 1\nversion = "1"\n{rules}'.encode(), "x.toml")


EFFECT = Effect("delete", "/home/dev/proj/src", ("workspace",), recursive=True)


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ('effect = "delete", recursive = true, place = ["root", "home"]', ("place", "root or home")),
        ('effect = "delete", recursive = false, place = "workspace"', ("recursive", "false")),
        ('effect = "delete", force = true', ("force", "true")),
        ('effect = "delete", target = "*.py"', ("target", "*.py")),
        ('effect = "delete", place = "workspace", except_place = "workspace"', ("place", "none of workspace")),
        ('effect = "write", place = "workspace", recursive = true', ("effect", "write")),
        ('effect = "delete", tainted = true', ("tainted", "true")),
        ('effect = "delete", place = "workspace"', None),  # it speaks
        ('effect = "delete", place = "home"', None),  # every delete would be near every rule about deleting
        ('effect = "write", place = "workspace"', None),
        ('effect = "delete", recursive = false, place = "home"', None),  # two are missing
        ("opaque = true", None),
    ],
)
def test_a_rule_is_near_when_all_but_one_of_its_conditions_hold(when: str, expected: tuple[str, str] | None) -> None:
    found = nearly(Facts(effects=(EFFECT,)), CONTEXT, policy(near=when))
    assert found == (() if expected is None else (Near("near", "ask", *expected, EFFECT.target),))  # type: ignore[arg-type]


def test_the_closest_comes_first_and_of_a_rule_the_closest_effect() -> None:
    rules = policy(
        far='effect = "delete", force = true',
        close='effect = "delete", recursive = true, place = "workspace", force = true',
    )
    effects = (Effect("delete", "/elsewhere"), EFFECT)
    assert [(near.rule, near.target) for near in nearly(Facts(effects=effects), CONTEXT, rules)] == [
        ("close", EFFECT.target),
        ("far", "/elsewhere"),
    ]


def test_a_rule_about_the_whole_call_can_be_near() -> None:
    unread = Facts(unseen=(Unseen("/x.sh", "missing"),))
    (near,) = nearly(unread, CONTEXT, policy(near="unseen = true, tainted = true"))
    assert (near.condition, near.wanted, near.target) == ("tainted", "true", "")


def test_every_effect_of_a_line_says_which_of_its_commands_would_do_it() -> None:
    found = facts(Shell("cd src && rm a; sudo sh -c 'rm b'"), CONTEXT)
    does = {effect.target: found.commands[effect.by - 1].argv for effect in found.effects if effect.kind == "delete"}
    assert does == {"/home/dev/proj/src/a": ("rm", "a"), "/home/dev/proj/src/b": ("rm", "b")}
