"""The words around the caller's own: loaded from data, versioned, and put together for one request.

The state is tokenised once and each question apart, so what is shared is the same tokens whatever is asked.
Words of the caller are tokenised as words: they can spell a control token and never become one.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Sequence
from importlib import resources

import msgspec
from msgspec import Struct

from reflexd.engine.errors import Fault, Invalid, ModelError
from reflexd.engine.labels import Labels
from reflexd.engine.styles import STYLES
from reflexd.engine.styles.shown import Kind, Shown, Texts, filled
from reflexd.engine.tokens import Tokenizer
from reflexd.engine.values import Branch, Picture, Prefix
from reflexd.types import Choice, Content, Noul, Question, Request, Score

SHARED = ("system", "state_heading")
"""What every kept state is made of."""


class Prompt(Struct, frozen=True):
    """A style with its words. `variants` are other wordings that are averaged with them; none by default."""

    style: str
    version: str
    texts: Texts
    variants: tuple[Texts, ...] = ()

    @property
    def wordings(self) -> tuple[Texts, ...]:
        return (self.texts, *self.variants)


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    version: str
    texts: dict[str, str] = {}
    variants: list[dict[str, str]] = []


def load(style: str, override: bytes | None = None, name: str = "the prompt file") -> Prompt:
    """The shipped words of a style, changed by `override` (TOML: version, [texts], [[variants]]).

    The version says style, number and a digest of all words in force. Raises ModelError.
    """
    if style not in STYLES:
        raise ModelError(f"there is no prompt style {style!r}", f"there are: {', '.join(STYLES)}")
    shipped = _read(resources.files("reflexd.config").joinpath("prompts", f"{style}.toml").read_bytes(), style)
    texts = shipped.texts
    version, variants = shipped.version, shipped.variants
    if override is not None:
        own = _read(override, name)
        version, texts, variants = own.version, texts | own.texts, own.variants
    base = _texts(texts, name)
    others = []
    for number, changes in enumerate(variants, 1):
        if shared := sorted(set(changes) & set(SHARED)):
            raise ModelError(f"{name}: variant {number} changes {', '.join(shared)}, which every kept state is made of")
        others.append(_texts(texts | changes, name))
    words = msgspec.json.encode([style, base, others])
    return Prompt(style, f"{style}-{version}-{hashlib.sha256(words).hexdigest()[:12]}", base, tuple(others))


def _read(data: bytes, name: str) -> _File:
    try:
        return msgspec.convert(tomllib.loads(data.decode()), _File)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError) as e:
        raise ModelError(f"{name}: {e}") from e


def _texts(texts: dict[str, str], name: str) -> Texts:
    try:
        return msgspec.convert(texts, Texts)
    except msgspec.ValidationError as e:
        raise ModelError(f"{name}: [texts]: {e}", "see the shipped prompts for the names") from e


def rendered(content: Content | None) -> str:
    """The caller's JSON as the model sees it: a string as it is, anything else indented, its keys in their order."""
    if content is None:
        return ""
    return content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)


class Composer:
    """Puts prompts together for one tokenizer. Thread-safe: it keeps nothing but what it was made of."""

    def __init__(self, prompt: Prompt, tokenizer: Tokenizer, labels: Labels) -> None:
        self.prompt = prompt
        self.labels = labels
        self._tokenizer = tokenizer
        self._style = STYLES[prompt.style]
        opening = tokenizer.opening(prompt.texts.system)
        self._chat = opening is not None
        self._opening = tokenizer.text(prompt.texts.system + "\n\n") if opening is None else tokenizer.markup(opening)
        self._closing = tokenizer.markup(tokenizer.closing()) if self._chat else ()

    def prefix(self, request: Request) -> Prefix:
        """Raises Invalid for an image that this model cannot see."""
        words = self._style.state(rendered(request.state), self.prompt.texts)
        if not request.images:
            return Prefix(self._opening + self._tokenizer.text(words))
        images = dict(request.images)
        tokens = list(self._opening)
        pictures = []
        for piece in re.split("(" + "|".join(map(re.escape, images)) + ")", words):
            if piece in images:
                image = images[piece]
                shown = self._tokenizer.image(image.width, image.height)
                if not shown:
                    fault = Fault(
                        ("body", "state"), "this model sees no images; use an image-text model", "unsupported"
                    )
                    raise Invalid((fault,))
                at = len(tokens)
                pictures.append(Picture(at + 1, at + len(shown) - 1, image.digest, image.data))
                tokens += shown
            elif piece:
                tokens += self._tokenizer.text(piece)
        return Prefix(tuple(tokens), tuple(pictures))

    def branch(self, question: Question, page: Sequence[int], of: int, at: int, texts: Texts) -> Branch:
        """`question` with the options of `page` (indices) shown, from place `at` of all `of` in this order."""
        letters, tokens = self.labels.letters, self.labels.tokens
        lines = tuple((letters[place], option(question, index, texts)) for place, index in enumerate(page))
        note = filled(texts.page, a=at + 1, b=at + len(page), n=of) if len(page) < of else ""
        words = self._style.question(Shown(kind(question), rendered(question.instructions), lines, note), texts)
        if not self._chat:
            words = f"{words}\n\n{texts.lead}"
        return Branch(self._tokenizer.text(words) + self._closing, tokens[: len(page)])


def kind(question: Question) -> Kind:
    match question:
        case Noul():
            return "noul"
        case Choice():
            return "choice"
        case Score():
            return "score"


def count(question: Question) -> int:
    """How many options are shown."""
    match question:
        case Noul():
            return 2
        case Choice(options):
            return len(options)
        case Score(levels):
            return len(levels)


def option(question: Question, index: int, texts: Texts) -> str:
    match question:
        case Noul(_, yes, no):
            name, said, default = (
                (texts.yes, yes, texts.yes_default) if index == 0 else (texts.no, no, texts.no_default)
            )
            text = rendered(said) or default
            return filled(texts.described, key=name, text=text) if text else name
        case Choice(options):
            key, said = options[index]
            return filled(texts.described, key=key, text=text) if (text := rendered(said)) else key
        case Score(levels):
            return filled(texts.level, i=index, n=len(levels) - 1, text=rendered(levels[index]))
