"""What a judge's answers mean: the shipped gates, what a gate may say, and that more risk never softens a verdict."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from reflexd.core import gates, questions
from reflexd.core.decide import decide, judged, undecided
from reflexd.core.facts import facts
from reflexd.core.gates import CIRCUMSTANCES, Circumstance
from reflexd.core.policy import Policy, load, load_repository, shipped
from reflexd.errors import PolicyError
from reflexd.types import (
    Allow,
    Answer,
    ChoiceAnswer,
    Context,
    Decision,
    Judged,
    NoulAnswer,
    Origin,
    ScoreAnswer,
    Shell,
    ToolCall,
    Verdict,
)

ASKED = questions.shipped()
CONTEXT = Context(cwd="/home/dev/proj", home="/home/dev")
CALM: frozenset[Circumstance] = frozenset({"said", "project"})
HEAD = 'policy = 1\nversion = "7"\n'
GATE = """
[[gate]]
id = "mine"
decision = "ask"
reason = "too much ({blast})"
when = { blast = ">= 1" }
trips = [{ answers = { blast = 1 } }]
spares = [{ answers = { blast = 0.9 } }]
"""
Levels = dict[str, float | int]
"""How risky each answer is, 0 to 1; of the choice, which option."""


def answers(levels: Levels, confidence: float = 1.0) -> tuple[tuple[str, Answer], ...]:
    found: list[tuple[str, Answer]] = []
    for each in ASKED.all:
        level = levels.get(each.id, 0)
        match each.kind:
            case "noul":
                found.append((each.id, NoulAnswer(level if each.risk == "high" else 1 - level)))
            case "score":
                score = level * (len(each.levels) - 1)
                found.append((each.id, ScoreAnswer(score, (), each.levels, confidence, confidence)))
            case "choice":
                chosen = list(each.options)[int(level)]
                shares = tuple((name, float(name == chosen)) for name in each.options)
                found.append((each.id, ChoiceAnswer(chosen, shares, confidence, confidence)))
    return tuple(found)


def passed(command: str = "git push origin feature") -> Verdict:
    tool = Shell(command)
    return decide(ToolCall(Origin("claude", "PreToolUse"), "Bash", tool), facts(tool, CONTEXT), CONTEXT, shipped())


def verdict(
    levels: Levels,
    held: frozenset[Circumstance] = CALM,
    allow: Allow = "off",
    context: Context = CONTEXT,
    policy: Policy | None = None,
    confidence: float = 1.0,
) -> Verdict:
    said = Judged("fixed", ASKED.version, answers(levels, confidence))
    return judged(passed(), said, held, context, policy or shipped(), allow)


def softness(found: Verdict) -> int:
    return {Decision.ALLOW: 0, Decision.PASS: 1, Decision.ASK: 2, Decision.DENY: 3}[found.decision]


def test_every_shipped_gate_has_both_sides_right() -> None:
    assert gates.failures(shipped().gates, ASKED) == ()
    assert len(shipped().gates) >= 10


@pytest.mark.parametrize("gate", shipped().gates, ids=lambda gate: gate.id)
def test_a_comparison_of_a_gate_left_out_makes_a_spared_case_trip(gate: gates.Gate) -> None:
    """Each comparison and circumstance has a case that only it spares; `answered` is what a gate is."""
    weaker = [
        *(structs.replace(gate, when={k: v for k, v in gate.when.items() if k != name}) for name in gate.when),
        *(structs.replace(gate, call={k: v for k, v in gate.call.items() if k != name}) for name in gate.call),
    ]
    for changed in weaker:
        assert gates.failures([changed], ASKED), changed


risk = st.floats(0, 1)
levels = st.fixed_dictionaries(
    {each.id: st.integers(0, len(each.options) - 1) if each.kind == "choice" else risk for each in ASKED.all}
)
held = st.frozensets(st.sampled_from(sorted(CIRCUMSTANCES)))


@given(levels, st.sampled_from([each.id for each in ASKED.all]), risk, held, st.sampled_from(["off", "on"]), risk)
def test_a_riskier_answer_never_gives_a_softer_verdict(
    low: Levels, name: str, more: float, held: frozenset[Circumstance], allow: Allow, confidence: float
) -> None:
    question = ASKED[name]
    most = len(question.options) - 1 if question.kind == "choice" else 1
    raised = low[name] + more * (most - low[name])
    high = {**low, name: round(raised) if question.kind == "choice" else raised}
    before = verdict(low, held, allow, confidence=confidence)
    after = verdict(high, held, allow, confidence=confidence)
    assert softness(after) >= softness(before)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.integers(0, 2), risk, risk)
def test_probability_moved_to_a_worse_environment_never_softens(
    weights: list[float], at: int, share: float, mutates: float
) -> None:
    total = sum(weights) or 1
    before = [weight / total for weight in weights] if sum(weights) else [1.0, 0, 0, 0]
    moved = before[at] * share
    after = [p - moved if i == at else p + moved if i == at + 1 else p for i, p in enumerate(before)]
    found = []
    for probabilities in (before, after):
        shares = tuple(zip(ASKED["environment"].options, probabilities, strict=True))
        rest = answers({"mutates": mutates, "blast": 0.6})
        given_ = tuple((n, ChoiceAnswer("local", shares, 1, 1) if n == "environment" else a) for n, a in rest)
        said = Judged("fixed", ASKED.version, given_)
        found.append(softness(judged(passed(), said, CALM, CONTEXT, shipped(), "on")))
    assert found[1] >= found[0]


def test_no_answer_asks_unless_the_call_is_ordinary_work() -> None:
    none = Judged("engine", ASKED.version, none="timeout: no answer within 3 s")
    found = judged(passed(), none, CALM, CONTEXT, shipped())
    assert (found.decision, found.decided_by, found.rule) == (Decision.ASK, "gate", "judge-no-answer")
    assert "timeout" in found.reason
    assert judged(passed(), none, CALM | {"confined"}, CONTEXT, shipped(), "on").decision is Decision.PASS


@pytest.mark.parametrize("figure", [math.nan, math.inf, -0.1, 1.1])
def test_a_figure_out_of_range_is_no_answer(figure: float) -> None:
    said = Judged("remote", ASKED.version, (*answers({})[1:], ("mutates", NoulAnswer(figure))))
    assert judged(passed(), said, CALM, CONTEXT, shipped()).rule == "judge-no-answer"
    assert "not between" in gates.unanswered(
        [("mutates", ASKED["mutates"].asked({}))], [("mutates", NoulAnswer(figure))]
    )


def test_an_answer_of_another_kind_or_none_is_told() -> None:
    asked = ASKED.fitting({})
    assert gates.unanswered(asked, answers({})) == ""
    assert gates.unanswered(asked, answers({})[1:]) == "mutates was not answered"
    assert gates.unanswered(asked, (("mutates", ChoiceAnswer("a", (("a", 1.0),), 1, 1)), *answers({})[1:])) != ""
    assert gates.unanswered(asked, (*answers({}), ("mutates", NoulAnswer(0)))) != ""


def test_in_shadow_answers_are_noted_and_change_nothing() -> None:
    found = verdict({"exfil": 1.0}, context=structs.replace(CONTEXT, mode="shadow"))
    assert found.decision is Decision.PASS
    assert [f.rule for f in found.findings] == ["judge-exfil"]
    assert found.judged is not None
    assert found.judged.gates == ("judge-exfil",)


def test_allow_is_off_noted_or_given_as_a_person_set_it() -> None:
    assert (verdict({}).decision, verdict({}).findings) == (Decision.PASS, ())
    noted = verdict({}, allow="shadow")
    assert (noted.decision, [f.decision for f in noted.findings]) == (Decision.PASS, [Decision.ALLOW])
    given_ = verdict({}, allow="on")
    assert (given_.decision, given_.rule) == (Decision.ALLOW, "judge-harmless")
    assert verdict({}, allow="on", context=structs.replace(CONTEXT, mode="shadow")).decision is Decision.PASS


@pytest.mark.parametrize("missing", ["said", "project"])
def test_allow_needs_an_intent_and_a_project(missing: Circumstance) -> None:
    assert verdict({}, CALM - {missing}, "on").decision is Decision.PASS


@pytest.mark.parametrize("held", ["opaque", "plan", "redacted", "ruled", "tainted", "unsandboxed", "unseen"])
def test_nothing_is_allowed_where_something_speaks_against_it(held: Circumstance) -> None:
    assert verdict({}, CALM | {held}, "on").decision is not Decision.ALLOW


def test_a_judge_is_asked_only_where_nothing_else_decided() -> None:
    assert undecided(passed(), "off")
    assert not undecided(passed("ls"), "on")
    assert not undecided(passed("rm -rf ~"), "on")
    assert not undecided(passed("touch a"), "off")
    assert undecided(passed("touch a"), "on")


def test_a_users_file_adds_gates_that_stop() -> None:
    policy = load((HEAD + GATE).encode(), "x.toml", shipped())
    assert verdict({"blast": 0.4}, policy=policy).rule == "mine"
    assert verdict({"blast": 0.4}).rule == ""
    repository = load_repository((HEAD + GATE).encode(), "x.toml", "/r")
    assert [gate.id for gate in repository.gates] == ["repository:mine"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ((">= 1", "<= 1"), "softer"),
        ((">= 1", "> 1"), "no comparison"),
        (("{ blast =", "{ blust ="), "no question is called blust"),
        (('blast = ">= 1"', 'blast = { confidence = ">= 0.5" }'), "doubt may only"),
        (('blast = ">= 1"', 'environment = ">= 0.5"'), "compare one of local"),
        (('blast = ">= 1"', 'environment = { moon = ">= 0.5" }'), "compare one of local"),
        (("{blast}", "{mutates}"), "may name the questions"),
        (('"ask"', '"allow"'), "only stops"),
        (('"mine"', '"judge-blast"'), "the id is taken"),
        (("[{ answers = { blast = 0.9 } }]", "[]"), "both of its sides"),
        (('when = { blast = ">= 1" }', "call = { moon = true }"), "line"),
    ],
)
def test_a_gate_that_is_wrong_is_refused_by_name_and_line(change: tuple[str, str], says: str) -> None:
    with pytest.raises(PolicyError, match=says) as caught:
        load((HEAD + GATE.replace(*change)).encode(), "x.toml", shipped())
    assert "x.toml: line" in caught.value.message


def test_a_repository_allows_nothing() -> None:
    with pytest.raises(PolicyError, match="allows nothing"):
        load_repository((HEAD + GATE.replace('"ask"', '"allow"').replace(">=", "<=")).encode(), "x.toml", "/r")
