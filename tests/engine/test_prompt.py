"""The prompt's words: data that can be changed by file, within limits."""

from __future__ import annotations

import pytest

from reflexd.engine import labels, prompt
from reflexd.engine.bytetokens import ByteTokens
from reflexd.engine.errors import ModelError
from reflexd.engine.labels import pages
from reflexd.engine.prompt import Composer
from reflexd.engine.styles.shown import filled
from reflexd.types import Choice, Noul, Request


def test_a_version_names_the_words_in_force() -> None:
    shipped = prompt.load("markdown")
    same = prompt.load("markdown", b'version = "2"')
    other = prompt.load("markdown", b'version = "2"\n[texts]\nyes = "right"')
    assert shipped.version.startswith("markdown-2-")
    assert same.version == shipped.version != other.version
    assert prompt.load("compact").version != shipped.version


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (b"version = 1", "version"),
        (b'version = "1"\n[texts]\nlouder = "x"', "louder"),
        (b'version = "1"\n[[variants]]\nsystem = "x"', "every kept state"),
        (b'version = "1"\n[[variants]]\nstate_heading = "x"', "every kept state"),
        (b'version = "1"\nmore = 1', "more"),
        (b"\xff", "invalid start byte"),
        (b"version =", "prompt.toml"),
    ],
)
def test_a_file_that_is_wrong_is_named(file: bytes, says: str) -> None:
    with pytest.raises(ModelError) as refused:
        prompt.load("markdown", file, "prompt.toml")
    assert "prompt.toml" in refused.value.message
    assert says in refused.value.message


def test_a_style_that_is_not_there() -> None:
    with pytest.raises(ModelError, match="no prompt style 'loud'"):
        prompt.load("loud")


def test_what_is_filled_in_is_not_read_again() -> None:
    assert filled("{key}: {text} {other}", key="{text}", text="{key}") == "{text}: {key} {other}"
    assert filled("{letter}. {", letter="A") == "A. {"


def test_each_wording_of_a_variant_is_a_branch_of_the_same_state() -> None:
    tokens = ByteTokens()
    file = b'version = "2"\n[[variants]]\nask_noul = "Well?"\n[[variants]]\nyes = "true"\nno = "false"'
    words = prompt.load("markdown", file)
    composer = Composer(words, tokens, labels.labels(tokens))
    branches = {composer.branch(Noul("Is it red?"), (0, 1), 2, 0, texts) for texts in words.wordings}
    assert len(branches) == 3
    plain = Composer(prompt.load("markdown"), tokens, labels.labels(tokens))
    assert composer.prefix(Request("s", ())) == plain.prefix(Request("s", ()))


def test_pages_are_even_and_none_holds_one_option() -> None:
    assert [len(page) for page in pages(range(27), 26)] == [14, 13]
    assert [len(page) for page in pages(range(255), 26)] == [26] * 5 + [25] * 5
    assert list(pages(range(5), 2)) == [(0, 1), (2, 3), (4,)]


class FewLetters(ByteTokens):
    def label(self, label: str) -> int | None:
        return None if label > "D" else super().label(label)


def test_a_tokenizer_without_letters_is_refused() -> None:
    with pytest.raises(ModelError, match="only 4 letters"):
        labels.labels(FewLetters())


def test_a_page_says_which_options_it_shows() -> None:
    tokens = ByteTokens()
    composer = Composer(prompt.load("markdown"), tokens, labels.labels(tokens))
    question = Choice(tuple((f"o{number}", None) for number in range(30)))
    branch = composer.branch(question, tuple(range(15, 30)), 30, 15, composer.prompt.texts)
    text = bytes(token for token in branch.tokens if token < 256).decode()
    assert "options 16 to 30 of 30" in text
    assert "A. o15" in text
    assert len(branch.labels) == 15
