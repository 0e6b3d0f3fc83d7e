"""What calls are judged by: settings, rules, and the modes that a person set.

Rule 1: a call takes `in_force` once and keeps it; a reload builds a whole new one and swaps the reference.
Rule 2: a broken file changes nothing: the last good ones stay in force, over a restart too (the store
keeps their bytes), and `faults` says which line is broken.
Rule 3: without its store the daemon does not know what a person set, so the mode is enforce; nor what tainted a
session, so every one is. Nor what an envelope said, so there is none.
"""

from __future__ import annotations

import os
import time

from reflexd import paths
from reflexd.control import AgentSeen, EnvelopeHeld, EnvelopeRequest, ModeRequest, ModeSet
from reflexd.core import envelopes, policy
from reflexd.daemon.store import Broken, Store
from reflexd.errors import PolicyError, ReflexError
from reflexd.guard.redact import redact
from reflexd.kept import Envelope, Tainted
from reflexd.settings import InForce, Settings, Sources, build, read
from reflexd.types import Mode


class Standing:
    """One at a time may call reload and set_mode; reading is free to all."""

    def __init__(self, base: str) -> None:
        """Raises ReflexError where the state on disk must not be touched by this version."""
        self._base = base
        self._store: Store | None = None
        self._store_fault = self._files_fault = ""
        self.modes: tuple[ModeSet, ...] = ()
        self._tainted: tuple[Tainted, ...] = ()
        self._envelopes: tuple[Envelope, ...] = ()
        try:
            self._store = Store(paths.store_file(base))
            self.modes = self._store.modes()
            self._tainted = self._store.rows(Tainted)
            self._envelopes = self._store.rows(Envelope)
        except Broken as e:
            self._store_broke(e)
        self._built_from: Sources | None = None
        self.in_force = self._first()
        self.reload()

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(fault for fault in (self._files_fault, self._store_fault) if fault)

    @property
    def by_directory(self) -> bool:
        """Whether mode_at has to follow links, which may wait for a disk."""
        return any(mode.cwd for mode in self.modes)

    def mode_at(self, cwd: str) -> Mode:
        """The mode for a call in `cwd` ("": not known): what was set nearest above it, else everywhere, else the
        settings."""
        if self._store_fault:
            return "enforce"
        held = [mode for mode in self.modes if mode.until == 0 or mode.until > time.time()]
        if any(mode.cwd for mode in held) and os.path.isabs(cwd):
            way = os.path.realpath(cwd)
            above = [mode for mode in held if mode.cwd and (way + "/").startswith(mode.cwd.rstrip("/") + "/")]
            if above:
                return max(above, key=lambda mode: len(mode.cwd)).mode
        return next((mode.mode for mode in held if not mode.cwd), self.in_force.settings.mode)

    def taint(self, session: str, cwd: str) -> tuple[str, ...]:
        """What tainted a session, or a directory above `cwd`. Without the store nobody knows that nothing did."""
        if self._store_fault:
            return ("something that the state on disk would tell",)
        way = cwd.rstrip("/") + "/"
        return tuple(t.why for t in self._tainted if t.holder == session or way.startswith(t.holder.rstrip("/") + "/"))

    def set_mode(self, request: ModeRequest) -> None:
        """Raises ReflexError; when it returns the mode is on the disk and holds."""
        if self._store is None:
            raise ReflexError(f"the mode cannot be kept: {self._store_fault}")
        if request.cwd and not os.path.isdir(request.cwd):
            raise ReflexError(f"{request.cwd} is not a directory")
        cwd = os.path.realpath(request.cwd) if request.cwd else ""
        self._store.set_mode(ModeSet(request.mode, cwd, time.time() + request.seconds if request.seconds else 0))
        self.modes = self._store.modes()

    @property
    def envelopes(self) -> tuple[EnvelopeHeld, ...]:
        """Those that hold now."""
        held = envelopes.holding(self._envelopes, time.time())
        return tuple(EnvelopeHeld(e.holder, envelopes.text(e), e.at, e.until) for e in held)

    def envelope(self, session: str, cwd: str) -> str:
        """What a call of `session` (`claude:<id>`) in `cwd` may touch, in a person's words; empty for no bounds.

        Follows links where an envelope hangs on a directory, which may wait for a disk.
        """
        rows = self._envelopes
        if self._store_fault or not rows:
            return ""
        way = os.path.realpath(cwd) if os.path.isabs(cwd) and any(e.holder.startswith("/") for e in rows) else ""
        held = envelopes.nearest(rows, session, way, time.time())
        return envelopes.text(held) if held else ""

    def set_envelope(self, request: EnvelopeRequest) -> None:
        """Raises ReflexError; when it returns the envelope is on the disk and holds. Secrets in its words are masked.

        A directory is held by its real path.
        """
        if self._store is None or self._store_fault:
            raise ReflexError(f"the envelope cannot be kept: {self._store_fault}")
        holder = os.path.realpath(request.holder) if os.path.isabs(request.holder) else request.holder
        if not request.terms.strip():
            if all(e.holder != holder for e in envelopes.holding(self._envelopes, time.time())):
                raise ReflexError(f"no envelope is set for {holder}", "reflexctl envelope show lists them")
            self._store.clear_envelope(holder)
        else:
            if why := envelopes.fault(holder, request.terms, request.seconds):
                raise ReflexError(why)
            if os.path.isabs(holder) and not os.path.isdir(holder):
                raise ReflexError(f"{holder} is not a directory")
            now = time.time()
            terms = envelopes.terms(redact(request.terms.strip()))
            until = now + request.seconds if request.seconds else 0
            self._store.set_envelope(Envelope(holder, terms, now, until, b""))
        self._envelopes = self._store.rows(Envelope)

    def reload(self) -> None:
        """Put the user's files in force, or keep what is and say in `faults` why. Cheap where nothing changed."""
        try:
            sources = read(self._base)
            if sources != self._built_from:
                self._built_from = None
                self.in_force = build(self._base, sources)
                self._built_from = sources
                self._keep_good(sources)
            self._files_fault = ""
        except PolicyError as e:
            self._files_fault = f"{e.message} (the last good one stays in force)"

    def keep_seen(self, agents: tuple[AgentSeen, ...]) -> None:
        if self._store is not None and agents:
            try:
                self._store.keep_seen(agents)
            except Broken as e:
                self._store_broke(e)

    def seen(self) -> tuple[AgentSeen, ...]:
        """The agents' last events before this daemon started."""
        try:
            return self._store.seen() if self._store is not None else ()
        except Broken as e:
            self._store_broke(e)
            return ()

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def _first(self) -> InForce:
        """What was last good, in case the files are broken now."""
        try:
            return build(self._base, self._store.good() if self._store is not None else Sources())
        except Broken as e:
            self._store_broke(e)
        except PolicyError:
            # What was good for another version of reflex need not be for this one.
            pass
        return InForce(Settings(), policy.shipped())

    def _keep_good(self, sources: Sources) -> None:
        if self._store is not None:
            try:
                self._store.keep_good(sources)
            except Broken as e:
                self._store_broke(e)

    def _store_broke(self, error: Broken) -> None:
        self._store_fault = f"{error.message} (until then the mode is enforce; {error.hint})"
