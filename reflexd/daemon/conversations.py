"""What the person asked for and what the agent did since, by session: from the events alone, in memory, bounded.

All of it is redacted as it comes in. A session's next prompt, its end, or too many others forget it. What the agent
says before a call came with it or lies in the agent's own records; reading them looks at the disk. A subagent has calls
and words of its own, while what the person asked for is the session's: its task was written by another agent.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque

from reflexd.adapters import records
from reflexd.daemon.bounded import put
from reflexd.guard.redact import redact_head
from reflexd.sight.records import tail
from reflexd.types import Context, Guarded, Origin, Prompt, Said, SessionEnd, SubagentStart, ToolCall

WAITS_S = (0.0, 0.06, 0.12, 0.2)
SESSIONS_MAX = 256
PROMPT_MAX, INTENT_MAX, CALL_MAX, CALLS_MAX = 2000, 1000, 200, 8


class Conversations:
    """Notes belong to the loop's thread; `said` may run in any."""

    def __init__(self) -> None:
        self._prompts: OrderedDict[str, str] = OrderedDict()
        self._calls: OrderedDict[str, deque[str]] = OrderedDict()
        self._parents: OrderedDict[str, str] = OrderedDict()

    def note(self, event: object, call: str) -> None:
        """An event as it was understood; `call`: its text as the journal shows it, redacted."""
        match event:
            case SubagentStart(origin) if origin.subagent:
                # To some agents a subagent is a session of its own.
                own = _session(Origin(origin.agent, "", origin.subagent))
                put(self._parents, own, self._root(origin), SESSIONS_MAX)
            case Prompt(origin, text) if text.strip():
                key = _session(origin)
                put(self._prompts, key, redact_head(text.strip(), PROMPT_MAX), SESSIONS_MAX)
                put(self._calls, key, deque(maxlen=CALLS_MAX), SESSIONS_MAX)
            case ToolCall(origin, name):
                key = _session(origin)
                if key not in self._calls:
                    put(self._calls, key, deque(maxlen=CALLS_MAX), SESSIONS_MAX)
                self._calls[key].append(f"{name}: {call}".replace("\n", " ")[:CALL_MAX])
            case SessionEnd(origin):
                for kept in (self._prompts, self._calls):
                    kept.pop(_session(origin), None)

    def said(self, event: Guarded, context: Context) -> Said:
        """What is known around a call that is about to be noted."""
        origin = event.origin
        key = _session(origin)
        call, words = (event.call_id, event.intent) if isinstance(event, ToolCall) else ("", "")
        if not words and origin.transcript:
            words = _intent(origin, call)
        return Said(
            prompt=self._prompts.get(self._root(origin), ""),
            intent=redact_head(words, INTENT_MAX) if words else "",
            calls=tuple(self._calls.get(key, ())),
        )

    def _root(self, origin: Origin) -> str:
        """The session that the person speaks to, of a conversation."""
        own = _session(Origin(origin.agent, "", origin.session))
        return self._parents.get(own, own)


def _intent(origin: Origin, call: str) -> str:
    """Some agents write their records a moment after they call their hooks."""
    path = records.place(origin.agent, origin.transcript, origin.subagent)
    for wait_s in WAITS_S if path else ():
        time.sleep(wait_s)
        data = tail(path)
        if words := records.intent(origin.agent, data, call):
            return words
        if not data or not records.lag(origin.agent, data, call):
            break  # there are no records, or the call is on them and nothing was said
    return ""


def _session(origin: Origin) -> str:
    return f"{origin.agent}:{origin.session}:{origin.subagent}"
