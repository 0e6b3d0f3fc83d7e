"""Python source: the calls that delete, write, read or run something, with their constant arguments folded."""

from __future__ import annotations

import ast
import base64
import binascii
import re
import warnings

from msgspec import Struct

from reflexd.shell.fields import UNKNOWN

NODES_MAX = 5000
FOLDS_MAX = 20_000
PATHS_MAX = 50
TEXT_MAX = 64 * 1024
_TREE = frozenset({"rmtree", "remove_tree", "removedirs"})
_FILE = frozenset({"remove", "unlink", "rmdir"})
_SHELL = frozenset({"system", "popen", "getoutput", "getstatusoutput", "create_subprocess_shell"})
_RUN = frozenset(
    {
        "run",
        "call",
        "Popen",
        "check_call",
        "check_output",
        "create_subprocess_exec",
        "execv",
        "execvp",
        "execl",
        "execlp",
    }
    | {"spawn", "spawnv", "spawnl", "spawnvp", "spawnlp", "execve", "posix_spawn", "startfile", "local", "sudo"}
)
_WRITE = frozenset({"write_text", "write_bytes", "touch_config"})
_READ = frozenset({"read_text", "read_bytes"})
_MOVE = frozenset({"move", "rename", "renames", "replace"})
_COPY = frozenset({"copy", "copy2", "copyfile", "copytree"})
_AMBIGUOUS = frozenset({"remove", "replace", "rename", "copy", "move"})
"""Of modules they are about files, of any other value about what it holds: text.replace("/", "_")."""
_FILES = frozenset({"os", "shutil", "posix", "subprocess", "asyncio"})
_IMPORTING = frozenset({"__import__", "import_module", "getattr", "vars", "globals", "modules"})
_PATHS = frozenset(
    {
        "Path",
        "PosixPath",
        "PurePath",
        "expanduser",
        "abspath",
        "realpath",
        "resolve",
        "absolute",
        "str",
        "fspath",
        "normpath",
    }
)


_NAME = r"[^\s;(){}\"'`<>|&*]"
_PATH = re.compile(rf"(?:~|/){_NAME}{{1,300}}\Z|{_NAME}{{0,200}}/\.{_NAME}{{1,100}}\Z|\.env[\w.]*\Z")


def is_path(text: str) -> bool:
    """Whether a literal can only be meant as a path from the root or the home, or one to a hidden file."""
    return _PATH.match(text) is not None and not text.startswith("//")


class Python(Struct, frozen=True):
    commands: tuple[tuple[str, ...], ...]
    code: tuple[str, ...]
    opaque: tuple[str, ...]


