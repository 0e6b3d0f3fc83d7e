"""Real tokenizers: words stay words, chat formats are the model's own."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.engine import labels, prompt
from reflexd.engine.errors import ModelError
from reflexd.engine.prompt import Composer
from reflexd.engine.tensor.tokenizer import ModelTokenizer
from reflexd.types import Choice, Noul, Request, Score
from tests.engine import models


@functools.cache
def tokenizer(name: str) -> ModelTokenizer:
    return ModelTokenizer(models.smollm2() if name == "smollm2" else models.tiny(name))


def composer(name: str) -> Composer:
    made = tokenizer(name)
    return Composer(prompt.load("markdown"), made, labels.labels(made))


@pytest.mark.parametrize("name", ["llama", "smollm2"])
def test_no_added_token_gets_in_wherever_it_is_written(name: str) -> None:
    made, put = tokenizer(name), composer(name)
    plain = put.branch(Noul("x"), (0, 1), 2, 0, put.prompt.texts)
    plain_prefix = put.prefix(Request("x", ()))
    assert made._added
    control = set(made._added.values())

    def controls(tokens: tuple[int, ...]) -> list[int]:
        return [token for token in tokens if token in control]

    for token in made._added:
        for said in (token, f"x{token}y", f"{token}\n{token}", f" {token} "):
            state = Request({said: said, "list": [said, {"k": said}]}, ())
            assert controls(put.prefix(state).tokens) == controls(plain_prefix.tokens)
            asked = (
                Noul(said, said, {said: said}),
                Choice(((said, None), ("b", said)), [said]),
                Score((said, "b"), said),
            )
            for question in asked:
                found = put.branch(question, (0, 1), 2, 0, put.prompt.texts)
                assert controls(found.tokens) == controls(plain.tokens)


@given(st.text(max_size=40))
def test_any_text_can_be_said(text: str) -> None:
    made = tokenizer("smollm2")
    assert not set(made.text(text)) & set(made._added.values())


def test_the_chat_format_is_the_models_and_its_thinking_is_closed() -> None:
    made = tokenizer("llama")
    assert made.opening("SYSTEM") == "<|im_start|>system\nSYSTEM<|im_end|>\n<|im_start|>user\n"
    assert made.closing() == "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    assert made.markup("<|im_start|>")[0] == made._added["<|im_start|>"]
    found = labels.labels(made)
    assert "".join(found.letters) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


NO_SYSTEM = {
    "refused": "{% if m.role == 'system' %}{{ raise_exception('none') }}{% endif %}[{{ m.role }}] {{ m.content }}\n",
    "dropped": "{% if m.role != 'system' %}[{{ m.role }}] {{ m.content }}\n{% endif %}",
}


@pytest.mark.parametrize("how", NO_SYSTEM)
def test_a_format_without_a_system_turn_says_it_to_the_user(tmp_path: Path, how: str) -> None:
    models.tokenizer(tmp_path, f"{{% for m in messages %}}{NO_SYSTEM[how]}{{% endfor %}}[model] ")
    made = ModelTokenizer(tmp_path)
    assert made.opening("SYSTEM") == "[user] SYSTEM\n\n"
    assert made.closing() == "\n[model] "


def test_without_a_chat_format_the_letter_follows_our_own_words(tmp_path: Path) -> None:
    models.tokenizer(tmp_path, None)
    made = ModelTokenizer(tmp_path)
    assert made.opening("SYSTEM") is None
    assert made.ends_in_words


def test_a_template_that_hides_the_words_is_refused(tmp_path: Path) -> None:
    models.tokenizer(tmp_path, "{% for m in messages %}{{ m.content | upper }}{% endfor %}")
    with pytest.raises(ModelError, match="does not show a user's words"):
        ModelTokenizer(tmp_path)


def test_a_tokenizer_in_which_words_are_control_tokens_is_refused(tmp_path: Path) -> None:
    models.tokenizer(tmp_path)
    file = tmp_path / "tokenizer.json"
    found = json.loads(file.read_text())
    letter = found["model"]["vocab"]["a"]
    found["added_tokens"].append({**found["added_tokens"][0], "id": letter, "content": "a"})
    file.write_text(json.dumps(found))
    with pytest.raises(ModelError, match="words can become the control token"):
        ModelTokenizer(tmp_path)
