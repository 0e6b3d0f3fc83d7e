"""Which tasks the subagents of a session were given, so that the same one is not given twice. In memory, bounded.

It saves work and guards nothing, so every doubt lets a spawn go on: a task is taken to be running only for a while;
one that is done counts only until something came in between that could change its outcome (a person's prompt, or
a call that may have changed something); one that failed, or was not started, is no reason at all. Belongs to the
loop's thread. `now` is monotonic. Not covered: a failure that no agent tells of (a subagent that ends without an
outcome).
"""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from reflexd.adapters.wording import NAME_MAX, one_line
from reflexd.core import repeats
from reflexd.core.alike import TASK_SHOWN
from reflexd.daemon.bounded import put
from reflexd.guard.redact import redact_head
from reflexd.types import (
    Agent,
    Event,
    Origin,
    Prompt,
    SessionEnd,
    Spawn,
    SubagentStart,
    SubagentStop,
    ToolCall,
    ToolResult,
)

SESSIONS_MAX, TASKS_MAX = 256, 64
STARTING_S = 60.0
TOGETHER_S = 5.0
RUNNING_S = 3600.0
DONE_S = 3600.0
MUTE: frozenset[Agent] = frozenset({"opencode"})
"""Agents that do not tell when a spawn failed. They wait for what they spawn, so only calls made together overlap."""


class Task(Struct):
    """`task` is normal, `shown` its head, redacted. `call`: the id of the call that spawned it; `id`: the subagent's
    own, once it said that it started (until then the agent may have refused it), `sure` where no other one can be
    meant. From `until` on it is in doubt."""

    key: bytes
    task: str
    shown: str
    call: str
    at: float
    until: float
    id: str = ""
    sure: bool = False
    done: float = 0


class Subagents:
    def __init__(self) -> None:
        self._sessions: OrderedDict[str, list[Task]] = OrderedDict()

    def repeated(self, event: object, now: float) -> str:
        """Why a call that spawns would do again what is running or done; empty where it would not."""
        if not isinstance(event, ToolCall) or not isinstance(event.tool, Spawn):
            return ""
        key = repeats.key(event.tool, event.origin.cwd)
        for task in reversed(self._tasks(event.origin)):
            if key and task.key == key and task.until > now and not (event.call_id and task.call == event.call_id):
                return why(task, now)
        return ""

    def others(self, event: object, now: float) -> tuple[Task, ...]:
        """The tasks of the session that a call which spawns might mean in other words."""
        if not isinstance(event, ToolCall) or not isinstance(event.tool, Spawn):
            return ()
        if not repeats.key(event.tool, event.origin.cwd):
            return ()
        return tuple(task for task in self._tasks(event.origin) if task.until > now and task.call != event.call_id)

    def began(self, event: ToolCall, now: float) -> None:
        """A call that nothing holds back is about to run; not for one that a person is asked about."""
        key = repeats.key(event.tool, event.origin.cwd) if isinstance(event.tool, Spawn) else b""
        if not key or not isinstance(event.tool, Spawn):
            return
        session = _session(event.origin)
        tasks = self._sessions.get(session, [])
        put(self._sessions, session, tasks, SESSIONS_MAX)
        tasks[:] = [task for task in tasks if task.until > now][1 - TASKS_MAX :]
        until = now + (TOGETHER_S if event.origin.agent in MUTE else STARTING_S)
        # Redacted as it was written: of what is normal the case is lost, by which many secrets are known.
        shown = redact_head(event.tool.task, TASK_SHOWN)
        tasks.append(Task(key, repeats.normal(event.tool.task), shown, event.call_id, now, until))

    def changed(self, origin: Origin) -> None:
        """A call that may change something is about to run in this session, or a person spoke: what is done may have
        to be done again."""
        if tasks := self._sessions.get(_session(origin)):
            tasks[:] = [task for task in tasks if not task.done]

    def note(self, event: Event | None, now: float) -> None:
        match event:
            case SubagentStart(origin, task):
                self._started(origin, task, now)
            case SubagentStop(origin):
                for each in self._tasks(origin):
                    if each.id and each.id == origin.subagent:
                        each.done, each.until = now, now + DONE_S
            case ToolResult(origin, _, Spawn(), call, _, failed) if call:
                self._returned(origin, call, failed, now)
            case Prompt(origin) if not origin.subagent:  # Codex tells of a subagent's task as a prompt too
                self.changed(origin)
            case SessionEnd(origin):
                self._sessions.pop(_session(origin), None)

    def _started(self, origin: Origin, said: str, now: float) -> None:
        """Most agents do not say which call a subagent comes from: it is taken to be of the oldest that waits."""
        waiting = [each for each in self._tasks(origin) if not each.id and not each.done]
        if said:
            waiting = [each for each in waiting if each.task.startswith(repeats.normal(said))] or waiting
        if waiting:
            first = waiting[0]
            first.id, first.sure = origin.subagent, len(waiting) == 1
            if origin.agent not in MUTE:
                first.until = now + RUNNING_S

    def _returned(self, origin: Origin, call: str, failed: bool, now: float) -> None:
        """A spawn's result: the end of one that is waited for, or of the start of one in the background. Where no
        subagent said that it started, there may be none."""
        tasks = self._tasks(origin)
        for each in [each for each in tasks if each.call == call]:
            if failed or not each.id:
                tasks.remove(each)
            elif origin.agent in MUTE:
                each.done, each.until = now, now + DONE_S

    def _tasks(self, origin: Origin) -> list[Task]:
        return self._sessions.get(_session(origin), [])


def why(task: Task, now: float) -> str:
    named = f" (subagent {one_line(task.id)[:NAME_MAX]})" if task.id and task.sure else ""
    if task.done:
        ago = _minutes(now - task.done)
        return f"the same task was done {ago} ago{named}: use its result, or say what is different this time"
    return f"the same task is running since {_minutes(now - task.at)}{named}: wait for it, or say what is different"


def _minutes(seconds: float) -> str:
    return f"{int(seconds // 60)} min" if seconds >= 60 else f"{int(seconds)} s"


def _session(origin: Origin) -> str:
    return f"{origin.agent}:{origin.session}"
