"""A call of an MCP tool -> what it would do, as far as its name and its arguments tell.

The name's verb says whether the tool looks, changes or destroys (core.verbs). The arguments may say more: paths,
URLs, commands and code for an interpreter, SQL, HTTP methods. What a tool really does is not seen: a tool that
changes things asks unless a person vouches for it by name, and one whose name says nothing is left to the agent's
own permissions. Arguments that go deeper or on for longer than is read are not understood.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from msgspec import structs

from reflexd.core import pins, toolcode, tools
from reflexd.core.arguments import Given, read
from reflexd.core.lines import line
from reflexd.core.verbs import LEVELS, Level, data, level, strictest, words
from reflexd.shell import realms, sql
from reflexd.shell.places import Ground
from reflexd.types import Command, Context, Effect, EffectKind, Facts, Place

NAME_MAX = 200  # characters of an argument that may be the name of something
_METHODS: dict[str, Level] = {
    **dict.fromkeys(("GET", "HEAD", "OPTIONS"), "read"),
    **dict.fromkeys(("POST", "PUT", "PATCH"), "change"),
    "DELETE": "destroy",
}
_URL = re.compile(r"(?:https?|wss?|ftp|file)://\S+\Z", re.IGNORECASE)
_PATH = re.compile(r"(?:/|~/|\.{1,2}/)[^\n]*\Z")
_GRAPHQL = re.compile(r"\s*(?:#[^\n]*\n\s*)*mutation\b")
_MOVING = {"move": "move", "rename": "move", "copy": "read"}


def call(server: str, tool: str, args: str, context: Context, ground: Ground) -> Facts:
    """`server` is empty for a tool of the agent's own: then its name says nothing."""
    return _Reading(server, tool, context, ground).facts(args)


