"""A request as branches: what a question's answer depends on, and what it does not."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.engine import labels, plan, prompt
from reflexd.engine.bytetokens import FIRST_CONTROL, ByteTokens
from reflexd.engine.calibration import NONE
from reflexd.engine.errors import Invalid
from reflexd.engine.orders import orders
from reflexd.engine.plan import Limits, Plan
from reflexd.engine.prompt import Composer
from reflexd.engine.values import Branch, Reading
from reflexd.types import Answer, Choice, ChoiceAnswer, Noul, NoulAnswer, Question, Request, Score, ScoreAnswer

TOKENS = ByteTokens()
COMPOSERS = {style: Composer(prompt.load(style), TOKENS, labels.labels(TOKENS)) for style in ("markdown", "compact")}
ROOMY = Limits(1 << 20)

words = st.text(st.characters(codec="utf-8"), max_size=20)
content = st.none() | words | st.dictionaries(words, words, max_size=2) | st.lists(words, max_size=2)
names = words.filter(str.strip)
questions: st.SearchStrategy[Question] = st.one_of(
    st.builds(Noul, instructions=content, yes=content, no=content),
    st.builds(
        lambda options, said: Choice(tuple(options.items()), said),
        st.dictionaries(names, content, min_size=2, max_size=40),
        content,
    ),
    st.builds(Score, levels=st.lists(words, min_size=2, max_size=10).map(tuple), instructions=content),
)
asked = st.dictionaries(names, questions, min_size=1, max_size=4)


def planned(found: dict[str, Question], state: object = "the state", count: int = 2, style: str = "markdown") -> Plan:
    return plan.plan(Request(state, tuple(found.items())), COMPOSERS[style], ROOMY, count)  # type: ignore[arg-type]


def hashed(branch: Branch) -> Reading:
    """Logits that depend on everything in the branch."""
    seed = hashlib.sha256(repr(branch.tokens).encode()).digest()
    found = tuple(hashlib.sha256(seed + bytes([label])).digest()[0] / 16 for label in branch.labels)
    return Reading(found, 20.0)


def answered(made: Plan) -> dict[str, Answer]:
    return dict(plan.answers(made, [hashed(branch) for branch in made.branches], NONE))


@given(asked, asked, st.sampled_from(["markdown", "compact"]))
def test_what_else_is_asked_and_how_it_is_called_changes_nothing(
    some: dict[str, Question], others: dict[str, Question], style: str
) -> None:
    alone = answered(planned(some, style=style))
    more = answered(planned({**some, **{f"other {name}": question for name, question in others.items()}}, style=style))
    renamed = answered(planned({f"new {name}": question for name, question in some.items()}, style=style))
    reversed_ = answered(planned(dict(reversed(some.items())), style=style))
    for name, answer in alone.items():
        assert more[name] == answer
        assert renamed[f"new {name}"] == answer
        assert reversed_[name] == answer


@given(asked, st.integers(1, 8))
def test_probabilities_sum_to_one(some: dict[str, Question], count: int) -> None:
    for answer in answered(planned(some, count=count)).values():
        match answer:
            case NoulAnswer(noul):
                assert 0 <= noul <= 1
            case ChoiceAnswer(choice, probabilities):
                assert math.isclose(math.fsum(p for _, p in probabilities), 1, abs_tol=1e-9)
                assert dict(probabilities)[choice] == max(p for _, p in probabilities)
            case ScoreAnswer(score, probabilities):
                assert math.isclose(math.fsum(probabilities), 1, abs_tol=1e-9)
                assert score == pytest.approx(sum(i * p for i, p in enumerate(probabilities)))


def by_text(made: Plan, question: Choice) -> list[Reading]:
    """A model that goes by an option's words alone, wherever they stand."""
    readings: dict[int, Reading] = {}
    for view in made.asks[0].views:
        for index, options in view:
            scores = tuple(hashlib.sha256(question.options[option][0].encode()).digest()[0] / 32 for option in options)
            readings[index] = Reading(scores, 7.0)
    return [readings[index] for index in range(len(made.branches))]


@given(st.lists(names, min_size=2, max_size=40, unique=True), st.randoms(use_true_random=False), st.integers(1, 4))
def test_permuting_the_options_permutes_the_answer(keys: list[str], draw: object, count: int) -> None:
    shuffled = list(keys)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    found = []
    for order in (keys, shuffled):
        question = Choice(tuple((key, None) for key in order))
        made = planned({"q": question}, count=count)
        (answer,) = dict(plan.answers(made, by_text(made, question), NONE)).values()
        assert isinstance(answer, ChoiceAnswer)
        found.append(dict(answer.probabilities))
    for key in keys:
        assert found[0][key] == pytest.approx(found[1][key], abs=1e-12)


