"""Headings, and one lettered option a line."""

from __future__ import annotations

from reflexd.engine.styles.shown import Shown, Texts, ask, filled


def state(state: str, texts: Texts) -> str:
    return f"{texts.state_heading}\n{state}\n\n"


def question(shown: Shown, texts: Texts) -> str:
    lines = [texts.question_heading]
    if shown.instructions:
        lines.append(shown.instructions)
    lines += ["", texts.options_heading]
    if shown.page:
        lines.append(shown.page)
    lines += [filled(texts.option, letter=letter, text=text).rstrip() for letter, text in shown.options]
    if asked := ask(shown, texts):
        lines += ["", asked]
    return "\n".join(lines)
