"""What is said to a model about a verdict. One line, printable, never empty, bounded."""

from __future__ import annotations

from reflexd.types import Decision, Verdict

LINE_MAX = 1500
NAME_MAX = 100


def one_line(text: str) -> str:
    """`text` without control and bidi characters or lone surrogates, white space folded, capped."""
    kept = "".join(c if c.isprintable() else " " for c in text[: LINE_MAX * 4])
    return " ".join(kept.split())[:LINE_MAX]


def explain(verdict: Verdict, can_ask: bool = True) -> str:
    """The reason a model (or a person, where one is asked) reads."""
    reason = one_line(verdict.reason) or "no reason was given"
    if verdict.decision is Decision.ASK and not can_ask:
        reason += " (a person must decide this, and this run cannot ask one: leave it, or have them run it)"
    source = one_line(verdict.rule or verdict.decided_by)[:NAME_MAX]
    why = f"; reflexctl why {one_line(verdict.id)[:NAME_MAX]}" if verdict.id else ""
    return f"reflex: {reason} [{source}{why}]"


def stops(verdict: Verdict, can_ask: bool) -> bool:
    """Whether the call must not run now: a deny, or an ask that nobody would be asked."""
    return verdict.decision is Decision.DENY or (verdict.decision is Decision.ASK and not can_ask)
