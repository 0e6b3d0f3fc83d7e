"""What is known around a call, and what is decided about it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from reflexd.types.agents import Mode, Profile
from reflexd.types.judging import Judged

__all__ = [
    "Context",
    "Decision",
    "Finding",
    "Near",
    "Past",
    "Pin",
    "Reply",
    "Verdict",
]


class Decision(StrEnum):
    PASS = "pass"  # noqa: S105  no opinion: the agent's own permissions go on
    ALLOW = "allow"  # skip the agent's prompt
    ASK = "ask"  # a person decides
    DENY = "deny"

    @property
    def strictness(self) -> int:
        """pass and allow < ask < deny."""
        return {"pass": 0, "allow": 0, "ask": 1, "deny": 2}[self.value]


class Finding(Struct, frozen=True):
    """One rule's opinion of one call. `reason` is one line a model can act on."""

    rule: str
    decision: Decision
    reason: str


class Near(Struct, frozen=True):
    """A rule that would have spoken of one effect (or of the call) but for one condition, named as in its table.

    `wanted` is what the table says there.
    """

    rule: str
    decision: Decision
    condition: str
    wanted: str
    target: str = ""


class Verdict(Struct, frozen=True):
    """What is decided about one event.

    `decided_by` names the kind of source: rule, read-only, confined, gate, none, payload, deadline,
    bug, namespace, policy, journal, mode. `rule` is the rule's or the gate's id where one decided.
    `findings` holds everything that had an opinion, the deciding one first. `judged` is None where no judge
    was asked.
    """

    decision: Decision
    reason: str = ""
    decided_by: str = "none"
    rule: str = ""
    findings: tuple[Finding, ...] = ()
    policy: str = ""
    id: str = ""
    judged: Judged | None = None


class Past(Struct, frozen=True):
    """What a session did before this call, as far as it bears on it.

    `downloaded`: files that came from the network. `pending`: files that calls still under way may write,
    `busy`: what may change files while this call runs (a background job, a call whose writes are not known),
    `exported`: variables that earlier calls left for later ones.
    """

    downloaded: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    busy: str = ""
    exported: tuple[tuple[str, str], ...] = ()


class Pin(Struct, frozen=True, forbid_unknown_fields=True):
    """An MCP server as a person vouches for it: how it is started, its version, and the tools it may offer."""

    server: str
    command: str = ""
    version: str = ""
    tools: tuple[str, ...] = ()


class Context(Struct, frozen=True):
    """What is known around a call. Paths are absolute; empty means unknown.

    `can_ask` is proved, never assumed: the agent, its version and the flags of its
    process are known to put a prompt before a person. `foreign_namespace`: the peer
    lives in another mount or pid namespace, so the paths it names may not be ours.
    `protected` are reflex's own places, `own_pids` its processes; `hook_files` the agents' files that hook it in.
    `shadowed`: names of programs that would be found first where others than root can write. `taint` says what
    tainted the session; `pins` are the MCP servers that a person vouches for, `production` what a person or a
    repository names as such, `secrets` the kinds of secret that the call's own text carries.
    """

    cwd: str
    home: str
    user: str = ""
    env: tuple[tuple[str, str], ...] = ()
    mode: Mode = "enforce"
    profile: Profile = "supervised"
    can_ask: bool = False
    foreign_namespace: bool = False
    protected: tuple[str, ...] = ()
    hook_files: tuple[str, ...] = ()
    own_pids: tuple[int, ...] = ()
    shadowed: frozenset[str] = frozenset()
    past: Past = Past()
    taint: tuple[str, ...] = ()
    pins: tuple[Pin, ...] = ()
    production: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


class Reply(Struct, frozen=True):
    """What a shim prints and how it exits: 0 go on, 2 refused. Bytes as the agent wants them."""

    exit: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
