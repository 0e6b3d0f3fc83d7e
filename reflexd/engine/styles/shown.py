"""What a style lays out: the words of a prompt, and one question as it is to be shown."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal["noul", "choice", "score"]


class Texts(Struct, frozen=True, forbid_unknown_fields=True):
    """Every word that is ours, by the place where it stands."""

    system: str
    state_heading: str
    question_heading: str
    options_heading: str
    option: str
    described: str
    yes: str
    no: str
    yes_default: str
    no_default: str
    level: str
    page: str
    ask_noul: str
    ask_choice: str
    ask_score: str
    lead: str


class Shown(Struct, frozen=True):
    """One page of one question in one order: `options` are (letter, text). `page` is empty where there is one page."""

    kind: Kind
    instructions: str
    options: tuple[tuple[str, str], ...]
    page: str = ""


def filled(pattern: str, /, **values: object) -> str:
    """`pattern` with `{name}` replaced. In one sweep: a value that holds braces is left as it is."""
    pieces = pattern.split("{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        name, closed, rest = piece.partition("}")
        out.append(f"{values[name]}{rest}" if closed and name in values else "{" + piece)
    return "".join(out)


def ask(shown: Shown, texts: Texts) -> str:
    return {"noul": texts.ask_noul, "choice": texts.ask_choice, "score": texts.ask_score}[shown.kind]
