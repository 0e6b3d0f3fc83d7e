"""One JSON object that the state opens and the question closes."""

from __future__ import annotations

import json

from reflexd.engine.styles.shown import Shown, Texts, ask


def state(state: str, texts: Texts) -> str:
    return f'{{"state":{json.dumps(state, ensure_ascii=False)},'


def question(shown: Shown, texts: Texts) -> str:
    said: dict[str, object] = {"question": shown.instructions} if shown.instructions else {}
    if shown.page:
        said["page"] = shown.page
    said |= {"options": dict(shown.options), "reply": ask(shown, texts)}
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))[1:]
