"""Every value that crosses a module.

All are frozen; all closed sets are tagged unions, so that `match` sees a missing case.
msgspec checks types when it decodes, not when a constructor is called: whatever comes
from outside is decoded, never constructed field by field from a dict.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

Agent = Literal["claude", "codex", "opencode", "pi", "hermes"]
AGENTS: tuple[Agent, ...] = ("claude", "codex", "opencode", "pi", "hermes")

Mode = Literal["off", "shadow", "enforce"]
Profile = Literal["supervised", "autonomous"]


# ---- what a tool call asks for -------------------------------------------------


class Shell(Struct, frozen=True, tag="shell"):
    """A command line for a POSIX shell. `workdir` is empty when the event's cwd holds."""

    command: str
    workdir: str = ""
    background: bool = False


class Read(Struct, frozen=True, tag="read"):
    path: str


class Write(Struct, frozen=True, tag="write"):
    path: str
    content: str


class Edit(Struct, frozen=True, tag="edit"):
    """A change of part of a file; `added` is the text that would come in."""

    path: str
    added: str


class Patch(Struct, frozen=True, tag="patch"):
    """A whole patch text (apply_patch and its kin) naming its own files."""

    text: str


class Search(Struct, frozen=True, tag="search"):
    """glob, grep, find, ls: reads names or lines below `path` (empty: the cwd)."""

    pattern: str
    path: str = ""


class Fetch(Struct, frozen=True, tag="fetch"):
    url: str


class WebSearch(Struct, frozen=True, tag="web_search"):
    query: str


class Mcp(Struct, frozen=True, tag="mcp"):
    """A call of an MCP tool; `args` is its JSON text."""

    server: str
    tool: str
    args: str


class Spawn(Struct, frozen=True, tag="spawn"):
    """A subagent's start, with the task it is given."""

    task: str


class Code(Struct, frozen=True, tag="code"):
    """Source for an interpreter that the agent itself runs."""

    language: str
    source: str


class Other(Struct, frozen=True, tag="other"):
    """A tool of the agent's own that touches nothing we know of; `args` is its JSON text."""

    name: str
    args: str


Tool = Shell | Read | Write | Edit | Patch | Search | Fetch | WebSearch | Mcp | Spawn | Code | Other


# ---- events --------------------------------------------------------------------


class Origin(Struct, frozen=True):
    """Where an event comes from. What an agent does not say is the empty string.

    `prompts` is what the host itself said about being able to ask a person (pi's
    `hasUI`), None where it says nothing. It may only ever take the ability away:
    whether a run prompts is decided from its process (see Context.can_ask).
    """

    agent: Agent
    event: str
    session: str = ""
    cwd: str = ""
    subagent: str = ""
    transcript: str = ""
    permission_mode: str = ""
    prompts: bool | None = None


class ToolCall(Struct, frozen=True, tag="tool_call"):
    """Before a tool runs. Fails closed."""

    origin: Origin
    tool_name: str
    tool: Tool
    call_id: str = ""


class PermissionRequest(Struct, frozen=True, tag="permission"):
    """The agent is about to ask a person whether a tool may run. Fails closed."""

    origin: Origin
    tool_name: str
    tool: Tool


class ToolResult(Struct, frozen=True, tag="tool_result"):
    """After a tool ran or failed. `text` is what the model would see, as far as the payload carries it."""

    origin: Origin
    tool_name: str
    tool: Tool
    call_id: str = ""
    text: str = ""
    failed: bool = False


class Prompt(Struct, frozen=True, tag="prompt"):
    origin: Origin
    text: str


class SessionStart(Struct, frozen=True, tag="session_start"):
    origin: Origin
    reason: str = ""


class SessionEnd(Struct, frozen=True, tag="session_end"):
    origin: Origin
    reason: str = ""


class SubagentStart(Struct, frozen=True, tag="subagent_start"):
    origin: Origin
    task: str = ""


class SubagentStop(Struct, frozen=True, tag="subagent_stop"):
    origin: Origin


class Notice(Struct, frozen=True, tag="notice"):
    """A known event that nothing rules on (Stop, message updates, ...)."""

    origin: Origin


Event = (
    ToolCall
    | PermissionRequest
    | ToolResult
    | Prompt
    | SessionStart
    | SessionEnd
    | SubagentStart
    | SubagentStop
    | Notice
)
Guarded = ToolCall | PermissionRequest
"""The events that fail closed. All others warn and let go."""


# ---- what a tool call would do ---------------------------------------------------

EffectKind = Literal[
    "read",
    "write",
    "delete",
    "move",
    "attributes",
    "exec",
    "signal",
    "control",
    "push",
    "environment",
    "connect",
    "discard",  # local work goes that nothing gives back: git reset --hard, git clean, git stash drop
    "destroy",  # something a service holds goes: a database, a namespace, a stack, a volume, a release
    "change",  # something a service holds changes: apply, merge, publish, an API's write
    "install",  # code from elsewhere comes in, and may run at once
    "send",  # data of this machine leaves it
]
Place = Literal[
    "root",  # / or everything right below it
    "home",  # a home directory, or everything right below it
    "home_entry",  # right below the home directory
    "home_inner",  # deeper in the home directory, outside the workspace
    "system",  # what the machine needs: /etc, /usr, ... and everything below
    "system_whole",  # such a directory itself
    "shared",  # below /opt, /srv, /usr/local, /var: other people's, but not the machine's own
    "device",  # a disk, or the kernel's memory
    "scratch",  # temporary directories
    "workspace_root",  # the working directory as a whole
    "workspace",  # below the working directory
    "disposable",  # build output and caches, known by name
    "outside",  # anywhere else
    "unknown",  # cannot be told from the text
    "reflex",  # reflex's own files, sockets, service, process
    "hook_file",  # an agent's file that hooks reflex in
    "agent_settings",
    "git_hooks",
    "startup",  # files that shells and sessions read when they start
    "credentials",
    "dotenv",
    "programs",  # where shells look for programs
    "ci",  # what a build server runs
    "data",  # a database, a dump, a backup: what nothing else holds
    "policy",  # a repository's own rules for reflex
    "recoverable",  # git gives it back byte for byte
    "downloaded",  # came from the network in this session
    "elsewhere",  # not on this machine: another host, a cluster, a cloud, a forge
    "service",  # held by a service on this machine: a local database, a container engine
    "production",  # real users depend on it
    "unpinned",  # held by an MCP server that no person vouches for
]


