"""Kept states against a plain model of them: whatever is asked for in whatever order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from reflexd.engine.cache import Cache, Node, keys, shared
from reflexd.engine.hashed import Digest, Hashed
from reflexd.engine.values import Picture, Prefix

tokens = st.lists(st.integers(0, 2), min_size=1, max_size=10).map(tuple)


@given(tokens, tokens)
def test_shared_is_how_far_two_agree(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    places = [x == y for x, y in zip(a, b, strict=False)]
    assert shared(a, b) == (places.index(False) if False in places else len(places))


def test_images_are_told_apart_by_what_they_show() -> None:
    one = Prefix((1, 9, 9, 2), (Picture(1, 3, "red", b""),))
    other = Prefix((1, 9, 9, 2), (Picture(1, 3, "blue", b""),))
    assert shared(keys(one), keys(other)) == 1
    assert keys(one) == keys(one)


class Kept(RuleBasedStateMachine):
    """`BUDGET` holds three states of the longest kind."""

    BUDGET = 30 * Hashed.BYTES
    recurrent = False

    def __init__(self) -> None:
        super().__init__()
        self.backend = Hashed(self.recurrent)
        self.cache: Cache[Digest] = Cache(self.backend, self.BUDGET)
        self.held: list[Node[Digest]] = []

    @rule(wanted=tokens, hold=st.booleans())
    def ask(self, wanted: tuple[int, ...], hold: bool) -> None:
        """As the worker does: from the longest there is, by a pass a piece."""
        node: Node[Digest] | None = None
        for _ in range(len(wanted) + 1):
            match = self.cache.match(wanted)
            assert match.length <= len(wanted)
            found = self.cache.branched(match)
            stop = len(wanted)
            if node is not None and node.end >= match.length:
                found = node
            elif found is None:
                found, stop = match.node, match.length
            if found.end == len(wanted):
                node = found
                break
            state = self.backend.encode(found.state, Prefix(wanted), found.end, stop)
            node = self.cache.add(found, wanted[found.end : stop], state)
        assert node is not None
        assert node.end == len(wanted)
        assert node.state is not None
        assert node.state.keys == wanted
        if hold:
            self.cache.hold(node)
            self.held.append(node)
        self.cache.shrink()

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def let_go(self, data: st.DataObject) -> None:
        self.cache.release(self.held.pop(data.draw(st.integers(0, len(self.held) - 1))))
        self.cache.shrink()

    @rule()
    def give_up_all(self) -> None:
        self.cache.shrink(0)

    @invariant()
    def it_adds_up(self) -> None:
        nodes = list(self.cache.nodes())
        assert self.cache.count == len(nodes)
        assert self.cache.bytes == sum(node.bytes for node in nodes)
        for node in nodes:
            assert node.state is not None
            assert node.edge == node.state.keys[node.end - len(node.edge) : node.end]
            assert len(node.state.keys) == node.end
            assert node.parent is not None
            assert node.parent.end + len(node.edge) == node.end
            if not self.recurrent:
                assert node.bytes == len(node.edge) * Hashed.BYTES

    @invariant()
    def the_budget_is_kept_but_for_what_is_in_use(self) -> None:
        assert self.cache.bytes <= self.BUDGET or all(node.users or node.children for node in self.cache.nodes())

    @invariant()
    def what_is_held_stays(self) -> None:
        for node in self.held:
            assert node.state is not None


class KeptRecurrent(Kept):
    recurrent = True


TestKept = Kept.TestCase
TestKept.settings = settings(max_examples=120, stateful_step_count=30, derandomize=True)
TestKeptRecurrent = KeptRecurrent.TestCase
TestKeptRecurrent.settings = settings(max_examples=120, stateful_step_count=30, derandomize=True)


def encoded(cache: Cache[Digest], backend: Hashed, wanted: tuple[int, ...]) -> None:
    match = cache.match(wanted)
    node = cache.branched(match)
    assert node is not None
    if node.end < len(wanted):
        cache.add(node, wanted[node.end :], backend.encode(node.state, Prefix(wanted), node.end, len(wanted)))


def test_a_state_that_begins_like_a_kept_one_pays_for_its_tail() -> None:
    backend = Hashed()
    cache = Cache(backend, 1 << 20)
    encoded(cache, backend, (1, 2, 3, 4, 5))
    encoded(cache, backend, (1, 2, 3, 9))
    assert cache.match((1, 2, 3, 9)).length == 4
    assert cache.match((1, 2, 3, 4, 5)).length == 5
    assert cache.bytes == 6 * Hashed.BYTES  # 1 2 3 once, then 4 5 and 9
    assert backend.passes == 2


def test_the_longest_unused_goes_first() -> None:
    backend = Hashed()
    cache = Cache(backend, 10 * Hashed.BYTES)
    for first in (1, 2):
        encoded(cache, backend, (first, 0, 0, 0, 0))
    encoded(cache, backend, (1, 0, 0, 0, 0))
    cache.hold(cache.match((1, 0, 0, 0, 0)).node)
    encoded(cache, backend, (3, 0, 0, 0, 0))
    cache.shrink()
    assert cache.match((1, 0, 0, 0, 0)).length == 5
    assert cache.match((2, 0, 0, 0, 0)).length == 0
    assert cache.match((3, 0, 0, 0, 0)).length == 5
