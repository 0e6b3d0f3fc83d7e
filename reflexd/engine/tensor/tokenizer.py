"""A model's tokenizer, twice: once as it is, for the chat format, and once without any added token, for words.

Words of a caller may spell a control token. The second tokenizer knows none, so they stay letters; that no added
token can come out of it is checked when it is made.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Rust

from reflexd.engine.errors import ModelError

BREAK = "\x00words\x00"
VISION = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>")


class ModelTokenizer:
    """Implements `engine.tokens.Tokenizer`. `grid` says how many (rows, columns) of tokens an image of a size takes."""

    def __init__(self, directory: Path, grid: Callable[[int, int], tuple[int, int]] | None = None) -> None:
        """Raises ModelError for files that are missing, broken, or of a tokenizer that lets words become control."""
        data = _json(directory / "tokenizer.json")
        try:
            self._whole = Rust.from_str(json.dumps(data))
            self._words = Rust.from_str(json.dumps(data | {"added_tokens": [], "post_processor": None}))
        except Exception as e:  # the library raises plain Exception
            raise ModelError(f"{directory / 'tokenizer.json'} is no tokenizer: {e}") from e
        self._whole.no_truncation()
        self._words.no_truncation()
        self._added = {token["content"]: token["id"] for token in data.get("added_tokens", ())}
        self._check(directory)
        self._grid = grid
        self._vision = tuple(self._added.get(token) for token in VISION)
        self._template = _template(directory)
        self._opening: str | None = None
        self._closing = ""
        if self._template:
            self._opening, self._closing = self._around()

    @property
    def vocabulary(self) -> int:
        return int(self._whole.get_vocab_size(with_added_tokens=True))

    @property
    def ends_in_words(self) -> bool:
        return self._template is None

    def text(self, text: str) -> tuple[int, ...]:
        return tuple(self._words.encode(_scalar(text), add_special_tokens=False).ids)

    def markup(self, text: str) -> tuple[int, ...]:
        return tuple(self._whole.encode(text, add_special_tokens=False).ids)

    def opening(self, system: str) -> str | None:
        return None if self._opening is None else self._opening.replace(BREAK, system)

    def closing(self) -> str:
        return self._closing

    def label(self, label: str) -> int | None:
        if self.ends_in_words:
            before, after = self.text("Letter:"), self.text(f"Letter: {label}")
        else:
            before, after = self.markup(self._closing), self.markup(self._closing + label)
        return after[-1] if len(after) == len(before) + 1 and after[:-1] == before else None

    def image(self, width: int, height: int) -> tuple[int, ...]:
        start, pad, end = self._vision
        if self._grid is None or start is None or pad is None or end is None:
            return ()
        rows, columns = self._grid(width, height)
        return (start, *(pad,) * (rows * columns), end)

    def _check(self, directory: Path) -> None:
        control = set(self._added.values())
        for content in self._added:
            if control & set(self.text(f"a {content} b {content}{content}")):
                raise ModelError(
                    f"{directory / 'tokenizer.json'}: words can become the control token {content!r}",
                    "this kind of tokenizer is not supported",
                )

    def _around(self) -> tuple[str, str]:
        """The chat format around a user's words, its system turn holding BREAK."""
        words = f"{BREAK}{BREAK}"
        for messages in (
            [{"role": "system", "content": BREAK}, {"role": "user", "content": words}],
            [{"role": "user", "content": f"{BREAK}\n\n{words}"}],  # formats that know no system turn
        ):
            try:
                shown = self._rendered(messages)
            except Exception:  # noqa: S112  templates raise what they like; the next shape is tried
                continue
            before, found, after = shown.partition(words)
            if found and before.count(BREAK) == 1 and BREAK not in after:
                return before, after
        raise ModelError("the model's chat template does not show a user's words as they are")

    def _rendered(self, messages: list[dict[str, str]]) -> str:
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        settings = self._template or {}
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = lambda value, **_: json.dumps(value, ensure_ascii=False)
        environment.globals["raise_exception"] = _refuse
        template = environment.from_string(settings["chat_template"])
        return template.render(
            messages=messages, add_generation_prompt=True, enable_thinking=False, tools=None, **settings["tokens"]
        )


def _refuse(message: str) -> None:
    raise ValueError(message)


def _scalar(text: str) -> str:
    """Lone surrogates, which JSON can spell and UTF-8 cannot, become the replacement character."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _template(directory: Path) -> dict[str, Any] | None:
    file = directory / "tokenizer_config.json"
    settings = _json(file) if file.exists() else {}
    apart = directory / "chat_template.jinja"
    template = apart.read_text("utf-8") if apart.exists() else settings.get("chat_template")
    if isinstance(template, list):
        template = next((one["template"] for one in template if one.get("name") == "default"), None)
    if not isinstance(template, str) or not template:
        return None
    tokens = {}
    for name in ("bos_token", "eos_token", "pad_token", "unk_token"):
        token = settings.get(name)
        tokens[name] = (token.get("content", "") if isinstance(token, dict) else token) or ""
    return {"chat_template": template, "tokens": tokens}


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{file} is not there", "the model's directory needs it; pull the model again") from None
    except (OSError, ValueError) as e:
        raise ModelError(f"{file} cannot be read: {e}") from e
    if not isinstance(found, dict):
        raise ModelError(f"{file} does not hold an object")
    return found
