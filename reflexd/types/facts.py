"""What a tool call would do, and what has to be looked at to know."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

__all__ = [
    "Command",
    "Effect",
    "EffectKind",
    "Facts",
    "Place",
    "Seen",
    "Sighting",
    "Source",
    "Unseen",
    "Want",
    "WantKind",
]

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
