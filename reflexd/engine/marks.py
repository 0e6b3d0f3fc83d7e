"""Images in a state: which there are, and the markers that stand for them until the prompt is tokenised.

An image is an object `{"type": "image", "source": ...}` anywhere in the state, or the placeholder of an asset
as or inside one of its strings (TypeSafe's OpenAPI: "wherever it appears").
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from reflexd.engine.errors import Fault, Invalid
from reflexd.types import Choice, Content, Noul, Question, Score

Loc = tuple[str | int, ...]

IMAGES_MAX = 32


class Asset(Struct, frozen=True):
    """An image that came beside the state: base64 text, or the name of a part of the same multipart body."""

    data_base64: str = ""
    part: str = ""


class Source(Struct, frozen=True):
    """An image to be fetched for `marker`: a `source` of the state, or one of the assets."""

    marker: str
    loc: Loc
    source: str | Asset


def assets(given: Any, faults: list[Fault]) -> dict[str, Asset]:
    """A body's `assets` by placeholder; what is wrong with them is added to `faults`."""
    loc: Loc = ("body", "assets")
    if given is None:
        return {}
    if not isinstance(given, dict):
        faults.append(Fault(loc, "assets has to be an object of images by placeholder", "type"))
        return {}
    if not given:
        faults.append(Fault(loc, "assets cannot be empty; leave it out", "too_short"))
    found = {}
    for placeholder, asset in given.items():
        here: Loc = (*loc, placeholder)
        if not placeholder.strip():
            faults.append(Fault(here, "a placeholder cannot be blank", "blank"))
        elif not isinstance(asset, dict) or asset.get("type") != "image":
            faults.append(Fault(here, 'an asset has to be an object of type "image"', "type"))
        elif isinstance(asset.get("part"), str) and asset["part"]:
            found[placeholder] = Asset(part=asset["part"])
        elif not isinstance(asset.get("data_base64"), str) or not asset["data_base64"]:
            faults.append(Fault(here, "an asset needs data_base64, or part in a multipart body", "missing"))
        elif asset.get("format") not in ("png", "jpg", "jpeg"):
            faults.append(Fault((*here, "format"), "format has to be png, jpg or jpeg", "enum"))
        else:
            found[placeholder] = Asset(data_base64=asset["data_base64"])
    return found


def marked(
    state: Content, assets: Mapping[str, Asset], body: bytes, questions: tuple[tuple[str, Question], ...]
) -> tuple[Content, tuple[Source, ...]]:
    """The state with a marker where an image is. A marker holds a hash of the whole body, which no body holds.

    Raises Invalid for too many images, and for one in a question.
    """
    seed = hashlib.sha256(body).hexdigest()[:32]
    sources: list[Source] = []

    def marker(loc: Loc, source: str | Asset) -> str:
        found = Source(f"<image:{seed}:{len(sources)}>", loc, source)
        sources.append(found)
        return found.marker

    def text(value: str, loc: Loc) -> str:
        for placeholder, asset in assets.items():
            pieces = value.split(placeholder)
            value = pieces[0] + "".join(marker(loc, asset) + piece for piece in pieces[1:])
        return value

    def walk(value: Any, loc: Loc) -> Any:
        if isinstance(value, str):
            return text(value, loc) if assets else value
        if isinstance(value, list):
            return [walk(inner, (*loc, number)) for number, inner in enumerate(value)]
        if isinstance(value, dict):
            if value.get("type") == "image" and isinstance(value.get("source"), str):
                return marker(loc, value["source"])
            return {key: walk(inner, (*loc, key)) for key, inner in value.items()}
        return value

    shown = walk(state, ("body", "state"))
    if len(sources) > IMAGES_MAX:
        raise Invalid((Fault(("body", "state"), f"at most {IMAGES_MAX} images per request", "too_long"),))
    for name, question in questions:
        if any(placeholder in said for said in words(question) for placeholder in assets):
            text_only = "questions are text only: an image belongs into the state"
            raise Invalid((Fault(("body", "questions", name), text_only, "unsupported"),))
    return shown, tuple(sources)


def words(question: Question) -> Iterator[str]:
    """Every string of the caller's in a question."""
    match question:
        case Noul(instructions, yes, no):
            said: list[Any] = [instructions, yes, no]
        case Choice(options, instructions):
            said = [instructions, *(part for option in options for part in option)]
        case Score(levels, instructions):
            said = [instructions, *levels]
    while said:
        match said.pop():
            case str(text):
                yield text
            case list(values):
                said += values
            case dict(fields):
                said += [*fields, *fields.values()]
            case _:
                pass