def read(source: str, whole: bool = False) -> Python | None:
    """None where it is not Python that this interpreter can parse. `whole`: a program, with functions of its own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    reader = _Reader(whole)
    try:
        reader.visit_all(tree)
    except RecursionError:
        reader.opaque.append("python code is nested too deeply")
    return Python(tuple(reader.commands), tuple(reader.code), tuple(reader.opaque))


class _Reader:
    def __init__(self, whole: bool) -> None:
        self._whole = whole
        self._modules: set[str] = set()
        self.commands: list[tuple[str, ...]] = []
        self.code: list[str] = []
        self.opaque: list[str] = []
        self._names: dict[str, ast.expr] = {}
        self._folding = 0
        self._folded = 0

    def visit_all(self, tree: ast.AST) -> None:
        count = 0
        pending: list[ast.AST] = [tree]
        calls: list[ast.Call] = []
        paths: list[str] = []
        while pending:
            node = pending.pop()
            count += 1
            if count > NODES_MAX:
                self.opaque.append("python code is too long to be read")
                break
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._names[node.targets[0].id] = node.value
            elif isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    first, _, rest = alias.name.partition(".")
                    self._modules.update((alias.asname or first, rest.rpartition(".")[2] or first))
                    if alias.asname:
                        self._names[alias.asname] = ast.Name(alias.name.rpartition(".")[2])
            elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
                self._names[node.target.id] = node.iter
            elif isinstance(node, ast.Call):
                calls.append(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and is_path(node.value):
                paths.append(node.value)
            pending.extend(ast.iter_child_nodes(node))
        for call in reversed(calls):
            self._call(call)
        self.commands.extend(("literal", text) for text in paths[:PATHS_MAX])

    def _call(self, call: ast.Call) -> None:
        name = self._name(call.func)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        first = call.args[0] if call.args else None
        if (name in _AMBIGUOUS or (self._whole and name in _RUN)) and not self._of_module(call.func):
            return
        if name in ("exec", "eval") and owner is None and first is not None:
            self._executed(first)
        elif name in _TREE and first is not None:
            self._on(("rm", "-rf"), first)
        elif name in _FILE:
            self._on(("rm",), first if first is not None else owner)
        elif name == "open":
            self._opened(call, owner)
        elif name in _WRITE and owner is not None:
            self._on(("tee",), owner)
        elif name in _READ and owner is not None:
            self._on(("cat",), owner)
        elif (name in _MOVE or name in _COPY) and len(call.args) > 1:
            verb = "mv" if name in _MOVE else "cp"
            self.commands.append((verb, self._text(call.args[0]), self._text(call.args[1])))
        elif name in ("kill", "killpg") and len(call.args) == 2:
            self.commands.append(("kill", self._text(call.args[0])))
        elif name in ("chmod", "chown") and first is not None:
            self.commands.append((name, "0", self._text(first)))
        elif name in _SHELL and first is not None:
            self.code.append(self._text(first))
        elif name in _RUN and first is not None:
            self._run(call, first, name)
        else:
            self._handed_on(call)

    def _handed_on(self, call: ast.Call) -> None:
        """A function that runs things given to another one, with what it is to run: map, atexit, a thread."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        runners = [each for each in given if isinstance(each, ast.Attribute | ast.Name) and self._runs(each)]
        if not runners:
            return
        texts = [
            self._text(node)
            for each in given
            if each not in runners
            for node in ast.walk(self._resolve(each))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        self.code.extend(texts or [UNKNOWN])

    def _runs(self, node: ast.Attribute | ast.Name) -> bool:
        name = self._name(node)
        owner = self._name(node.value) if isinstance(node, ast.Attribute) else ""
        return name in _SHELL or (name in _RUN and owner in ("os", "subprocess", "pty", "asyncio"))

    def _of_module(self, func: ast.expr) -> bool:
        """Whether a function may be a module's, as far as can be told from what it is called on."""
        if not isinstance(func, ast.Attribute):
            return not self._whole or not isinstance(func, ast.Name) or func.id in self._modules
        owner = self._resolve(func.value)
        if isinstance(owner, ast.Name):
            return owner.id in self._modules
        if isinstance(owner, ast.Call):
            return self._name(owner.func) in _IMPORTING
        if isinstance(owner, ast.Subscript):
            return self._name(owner.value) in _IMPORTING
        if isinstance(owner, ast.Attribute):
            return owner.attr in _FILES
        return isinstance(owner, ast.List | ast.Tuple)

    def _run(self, call: ast.Call, first: ast.expr, name: str) -> None:
        resolved = self._resolve(first)
        if isinstance(resolved, ast.Call) and self._name(resolved.func) == "split":
            split_up = resolved.args[0] if resolved.args else getattr(resolved.func, "value", resolved)
            words = self._text(split_up).split()
        elif isinstance(resolved, ast.List | ast.Tuple):
            words = [self._text(item) for item in resolved.elts]
        elif name.startswith(("exec", "spawn", "create_", "posix")) and len(call.args) > 1:
            rest = call.args[1:]
            if name.startswith("spawn") and name != "spawn" and len(rest) > 1:
                first, rest = rest[0], rest[1:]  # how to wait comes first
            listed = self._resolve(rest[0]) if len(rest) >= 1 else None
            if isinstance(listed, ast.List | ast.Tuple):
                words = [self._text(first), *(self._text(item) for item in listed.elts[1:])]
            else:
                words = [self._text(first), *(self._text(item) for item in rest)]
                words = words if name.startswith("create_") else [words[0], *words[2:]]
        else:
            text = self._text(first)
            through_shell = any(k.arg == "shell" for k in call.keywords)
            if text != UNKNOWN and (through_shell or " " in text):
                self.code.append(text)
            elif text != UNKNOWN:
                self.commands.append((text,))
            return
        if words and words[0] != UNKNOWN:
            self.commands.append(tuple(words))

    def _executed(self, first: ast.expr) -> None:
        text = self._text(first)
        if UNKNOWN not in text:
            inner = read(text, self._whole)
            if inner is not None:
                self.commands.extend(inner.commands)
                self.code.extend(inner.code)
                self.opaque.extend(inner.opaque)
        elif any(isinstance(node, ast.Call) for node in ast.walk(first)):
            self.opaque.append("python code runs text that it makes first")

    def _opened(self, call: ast.Call, owner: ast.expr | None) -> None:
        of_path = owner is not None and self._name(owner) not in (
            "io",
            "os",
            "codecs",
            "gzip",
            "builtins",
            "bz2",
            "lzma",
        )
        target = owner if of_path else (call.args[0] if call.args else None)
        if target is None:
            return
        rest = call.args if of_path else call.args[1:]
        mode = (
            self._text(rest[0]) if rest else next((self._text(k.value) for k in call.keywords if k.arg == "mode"), "r")
        )
        writes = any(letter in mode for letter in "wax+") or "O_W" in mode
        self._on(("tee",) if writes else ("cat",), target)

    def _on(self, words: tuple[str, ...], target: ast.expr | None) -> None:
        if target is None:
            return
        resolved = self._resolve(target)
        if isinstance(resolved, ast.List | ast.Tuple | ast.Set):
            self.commands.extend((*words, self._text(item)) for item in resolved.elts[:PATHS_MAX])
        else:
            self.commands.append((*words, self._text(target)))

    def _name(self, node: ast.AST) -> str:
        """The last name of a dotted expression, through renamed imports and getattr."""
        if isinstance(node, ast.Attribute):
            return node.attr
        if isinstance(node, ast.Name):
            target = self._names.get(node.id)
            return (
                target.id
                if isinstance(target, ast.Name)
                else target.attr
                if isinstance(target, ast.Attribute)
                else node.id
            )
        if isinstance(node, ast.Call) and self._name(node.func) == "getattr" and len(node.args) > 1:
            return self._text(node.args[1])
        return ""

    def _resolve(self, node: ast.expr) -> ast.expr:
        seen = 0
        while isinstance(node, ast.Name) and node.id in self._names and seen < 8:
            node = self._names[node.id]
            seen += 1
        return node

    def _text(self, node: ast.expr) -> str:
        """The constant text of an expression; UNKNOWN for what is not constant."""
        self._folding += 1
        self._folded += 1
        try:
            if self._folding > 40 or self._folded > FOLDS_MAX:
                return UNKNOWN
            text = self._fold(node)
            return text if len(text) <= TEXT_MAX else UNKNOWN
        finally:
            self._folding -= 1

    def _fold(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=str() as text):
                return text
            case ast.Constant(value=bytes() as data):
                return data.decode("utf-8", "replace")
            case ast.Constant(value=value):
                return str(value)
            case ast.Name(id=name):
                target = self._names.get(name)
                return UNKNOWN if target is None or isinstance(target, ast.Name) else self._text(target)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._text(left) + self._text(right)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._text(left).rstrip("/") + "/" + self._text(right).lstrip("/")
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                items = right.elts if isinstance(right, ast.Tuple) else [right]
                text = self._text(left)
                for item in items:
                    text = text.replace("%s", self._text(item), 1)
                return text
            case ast.JoinedStr(values=values):
                return "".join(self._text(v.value if isinstance(v, ast.FormattedValue) else v) for v in values)
            case ast.List(elts=items) | ast.Tuple(elts=items) if len(items) == 1:
                return self._text(items[0])
            case ast.Attribute(attr=attr):
                return attr if attr.startswith("O_") else UNKNOWN
            case ast.Call():
                return self._folded_call(node)
            case ast.Subscript(value=value, slice=ast.Constant(value=str() as key)) if self._name(value) == "environ":
                return "~" if key == "HOME" else UNKNOWN
            case _:
                return UNKNOWN

    def _folded_call(self, call: ast.Call) -> str:
        name = self._name(call.func)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        args = [self._text(arg) for arg in call.args]
        if name == "home" or (name in ("getenv", "get") and args[:1] == ["HOME"]):
            return "~"
        if name in _PATHS and args:
            return args[0] if len(args) == 1 else "/".join([args[0].rstrip("/"), *args[1:]])
        if name in _PATHS and owner is not None:
            return self._text(owner)
        if name == "join" and owner is not None and isinstance(owner, ast.Constant) and call.args:
            items = self._resolve(call.args[0])
            if isinstance(items, ast.List | ast.Tuple):
                return self._text(owner).join(self._text(item) for item in items.elts)
            return UNKNOWN
        if name in ("join", "joinpath") and (args or owner is not None):
            parts = [self._text(owner), *args] if name == "joinpath" and owner is not None else args
            return "/".join(part.rstrip("/") or "/" for part in parts).replace("//", "/")
        if name == "chr" and args and args[0].isdigit() and int(args[0]) < 0x110000:
            return chr(int(args[0]))
        if name in ("decode", "encode", "strip") and owner is not None and (not args or "rot" not in args[0]):
            return self._text(owner)
        if name == "format" and owner is not None:
            text = self._text(owner)
            for item in args:
                text = text.replace("{}", item, 1)
            return text
        if name == "replace" and owner is not None and len(args) == 2:
            text = self._text(owner)
            return text.replace(args[0], args[1]) if text.count(args[0]) * len(args[1]) < TEXT_MAX else UNKNOWN
        return _decoded(name, args)


def _decoded(name: str, args: list[str]) -> str:
    if not args or UNKNOWN in args[0]:
        return UNKNOWN
    try:
        if name in ("b64decode", "standard_b64decode", "urlsafe_b64decode", "decodebytes"):
            return base64.b64decode(args[0]).decode("utf-8", "replace")
        if name in ("fromhex", "unhexlify", "a2b_hex"):
            return bytes.fromhex(args[0]).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return UNKNOWN
    return UNKNOWN