class _Reading:
    """One call under way."""

    def __init__(self, server: str, tool: str, context: Context, ground: Ground) -> None:
        self.server, self.tool = server, tool
        self.context, self.ground = context, ground
        self.label = f"{server}: {tool}" if server else tool
        self.name: Level = level(tool)
        self.words = frozenset((*words(server), *words(tool)))
        self.on_screen = not data().verbs.screens.isdisjoint(words(tool))
        self.effects: dict[Effect, None] = {}
        self.inner: list[Facts] = []
        self.levels: list[Level] = []

    def facts(self, args: str) -> Facts:
        given, whole = read(args)
        if self.server and not (self.on_screen and self.name == "change"):
            self.levels.append(self.name)
        for each in given:
            self._argument(each)
        doing = strictest(self.levels)
        vouched, why = pins.vouched(self.server, self.tool, self.context, self.ground)
        if self.server:
            self._service(doing, vouched, why, given)
        for kind in self.context.secrets if self._leaves(given) else ():
            self.effects[Effect("send", self.label, ("elsewhere",), detail=kind)] = None
        opaque = "" if whole or self.name == "read" or not args.strip() else "its arguments are more than is read"
        own = Facts(
            effects=tuple(self.effects),
            read_only=vouched and doing == "read" and not self.inner,
            opaque=opaque,
            wants=tuple(self.ground.wants),
        )
        return _joined(own, *self.inner)

    # -- what the service would do ---------------------------------------------------------------

    def _service(self, doing: Level, vouched: bool, why: str, given: tuple[Given, ...]) -> None:
        where: list[Place] = ["elsewhere"]
        if self._production(given):
            where.append("production")
        if not vouched:
            where.append("unpinned")
        self.effects[Effect("connect", self.label, tuple(where))] = None
        if doing == "destroy":
            self.effects[Effect("destroy", self.label, tuple(where), detail=why)] = None
        elif doing == "change" and (not vouched or "production" in where):
            self.effects[Effect("change", self.label, tuple(where), detail=why)] = None

    def _production(self, given: tuple[Given, ...]) -> bool:
        names = [self.server, self.tool]
        for each in given:
            if isinstance(each.value, str) and each.key not in data().keys.prose and len(each.value) <= NAME_MAX:
                names += [each.value] if not re.search(r"\s", each.value.strip()) else []
        for word in self.words & data().realms.keys():
            realm = realms.data().realm.get(data().realms[word])
            patterns = (*realm.env, *realm.hints) if realm else ()
            names += [value for name, value in self.ground.env if any(fnmatchcase(name, p) for p in patterns)]
        return any(realms.means_production(name, self.ground) for name in names)

    def _leaves(self, given: tuple[Given, ...]) -> bool:
        """Whether what the call carries goes elsewhere: a tool that writes a file of this machine sends nothing."""
        if not self.server:
            return not data().verbs.outward.isdisjoint(self.words)
        files = {"file", "files", "directory"} & self.words
        return not files or not any(g.key in data().keys.path and str(g.value).startswith(("/", "~")) for g in given)

    # -- what the arguments say --------------------------------------------------------------------

    def _argument(self, given: Given) -> None:
        keys, value = data().keys, given.value
        if given.key in keys.size and value in (0, "0") and "scale" in self.words | _joined_words(given):
            self.levels.append("destroy")
        if not isinstance(value, str) or not value:
            return
        http = given.key in keys.method and value.upper() in _METHODS and self._is_request(given)
        if http:
            self.levels.append(_METHODS[value.upper()])
        elif given.key in keys.action and self.server and self.name != "read" and not self.on_screen:
            self.levels.append(level(value) if len(words(value)) <= 3 and len(value) <= 60 else "")
        if given.key in keys.named and not keys.arguments.isdisjoint(given.near) and self.server:
            self.levels.append(level(value) if len(value) <= NAME_MAX else "")
        typed = given.key in keys.typed and not data().verbs.terminals.isdisjoint(self.words)
        if (given.key in keys.shell or typed) and not http:
            self._shell(given)
        elif given.key in keys.code:
            self._code(given)
        if given.key in keys.sql or (given.key in keys.query and toolcode.is_sql(value, self.words)):
            self._sql(value)
        if given.key in ("query", "mutation") and _GRAPHQL.match(value):
            found = {level(name) for name in re.findall(r"[A-Za-z_]\w*", value[:4096])}
            self.levels.append("destroy" if "destroy" in found else "change")
        if given.key not in _no_paths() and (given.key not in keys.code or not re.search(r"\s", value)):
            self._path_or_url(given, value)

    def _is_request(self, given: Given) -> bool:
        return not data().keys.beside_method.isdisjoint(given.near)

    def _shell(self, given: Given) -> None:
        where = next((given.near[key] for key in data().keys.directory if key in given.near), None)
        cwd = self.ground.locate(where)[0] if isinstance(where, str) and where else self.context.cwd
        for text in toolcode.commands(given, self.words):
            self.inner.append(self._under(line(text, cwd, self.context, self.ground)))

    def _code(self, given: Given) -> None:
        texts, told = toolcode.code(given, self.words)
        for text in texts:
            found = line(text, self.context.cwd, self.context, self.ground)
            if told:
                self.inner.append(self._under(found))
            elif text != given.value or not found.opaque:
                self.effects.update((structs.replace(effect, by=0), None) for effect in found.effects)

    def _under(self, found: Facts) -> Facts:
        inside = tuple(structs.replace(c, via=(self.label, *c.via)) for c in found.commands)
        return structs.replace(found, commands=inside)

    def _sql(self, value: str) -> None:
        for statement in sql.read(value, toolcode.dialect(self.words)):
            if statement.does in ("destroys", "unclear"):
                self.levels.append("destroy")
            elif statement.does in ("changes", "access", "runs"):
                self.levels.append("change")
            for doing, path in statement.files:
                self.effects[tools.on(doing, path, self.ground)] = None

    def _path_or_url(self, given: Given, value: str) -> None:
        keys = data().keys
        path = tools.file_of(value)
        if path:
            value = path
        elif _URL.match(value):
            for effect in tools.fetch(value, self.context, self.ground).effects:
                self.effects[effect] = None
            return
        if len(value) >= 4096 or "\n" in value or (given.near.keys() & keys.method and self._is_request(given)):
            return
        if value in ("/", "./", "../") and "destroy" not in self.levels:
            return  # of a site, as likely as of this machine
        if not _PATH.match(value) and not (given.key in keys.path and "://" not in value):
            return
        content = [given.near[key] for key in sorted(keys.content) if key in given.near]
        text = content[0] if len(content) == 1 and isinstance(content[0], str) else json.dumps(content)
        for effect in self._on_path(given, value, text if content else ""):
            self.effects[effect] = None

    def _on_path(self, given: Given, path: str, content: str) -> Iterator[Effect]:
        keys = data().keys
        doing = max(self.levels, key=LEVELS.index, default="")
        moving = next((_MOVING[word] for word in words(self.tool) if word in _MOVING), "")
        kind: EffectKind
        if given.key in keys.source or (moving and given.key not in keys.target):
            kind = "move" if moving == "move" else "read"
        elif doing == "destroy":
            kind = "delete"
        else:
            kind = "read" if self.name == "read" and doing == "read" else "write"
        if kind == "write":
            yield from tools.written(path, content, "edit" not in words(self.tool), self.ground)
            return
        deep = kind in ("delete", "move")
        target, places = self.ground.locate(path, deep=deep)
        yield Effect(kind, target, places, recursive=kind == "delete" and not _names_a_file(self.words))


@functools.cache
def _no_paths() -> frozenset[str]:
    keys = data().keys
    return keys.prose | keys.sql | keys.query | keys.shell | keys.directory


def _names_a_file(said: frozenset[str]) -> bool:
    return bool({"file", "files"} & said) and not {"directory", "folder", "dir", "tree"} & said


def _joined_words(given: Given) -> frozenset[str]:
    return frozenset(word for key in ("action", "operation", "command") for word in words(str(given.near.get(key, ""))))


def _joined(own: Facts, *inner: Facts) -> Facts:
    every = (own, *inner)
    commands: list[Command] = []
    effects: dict[Effect, None] = {}
    for each in every:
        before = len(commands)
        for effect in each.effects:
            effects[structs.replace(effect, by=effect.by + before) if effect.by else effect] = None
        commands += each.commands
    return Facts(
        commands=tuple(commands),
        effects=tuple(effects),
        read_only=own.read_only,
        opaque=next((each.opaque for each in every if each.opaque), ""),
        unseen=tuple(dict.fromkeys(u for each in every for u in each.unseen)),
        sources=tuple(dict.fromkeys(s for each in every for s in each.sources)),
        wants=tuple(dict.fromkeys(w for each in every for w in each.wants)),
    )