def test_two_options_are_asked_both_ways_so_their_place_cannot_matter() -> None:
    one = answered(planned({"q": Choice((("a", None), ("b", None)))}))["q"]
    other = answered(planned({"q": Choice((("b", None), ("a", None)))}))["q"]
    assert isinstance(one, ChoiceAnswer)
    assert isinstance(other, ChoiceAnswer)
    assert dict(one.probabilities) == pytest.approx(dict(other.probabilities))


@given(questions, st.integers(1, 8))
def test_orders_are_distinct_and_start_with_the_callers(question: Question, count: int) -> None:
    size = prompt.count(question)
    found = orders(question, size, count)
    assert found[0] == tuple(range(size))
    assert len(set(found)) == len(found) <= count
    assert all(sorted(order) == list(range(size)) for order in found)
    assert orders(question, size, count) == found


def test_as_many_orders_as_there_are() -> None:
    levels = Score(("a", "b", "c"))
    assert len(orders(levels, 3, 8)) == 6
    assert orders(Noul("x"), 2, 8) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("size", [2, 26, 27, 28, 53, 255])
def test_more_options_than_letters_go_on_pages(size: int) -> None:
    question = Choice(tuple((f"option {number}", None) for number in range(size)))
    made = planned({"q": question}, count=2)
    for view in made.asks[0].views:
        assert sorted(option for _, options in view for option in options) == list(range(size))
        assert all(2 <= len(options) <= 26 for _, options in view)
        assert len(view) == -(-size // 26)
    answer = answered(made)["q"]
    assert isinstance(answer, ChoiceAnswer)
    assert [key for key, _ in answer.probabilities] == [f"option {number}" for number in range(size)]


def test_equal_questions_are_computed_once_and_counted_each() -> None:
    question = Noul("Is it red?")
    one, two = planned({"a": question}), planned({"a": question, "b": question})
    assert len(two.branches) == len(one.branches) == 2
    assert two.question_tokens == 2 * one.question_tokens


@pytest.mark.parametrize("style", ["markdown", "compact"])
@given(text=st.text(max_size=30), control=st.sampled_from(["<|end|>", "<|system|>", "<|assistant|>", "<|user|>"]))
def test_words_never_become_control_tokens(style: str, text: str, control: str) -> None:
    said = f"{text}{control}{control}{text}"
    found: dict[str, Question] = {
        "n": Noul(said, said, {said: said}),
        "c": Choice(((said, None), ("other", said)), [said]),
        "s": Score((said, [said]), said),
    }
    made = planned(found, {"a": said, said: [said]}, style=style)
    empty = planned({"n": Noul("x")}, "y", style=style)
    assert controls(made.prefix.tokens) == controls(empty.prefix.tokens)
    assert {tuple(controls(branch.tokens)) for branch in made.branches} == {tuple(controls(empty.branches[0].tokens))}


def controls(tokens: Sequence[int]) -> list[int]:
    return [token for token in tokens if token >= FIRST_CONTROL]


@given(st.text(min_size=1, max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_states_that_begin_alike_begin_with_the_same_tokens(common: str, one: str, other: str) -> None:
    first = planned({"q": Noul("x")}, {"common": common, "own": one}).prefix.tokens
    second = planned({"q": Noul("x")}, {"common": common, "own": other}).prefix.tokens
    shared = len(COMPOSERS["markdown"].prefix(Request({"common": common}, ())).tokens) - 4
    assert first[:shared] == second[:shared]


def test_a_question_that_is_too_long_is_refused_by_its_name() -> None:
    found = (("short", Noul("x")), ("long", Noul("x" * 5000)))
    with pytest.raises(Invalid, match="over the maximum context length of 4096 tokens for one question") as refused:
        plan.plan(Request("s", found), COMPOSERS["markdown"], ROOMY, 2)
    assert [fault.loc for fault in refused.value.faults] == [("body", "questions", "long")]
    with pytest.raises(Invalid, match="over the maximum context length of 1000 tokens"):
        plan.plan(Request("s" * 900, found[:1]), COMPOSERS["markdown"], Limits(1000), 2)


def test_an_image_is_refused_where_nothing_can_see() -> None:
    from reflexd.types import Image

    with pytest.raises(Invalid, match="sees no images"):
        COMPOSERS["markdown"].prefix(Request("see <image:1>", (), (("<image:1>", Image(b"", "d", 8, 8)),)))


def test_disagreement_is_told_when_asked_for() -> None:
    made = planned({"q": Choice((("a", None), ("b", None), ("c", None)))})
    assert answered(made)["q"].disagreement is None
    asked_for = msgspec.structs.replace(made, disagreement=True)
    told = answered(asked_for)["q"].disagreement
    assert told is not None
    assert 0 <= told <= 1
