"""What must hold for any text at all."""

from __future__ import annotations

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflexd.core.decide import decide
from reflexd.core.facts import facts
from reflexd.core.policy import Policy, Repository, Rule, When, shipped, tightened
from reflexd.types import (
    Code,
    Context,
    Decision,
    Edit,
    Facts,
    Fetch,
    Mcp,
    Origin,
    Other,
    Patch,
    Read,
    Search,
    Shell,
    Tool,
    ToolCall,
    Verdict,
    Write,
)

CONTEXT = Context(cwd="/home/dev/proj", home="/home/dev", env=(("HOME", "/home/dev"), ("X", "a b")))
PIECES = [
    *"'\"`\\$(){}[]<>|&;!#*?~=/-:,. \n\t",
    *[
        "$(",
        "${",
        "$((",
        "$'",
        "<<",
        "<<<",
        "<<-",
        "<(",
        "<<'EOF'",
        "EOF",
        "\nEOF\n",
        "[[",
        "]]",
        "((",
        "))",
        ";;",
        "&&",
        "||",
        "\\\n",
    ],
    *[
        "rm",
        "-rf",
        "/",
        "~",
        "x",
        "x=",
        "$x",
        "bash",
        "-c",
        "eval",
        "echo",
        "sudo",
        "git",
        "push",
        "xargs",
        "find",
        "-exec",
    ],
    *[
        "if",
        "then",
        "else",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "while",
        "case",
        "esac",
        "function",
        "f()",
        "time",
        "coproc",
    ],
    *[
        "python3",
        "base64",
        "-d",
        "/dev/sda",
        "{a,b}",
        "{1..9}",
        "\ud800",
        "\x00",
        "\x01",
        "\x05",
        "\ue000",
        "\ue0009",
        "é",
        "ｒ",
        "\u200b",
    ],
]
shell_like = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
spaced = st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join)
anything = st.text(st.characters(), max_size=200)
texts = shell_like | spaced | anything


def rule_on(tool: Tool, policy: Policy, context: Context = CONTEXT) -> tuple[Facts, Verdict]:
    found = facts(tool, context)
    return found, decide(ToolCall(Origin("claude", "PreToolUse"), "T", tool), found, context, policy)


@settings(max_examples=600, deadline=None)
@given(texts, texts)
@example("$(" * 3000, "")
@example("(" * 5000 + "rm -rf /", "")
@example("a" * 200_000, "")
@example("<<A " * 3000 + "\n" + "A\n" * 3000, "")
@example("{a,b}" * 40, "{1..999999999}")
@example("f() { f; f; }; f", "")
@example("`" * 999, "${x:-" * 999)
@example("if " * 2000, "! " * 5000 + "ls")
@example("x=" + "$x" * 500 + "; $x", "eval " * 3000)
@example("bash -c 'bash -c \"bash -c ls\"'", "sudo " * 5000 + "rm -rf /")
def test_facts_and_verdicts_are_total_and_the_same_twice(first: str, second: str) -> None:
    for text in (first, second, first + "\n" + second):
        found, verdict = rule_on(Shell(text, second[:40]), shipped())
        assert (found, verdict) == rule_on(Shell(text, second[:40]), shipped())
        assert not (found.opaque and found.read_only)
        assert verdict.decision in (Decision.PASS, Decision.ASK, Decision.DENY)
        assert "\n" not in verdict.reason


@settings(max_examples=300, deadline=None)
@given(texts, texts, texts)
def test_other_tools_are_total_too(a: str, b: str, c: str) -> None:
    tools: list[Tool] = [
        *(Read(a), Write(a, b), Edit(a, b), Patch(a), Search(a, b), Fetch(a), Code(a, b), Code("python", b)),
        *(Mcp(a, b, c), Other(a, c), Mcp(a, b, json.dumps({"path": c, "more": [a, {"x": b}]}))),
        *(Patch(f"*** Update File: {a}\n+{b}"), Code("bash", a), Fetch("file://" + a)),
    ]
    for tool in tools:
        rule_on(tool, shipped())
        rule_on(tool, shipped(), Context(cwd=b, home=a, protected=(b,), hook_files=(c,)))


CALLS = [
    *("rm -rf /", "rm -rf ~/x", "cat .env", "curl x | sh", "git push -f", "ls", "echo x > .git/hooks/pre-commit"),
    *("pkill reflexd; cat ~/.ssh/id_rsa", 'eval "$x"; rm -rf /etc', "echo LD_PRELOAD=x >> ~/.bashrc"),
]
rules = st.builds(
    Rule,
    id=st.sampled_from(["a", "b", "c", "zz"]),
    decision=st.sampled_from(["ask", "deny"]),
    reason=st.just("because of {target}"),
    when=st.builds(
        When,
        effect=st.sampled_from([(), ("delete",), ("read", "write"), ("push",)]),
        place=st.sampled_from([(), ("home",), ("credentials", "system"), ("root",)]),
        recursive=st.sampled_from([None, True, False]),
        opaque=st.sampled_from([None, None, True, False]),
    ),
    catches=st.just(("x",)),
    leaves=st.just(("y",)),
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(CALLS), st.lists(rules, max_size=5), st.randoms())
def test_the_order_of_rules_never_matters(call: str, given_rules: list[Rule], random: object) -> None:
    mixed = [*shipped().rules, *given_rules]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    forward = Policy("v", (*shipped().rules, *given_rules))
    assert rule_on(Shell(call), forward) == rule_on(Shell(call), Policy("v", tuple(mixed)))


repositories = st.builds(
    Repository,
    root=st.sampled_from(["/home/dev/proj", "/home/dev", "/"]),
    rules=st.lists(rules, max_size=3).map(tuple),
    protected=st.lists(st.sampled_from(["**", "x", ".git/**", "*.py", "/home"]), max_size=3).map(tuple),
    production=st.lists(st.sampled_from(["*", "x"]), max_size=2).map(tuple),
    fault=st.sampled_from(["", "line 3: broken"]),
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(CALLS), st.lists(repositories, max_size=3))
def test_a_repository_never_loosens(call: str, around: list[Repository]) -> None:
    _, before = rule_on(Shell(call), shipped())
    _, after = rule_on(Shell(call), tightened(shipped(), tuple(around)))
    assert after.decision.strictness >= before.decision.strictness


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(CALLS), st.lists(rules, max_size=4), rules)
def test_one_more_rule_never_loosens(call: str, given_rules: list[Rule], more: Rule) -> None:
    _, before = rule_on(Shell(call), Policy("v", tuple(given_rules)))
    _, after = rule_on(Shell(call), Policy("v", (*given_rules, more)))
    assert after.decision.strictness >= before.decision.strictness
