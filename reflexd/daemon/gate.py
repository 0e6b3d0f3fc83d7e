"""The one path of a hook's event: parse, context, facts, decide, judge, note, keep, render.

Rule 1: before a tool nothing but a verdict lets it run. What is not understood, late, or a bug in here
asks where a person can be asked and is a refusal elsewhere; what could not even be read is a refusal.
Rule 2: every other event goes on, with a warning where something was wrong: stopping it would lock the
person out or loop the model.
Rule 3: the reply leaves after its row is in the journal, for a stop after the row is on the disk; while
rows cannot be kept, only what is proved to be read-only goes on.
Rule 4: a call is judged by the settings and rules it began with.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import time
import traceback

from msgspec import structs

from reflexd.adapters.all import ADAPTERS, Adapter
from reflexd.control import CheckRequest, CheckResult, hook_payload
from reflexd.core import repeats, tables
from reflexd.core.decide import undecided
from reflexd.core.past import traces
from reflexd.daemon import peers, subagents
from reflexd.daemon.asked import Asked
from reflexd.daemon.conversations import Conversations
from reflexd.daemon.instructing import Instructing
from reflexd.daemon.journal import Journal, new_id
from reflexd.daemon.judging import Judging, Undecided
from reflexd.daemon.lane import Lane
from reflexd.daemon.programs import NOT_YET
from reflexd.daemon.ruled import Hook, Ruled, result, row
from reflexd.daemon.second import Parking
from reflexd.daemon.server import Request
from reflexd.daemon.sessions import Sessions
from reflexd.daemon.shown import shown
from reflexd.daemon.standing import Standing
from reflexd.daemon.subagents import Subagents
from reflexd.daemon.surroundings import Surroundings
from reflexd.daemon.underway import Underway
from reflexd.errors import PayloadError, ReflexError
from reflexd.settings import InForce
from reflexd.sight.look import digest
from reflexd.sight.ruling import Ruler
from reflexd.types import (
    Decision,
    Guarded,
    Origin,
    Prompt,
    Reply,
    SessionEnd,
    Spawn,
    ToolCall,
    ToolResult,
    Verdict,
)
from reflexd.wire import Header

SMALL = 4096  # bytes of a payload that is judged on the loop
RULES_S = 1.0
CALL_S = 5.0
ASKING = frozenset({"claude", "pi", "hermes"})
UNRULED = frozenset({"payload", "deadline", "bug"})
BUG = "reflexd has a bug, its log says more"

log = logging.getLogger("reflexd")


class Gate:
    """The door of hook.sock. All but `rule` belongs to the loop's thread."""

    def __init__(
        self,
        base: str,
        standing: Standing,
        journal: Journal,
        sessions: Sessions,
        lane: Lane,
        judging: Judging,
        conversations: Conversations,
        parking: Parking,
    ) -> None:
        self._around = Surroundings(base)
        self._standing = standing
        self._journal = journal
        self._sessions = sessions
        self._underway = Underway()
        self._ruler = Ruler()
        self._lane = lane
        self._judging = judging
        self._conversations = conversations
        self._parking = parking
        self._asked = Asked()
        self._subagents = Subagents()
        self._instructing = Instructing(base, judging.judge, lane)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with rules that repositories bring along, and with the user's own instructions."""
        return (*self._ruler.faults, *self._instructing.faults)

    async def answer(self, request: Request) -> Reply:
        head = request.header
        adapter = _adapter(head)
        if adapter is None:
            return self.refuse(head, f"no agent is called {head.agent}")
        ends = request.accepted + min(head.deadline_ms / 1000, CALL_S)
        hook = Hook(adapter, head.event, request.payload, request.peer.pid, request.accepted, ends)
        try:
            return await self._check(hook)
        except Exception as e:
            log_bug(e)
        try:
            return self.refuse(head, BUG)
        except Exception as e:
            log_bug(e)
            return Reply(2, b"", f"reflex: {BUG}\n".encode())

    def refuse(self, header: Header | None, why: str) -> Reply:
        adapter = _adapter(header)
        if header is None or adapter is None:
            return Reply(2, b"", f"reflex: {why}\n".encode())
        if header.event not in adapter.GUARDED:
            return _warning(why)
        verdict = Verdict(Decision.DENY, why, "payload", id=new_id())
        self._sessions.note_decision(verdict.decision)
        self._journal.append(row(adapter.NAME, header.event, Ruled(verdict, self._standing.mode_at(""))))
        return adapter.render(header.event, verdict, can_ask=False)

    async def check(self, request: CheckRequest, pid: int) -> CheckResult:
        """What a hook of the process `pid` would be told about this call. Nothing is noted or kept."""
        force = self._standing.in_force
        ends = time.monotonic() + CALL_S
        ruled = await self._judged(await self._lane.run(self._checked, request, pid, force), force, ends)
        return result(ruled)

    def check_by_rules(self, request: CheckRequest, pid: int) -> CheckResult:
        """The same without a judge. Blocks; runs in any thread."""
        return result(self._checked(request, pid, self._standing.in_force))

    def _checked(self, request: CheckRequest, pid: int, force: InForce) -> Ruled:
        try:
            hook = Hook(ADAPTERS["claude"], "PreToolUse", hook_payload(request), pid, 0, 0)
            return self._look(self._begin(hook, force, request), force)  # a refusal is explained in full, too
        except (PayloadError, ValueError) as e:
            return self._unruled(str(e), "payload")

    def warm(self) -> None:
        """Load what judging reads from this package, so that no call waits for it."""
        tables.load()
        for request in (CheckRequest(command="git status"), CheckRequest("Write", path="/tmp/x", text="")):  # noqa: S108
            try:
                self.check_by_rules(request, 0)
            except Exception as e:
                log_bug(e)

    def rule(self, hook: Hook, force: InForce) -> Ruled:
        """The whole way from payload to verdict. Raises PayloadError. Looks at the disk, so it may take its time."""
        begun = self._begin(hook, force)
        return begun if begun.final else self._look(begun, force)

    def _begin(self, hook: Hook, force: InForce, given: CheckRequest | None = None) -> Ruled:
        """As far as the call alone tells: no file is looked at. Raises PayloadError. Runs in any thread."""
        event = hook.adapter.parse(hook.event, hook.payload)
        mode = self._standing.mode_at(event.origin.cwd)
        if not isinstance(event, Guarded):
            return Ruled(Verdict(Decision.PASS), mode, event)
        past = self._underway.past(_session(event.origin), hook.began)
        context = self._around.context(event.origin, hook.pid, mode, force.settings.profile, given, past)
        taint = self._standing.taint(_session(event.origin), context.cwd)
        context = structs.replace(context, taint=taint) if taint else context
        ruling = self._ruler.at_once(event, context, force.policy)
        return Ruled(
            ruling.verdict,
            mode,
            event,
            ruling.facts,
            shown(event.tool),
            context,
            ruling.final and context.shadowed != NOT_YET,
            ruling.enough,
            ruling.policy,
        )

    def _look(self, begun: Ruled, force: InForce) -> Ruled:
        """The same once everything that the call names was looked at. Runs in any thread but the loop's."""
        assert isinstance(begun.event, Guarded)
        assert begun.context is not None
        ruling = self._ruler.looked(begun.event, self._around.looked(begun.context), force.policy)
        return structs.replace(begun, verdict=ruling.verdict, facts=ruling.facts, final=True, policy=ruling.policy)

    async def _check(self, hook: Hook) -> Reply:
        force = self._standing.in_force
        ruled = await self._judged(await self._ruled(hook, force), force, hook.ends)
        ruled = await self._repeated(ruled, hook, force)
        self._note(hook, ruled)
        if isinstance(ruled.event, ToolResult):
            await self._ended(hook, ruled.event)
        elif isinstance(ruled.event, SessionEnd):
            self._underway.forget(_session(ruled.event.origin))
        if hook.event not in hook.adapter.GUARDED:
            return await self._added(hook, ruled, force) or self._let_go(hook, ruled)
        can_ask = ruled.verdict.decision is Decision.ASK and await self._can_ask(hook, ruled)
        verdict = self._keep(hook, ruled, can_ask)
        if can_ask:
            self._asked.put(ruled.event, verdict.id)
        if verdict.decision is not Decision.PASS:
            await self._on_disk(hook)
        if verdict.decision is not Decision.DENY:
            self._let_run(hook, ruled)
        return hook.adapter.render(hook.event, verdict, can_ask)

    async def _repeated(self, ruled: Ruled, hook: Hook, force: InForce) -> Ruled:
        """A subagent's task that is running or done is held back; any doubt lets it go on."""
        event, now = ruled.event, time.monotonic()
        why = self._subagents.repeated(event, now)
        others = () if why else self._subagents.others(event, now)
        if others and isinstance(event, ToolCall) and isinstance(event.tool, Spawn):
            texts = [task.shown for task in others]
            same = await self._judging.same_task(event.tool.task, texts, force.settings, hook.ends)
            why = f"as it seems, {subagents.why(others[same], now)}" if same is not None else ""
        return structs.replace(ruled, verdict=repeats.held(ruled.verdict, why, ruled.mode)) if why else ruled

    async def _judged(self, ruled: Ruled, force: InForce, ends: float) -> Ruled:
        """With what a judge says of it, where no rule decided and somebody is to be asked."""
        event, facts, context, policy = ruled.event, ruled.facts, ruled.context, ruled.policy
        if not isinstance(event, Guarded) or not undecided(ruled.verdict, force.settings.judge.allow):
            return ruled
        if facts is None or context is None or policy is None:
            return ruled
        call = Undecided(event, facts, context, policy, ruled.verdict)
        verdict, told = await self._judging.rule(call, force.settings, ends)
        if told is not None and context.profile == "autonomous":
            verdict = self._parking.rule(structs.replace(call, verdict=verdict), told, force.settings.second)
        return structs.replace(ruled, verdict=verdict)

    async def _ruled(self, hook: Hook, force: InForce) -> Ruled:
        """The verdict by rule, or (where it did not come to one) an ask that says why."""
        started = time.monotonic()
        begun: Ruled | None = None
        prompt = False
        try:
            if len(hook.payload) <= SMALL and not self._standing.by_directory and not _needs_sql(hook.payload):
                ruled = begun = self._begin(hook, force)
            prompt = time.monotonic() - started <= RULES_S
            if begun is None or not begun.final:
                async with asyncio.timeout(min(RULES_S, hook.ends - started)):
                    if begun is None:
                        ruled = await self._lane.run(self.rule, hook, force)
                    else:
                        ruled = await self._lane.run(self._look, begun, force)
        except PayloadError as e:
            return self._unruled(e.message, "payload")
        except (TimeoutError, ReflexError) as e:
            if begun is not None and begun.enough and prompt:
                return begun
            return self._unruled(str(e) or f"no verdict within {RULES_S:g} s", "deadline")
        except Exception as e:
            log_bug(e)
            return self._unruled(BUG, "bug")
        late = time.monotonic() - started > RULES_S and ruled.verdict.decision.strictness == 0
        return self._unruled(f"no verdict within {RULES_S:g} s", "deadline") if late else ruled

    def _unruled(self, why: str, source: str) -> Ruled:
        mode, policy = self._standing.mode_at(""), self._standing.in_force.policy.version
        if mode == "off":
            return Ruled(Verdict(Decision.PASS, "reflex is switched off", "mode", policy=policy), mode)
        return Ruled(Verdict(Decision.ASK, why, source, policy=policy), mode)

    def _note(self, hook: Hook, ruled: Ruled) -> None:
        if ruled.event is not None:
            session = ruled.event.origin.session
            self._sessions.note_event(hook.adapter.NAME, hook.event, session, hook.pid, time.time())
            self._conversations.note(ruled.event, ruled.call)
            self._subagents.note(ruled.event, time.monotonic())

    def _let_run(self, hook: Hook, ruled: Ruled) -> None:
        """What the call leaves for later ones, from here until its result is told. An ask may end in a yes."""
        event = ruled.event
        if isinstance(event, ToolCall) and ruled.facts is not None and not ruled.facts.read_only:
            left = traces(event.tool, ruled.facts)
            self._underway.began(_session(event.origin), event.call_id, left, hook.began)
            if isinstance(event.tool, Spawn):
                if ruled.verdict.decision is not Decision.ASK:
                    self._subagents.began(event, time.monotonic())
            else:
                self._subagents.changed(event.origin)

    async def _ended(self, hook: Hook, event: ToolResult) -> None:
        """That a call which was asked about has run; and the code that it was judged by, compared with what lies there
        now."""
        if id := self._asked.ran(event):
            ran = row(hook.adapter.NAME, hook.event, Ruled(Verdict(Decision.PASS, id=id), "enforce", event))
            self._journal.append(structs.replace(ran, kind="ran", decision="ran"))
        for source in self._underway.ended(_session(event.origin), event.call_id):
            now = await self._lane.run(digest, source.path)
            if now != source.digest:
                why = f"{source.path} changed between the check and the end of the call that ran it"
                log.warning("%s %s: %s", hook.adapter.NAME, hook.event, why)
                verdict = Verdict(Decision.PASS, why, "changed", id=new_id())
                self._journal.append(row(hook.adapter.NAME, hook.event, Ruled(verdict, "enforce", event)))

    async def _added(self, hook: Hook, ruled: Ruled, force: InForce) -> Reply | None:
        """What the user wants said with a prompt like this one, where the agent takes it."""
        if not isinstance(ruled.event, Prompt) or hook.event not in hook.adapter.INJECTS or ruled.mode == "off":
            return None
        text = (await self._instructing.added(ruled.event, force.settings, hook.ends)).text
        return hook.adapter.inject(hook.event, text) if text else None

    def _let_go(self, hook: Hook, ruled: Ruled) -> Reply:
        if ruled.verdict.decided_by in UNRULED:
            log.warning("%s %s let go: %s", hook.adapter.NAME, hook.event, ruled.verdict.reason)
            return _warning(ruled.verdict.reason)
        return hook.adapter.render(hook.event, ruled.verdict, can_ask=False)

    async def _can_ask(self, hook: Hook, ruled: Ruled) -> bool:
        """Looked at only when it matters: it takes milliseconds."""
        agent = hook.adapter.NAME
        if agent not in ASKING or ruled.event is None:
            return False
        try:
            async with asyncio.timeout(min(RULES_S, hook.ends - time.monotonic())):
                return await self._lane.run(peers.can_ask, agent, ruled.event.origin, hook.pid)
        except (TimeoutError, ReflexError):
            return False

    def _keep(self, hook: Hook, ruled: Ruled, can_ask: bool) -> Verdict:
        """Put the verdict in the journal. While that fails, the verdict is a deny."""
        verdict = structs.replace(ruled.verdict, id=new_id())
        ms = (time.monotonic() - hook.began) * 1000
        kept_row = row(hook.adapter.NAME, hook.event, structs.replace(ruled, verdict=verdict), can_ask, ms)
        kept = self._journal.append(kept_row)
        harmless = verdict.decision is Decision.PASS and ruled.facts is not None and ruled.facts.read_only
        if not kept and ruled.mode != "off" and not harmless:
            why = f"reflex cannot keep its journal ({self._journal.fault}), so only reading goes on"
            verdict = structs.replace(verdict, decision=Decision.DENY, reason=why, decided_by="journal", rule="")
        self._sessions.note_decision(verdict.decision)
        return verdict

    async def _on_disk(self, hook: Hook) -> None:
        """A stop's row is synced before it is told. A disk that hangs does not make a stop wait for ever."""
        try:
            async with asyncio.timeout(min(RULES_S, hook.ends - time.monotonic())):
                await self._journal.synced()
        except TimeoutError:
            log.warning("the journal's disk is slow")


_SQL_CLIENTS = re.compile(rb"sql|duckdb|clickhouse|\bbq\b|quer(?:y|ies)|statement|mariadb|cqlsh|influx", re.IGNORECASE)


def _needs_sql(payload: bytes) -> bool:
    """Whether this may be the call that loads the SQL parser, which takes too long for the loop."""
    return "sqlglot" not in sys.modules and _SQL_CLIENTS.search(payload) is not None


def _session(origin: Origin) -> str:
    return f"{origin.agent}:{origin.session}"


def _adapter(header: Header | None) -> Adapter | None:
    return next((a for name, a in ADAPTERS.items() if header and name == header.agent), None)


def log_bug(error: BaseException) -> None:
    """Where it happened and what kind it is. Not what it says: that may quote a payload."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("bug: %s\n%s", type(error).__name__, frames)


def _warning(why: str) -> Reply:
    return Reply(0, b"", f"reflex: {why} (this event goes on)\n".encode())