class Effect(Struct, frozen=True):
    """One thing a call would do to one target.

    `target` is absolute where it is a path, with `…` for what cannot be known, and holds
    a branch for push, a variable's name for environment, a process for signal. A path can
    lie in several places at once: an agent's settings lie below the home directory too.
    `recursive`: everything below the target as well. `detail` is the program's own word
    where that helps a reader (a subcommand, a flag). `by`: which of the call's commands would do it, counted from 1.
    """

    kind: EffectKind
    target: str
    places: tuple[Place, ...] = ()
    recursive: bool = False
    force: bool = False
    detail: str = ""
    by: int = 0


class Command(Struct, frozen=True):
    """A program that would run: its words as it would get them, and the wrappers it was found under.

    `read_only`: this one is proved to change nothing.
    """

    argv: tuple[str, ...]
    via: tuple[str, ...] = ()
    cwd: str = ""
    read_only: bool = False


WantKind = Literal["file", "entry", "repository", "losses", "discards", "real", "kube", "server"]
"""file: the text of a file that holds code or settings. entry: whether there is anything. repository: the git
repository around a directory. losses, discards: what deleting a path, or putting it back to what git holds,
would lose. real: a path after symbolic links. kube: a kubeconfig's contexts."""


class Want(Struct, frozen=True):
    """One thing on the disk that has to be looked at to know what a call does. `path` is absolute."""

    kind: WantKind
    path: str


class Sighting(Struct, frozen=True):
    """What was found for one want.

    `problem` says why nothing was (missing, too large, not text, unreadable, ...), empty otherwise. `text` is a
    file's content, a real path, or empty; `digest` its SHA-256; `pairs` holds settings by name (a repository's
    root, branch and keys that name programs; a kubeconfig's current context and servers). `recoverable`: git
    gives everything at the path back.
    """

    problem: str = ""
    text: str = ""
    digest: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    recoverable: bool = False


class Seen(Struct, frozen=True):
    """What has been looked at for one call so far."""

    found: tuple[tuple[Want, Sighting], ...] = ()

    def of(self, kind: WantKind, path: str) -> Sighting | None:
        """None: nobody has looked."""
        wanted = Want(kind, path)
        return next((sighting for want, sighting in self.found if want == wanted), None)


class Unseen(Struct, frozen=True):
    """Local code that would run and was not read. `origin`: network, stdin, decoded, scratch, changing, or empty."""

    path: str
    why: str
    origin: str = ""


class Source(Struct, frozen=True):
    """Local code that would run and was read: judged as if it had been typed."""

    path: str
    digest: str


class Facts(Struct, frozen=True):
    """What a tool call would do, as far as it can be told from the call and from what was seen.

    `read_only` is a proof: every program is known, with every flag of it. `opaque` says
    what could not be read, empty where everything could; an opaque call is never read-only.
    `unseen` and `sources` name the local code that would run. `wants` is what has to be looked at
    for more to be known; facts that still want something are right, but stricter than they need be.
    """

    commands: tuple[Command, ...] = ()
    effects: tuple[Effect, ...] = ()
    read_only: bool = False
    opaque: str = ""
    unseen: tuple[Unseen, ...] = ()
    sources: tuple[Source, ...] = ()
    wants: tuple[Want, ...] = ()


# ---- deciding ------------------------------------------------------------------


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

    `decided_by` names the kind of source: rule, read-only, none, payload, deadline,
    bug, namespace, policy, journal, mode. `rule` is the rule's id where one decided.
    `findings` holds everything that had an opinion, the deciding one first.
    """

    decision: Decision
    reason: str = ""
    decided_by: str = "none"
    rule: str = ""
    findings: tuple[Finding, ...] = ()
    policy: str = ""
    id: str = ""


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


# ---- installing ----------------------------------------------------------------


class Places(Struct, frozen=True):
    """Where one user's agents and reflex live; every path absolute, fixed at install.

    `agent_homes` maps an agent to its configuration directory (~/.claude, $CODEX_HOME,
    ~/.config/opencode, ~/.pi/agent, $HERMES_HOME). `python` is the real interpreter,
    never a version manager's shim or a virtual environment's link.
    """

    home: str
    share: str
    state: str
    config: str
    socket: str
    python: str
    uid: int
    agent_homes: tuple[tuple[Agent, str], ...] = ()

    def agent_home(self, agent: Agent) -> str:
        return dict(self.agent_homes)[agent]


class PlannedEdit(Struct, frozen=True):
    """One file that setup would change. `before` None: it is not there yet; `after` None: remove it."""

    path: str
    before: bytes | None
    after: bytes | None
    why: str
    mode: int = 0o600
