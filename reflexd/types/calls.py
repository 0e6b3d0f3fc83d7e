"""What a tool call asks for."""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "Code",
    "Edit",
    "Fetch",
    "Mcp",
    "Other",
    "Patch",
    "Read",
    "Search",
    "Shell",
    "Spawn",
    "Tool",
    "WebSearch",
    "Write",
]


class Shell(Struct, frozen=True, tag="shell"):
    """A command line for a POSIX shell. `workdir` is empty when the event's cwd holds.

    `unsandboxed`: the agent wants it to run outside its own sandbox.
    """

    command: str
    workdir: str = ""
    background: bool = False
    unsandboxed: bool = False


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
    """A subagent's start, with the task it is given. `who`: its kind, and which one goes on, in the agent's words."""

    task: str
    who: str = ""


class Code(Struct, frozen=True, tag="code"):
    """Source for an interpreter that the agent itself runs."""

    language: str
    source: str


class Other(Struct, frozen=True, tag="other"):
    """A tool of the agent's own that touches nothing we know of; `args` is its JSON text."""

    name: str
    args: str


Tool = Shell | Read | Write | Edit | Patch | Search | Fetch | WebSearch | Mcp | Spawn | Code | Other
