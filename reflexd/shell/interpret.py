"""A command line, walked in the order it would run: text -> Reading.

What holds: every program that the text itself makes run is in the Reading with its words resolved,
or the Reading says why it may not be (`opaque`). Nothing is executed, no file is read. Both branches of a
condition are walked, loops once a value. What is not covered: code in files, which is named as `unseen`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reflexd.shell import syntax
from reflexd.shell.calls import Call, Reading, Redirect
from reflexd.shell.expand import Expander, Values
from reflexd.shell.fields import BRACKET, ONE, STAR, UNKNOWN, clean, known, shown
from reflexd.shell.output import printed
from reflexd.shell.wrappers import Unwrapped, unwrap

DEPTH_MAX = 24  # of code within code
NEST_MAX = 120  # of nodes within nodes
NODES_MAX = 20_000
CALLS_MAX = 600
LOOP_MAX = 16

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash", "rbash", "fish", "busybox"})


class Budget(Exception):
    """The text is larger than what is read; caught once, at the top."""


class Shell:
    """State of one shell: variables, functions, aliases, where it is. Subshells are copies."""

    def __init__(self, cwd: str, home: str, env: Mapping[str, str], whole_env: bool) -> None:
        self.cwd = cwd
        self.home = home
        self.env = env
        self.whole_env = whole_env
        self.variables: dict[str, Values] = {"HOME": [home], "PWD": [cwd], "0": ["bash"], "SHELL": ["bash"]}
        self.functions: dict[str, tuple[bytes, syntax.Node]] = {}
        self.aliases: dict[str, str] = {}

    def copy(self) -> Shell:
        other = Shell(self.cwd, self.home, self.env, self.whole_env)
        other.variables = dict(self.variables)
        other.functions = dict(self.functions)
        other.aliases = dict(self.aliases)
        return other

    def lookup(self, name: str) -> Values:
        if name in self.variables:
            return self.variables[name]
        if name in self.env:
            return [clean(self.env[name])[0]]
        if name in ("BASH", "BASH_ARGV0"):
            return ["bash"]
        if name == "IFS":
            return [" \t\n"]
        if name.isdigit() or name in "@*":
            raise KeyError(name)
        if (
            self.whole_env
            and name.isidentifier()
            and name not in ("RANDOM", "PPID", "SECONDS", "LINENO", "UID", "EUID")
        ):
            raise KeyError(name)
        return None

    def merge(self, branches: Iterable[Shell]) -> None:
        """After a condition: what the branches agree on holds, the rest is not known."""
        ends = list(branches)
        for name in {name for end in ends for name in end.variables}:
            values = [end.variables.get(name, "unset") for end in ends]
            if all(value == values[0] for value in values):
                if values[0] != "unset":
                    self.variables[name] = values[0]
            else:
                self.variables[name] = None
        for end in ends:
            self.functions.update(end.functions)
            self.aliases.update(end.aliases)
        if any(end.cwd != ends[0].cwd for end in ends):
            self.cwd = UNKNOWN
        elif ends:
            self.cwd = ends[0].cwd


def read(text: str, cwd: str, home: str, env: Mapping[str, str], whole_env: bool = False) -> Reading:
    """Total: every text gives a Reading. `whole_env`: a variable that is not in `env` is not set."""
    cleaned, forged = clean(text)
    walk = _Walk()
    if forged:
        walk.opaque.append("it holds control characters")
    try:
        walk.code(cleaned, Shell(cwd, home, env, whole_env), None, "", (), 0)
        if "\\\n" in cleaned:
            walk.code(syntax.joined(cleaned), Shell(cwd, home, env, whole_env), None, "", (), 0)
    except Budget as e:
        walk.opaque.append(str(e))
    return Reading(
        tuple(walk.calls),
        tuple(dict.fromkeys(walk.opaque)),
        tuple(dict.fromkeys(walk.unseen)),
        tuple(walk.assigned),
        walk.broken,
    )


class _Walk:
    """One reading under way. Every method that walks code returns what it prints, None if not known."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.opaque: list[str] = []
        self.unseen: list[str] = []
        self.assigned: list[tuple[str, str]] = []
        self.broken = False
        self._nodes = 0
        self._pipes: dict[str, tuple[str | None, str]] = {}

    # -- code and statements ---------------------------------------------------

    def code(
        self, text: str, shell: Shell, stdin: str | None, fed: str, via: tuple[str, ...], depth: int
    ) -> str | None:
        if depth > DEPTH_MAX:
            raise Budget("code is nested in code too deeply")
        source = text.encode("utf-8", "replace")
        root = syntax.parse(source)
        if root.has_error:
            self.broken = True
            self.opaque.append("it is not valid shell, or not shell that can be read")
        return _Script(self, source, shell, via, depth).node(root, stdin, fed, 0)

    def count(self) -> None:
        self._nodes += 1
        if self._nodes > NODES_MAX:
            raise Budget("it is too long to be read")

    def note(self, call: Call) -> None:
        self.calls.append(call)
        if len(self.calls) > CALLS_MAX:
            raise Budget("it runs too many commands to be read")

    def pipe(self, output: str | None, fed: str) -> str:
        name = str(63 - len(self._pipes))
        self._pipes[name] = (output, fed)
        return name

    def piped(self, name: str) -> tuple[str | None, str]:
        return self._pipes.get(name, (None, "pipe"))


class _Script:
    """One piece of code being walked in one shell."""

    def __init__(self, walk: _Walk, source: bytes, shell: Shell, via: tuple[str, ...], depth: int) -> None:
        self.walk = walk
        self.source = source
        self.shell = shell
        self.via = via
        self.depth = depth
        self.expander = Expander(self._lookup, self._run, self._pipe, self._assign, shell.home)

    def node(self, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
        self.walk.count()
        if nest > NEST_MAX:
            raise Budget("it is nested too deeply")
        nest += 1
        match node.type:
            case "program" | "compound_statement" | "do_group" | "list" | "else_clause" | "elif_clause" | "ERROR":
                return self._sequence(node, stdin, fed, nest)
            case "command":
                return self._command(node, (), stdin, fed, nest)
            case "redirected_statement":
                return self._redirected(node, stdin, fed, nest)
            case "pipeline":
                return self._pipeline(node, stdin, fed, nest)
            case "subshell":
                return self._sub(self.shell.copy())._sequence(node, stdin, fed, nest)
            case "negated_command":
                return self._sequence(node, stdin, fed, nest)
            case "if_statement" | "case_statement":
                return self._branches(node, stdin, fed, nest)
            case "while_statement" | "c_style_for_statement":
                return self._loop(node, stdin, fed, nest)
            case "for_statement":
                return self._for(node, stdin, fed, nest)
            case "function_definition":
                name = node.child_by_field_name("name")
                body = node.child_by_field_name("body")
                if name is not None and body is not None:
                    self.shell.functions[self._raw(name)] = (self.source, body)
                return ""
            case "variable_assignment" | "variable_assignments":
                for child in _named(node) if node.type.endswith("s") else [node]:
                    self._assignment(child)
                return ""
            case "declaration_command" | "unset_command":
                return self._declaration(node, nest)
            case "test_command":
                self._words_of(node)
                return ""
            case "comment" | "heredoc_body" | "heredoc_end" | "heredoc_start":
                return ""
            case _:
                self._words_of(node)
                return None

    def _sequence(self, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
        printed_all: str | None = ""
        for child in _named(node):
            output = self.node(child, stdin, fed, nest)
            printed_all = None if output is None or printed_all is None else printed_all + output
        return printed_all

    def _branches(self, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
        ends = [self.shell.copy()]
        first = self.shell.copy()
        for child in _named(node):
            if child.type in ("elif_clause", "else_clause", "case_item"):
                # What the conditions before it did holds in every branch.
                script = self._sub(first.copy())
                script._sequence(child, stdin, fed, nest)
                ends.append(script.shell)
            else:
                self.node(child, stdin, fed, nest)
        if node.type == "if_statement":
            ends.append(self.shell.copy())
        self.shell.merge(ends)
        return None

    def _loop(self, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
        before = self.shell.copy()
        self._sequence(node, stdin, fed, nest)
        self.shell.merge([before, self.shell.copy()])
        self._sequence(node, stdin, fed, nest)
        return None

    def _for(self, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
        name = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        values = [f for value in node.children_by_field_name("value") for f in self._fields(value)]
        if name is None or body is None:
            return None
        if not node.children_by_field_name("value"):
            values = [UNKNOWN]
        outputs: list[str | None] = []
        for value in values[:LOOP_MAX] if len(values) <= LOOP_MAX else [*values[:LOOP_MAX], UNKNOWN]:
            self.shell.variables[self._raw(name)] = [value]
            outputs.append(self.node(body, stdin, fed, nest))
        return "".join(o for o in outputs if o is not None) if None not in outputs else None

    def _pipeline(self, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
        output, source = stdin, fed
        stages = _named(node)
        for number, stage in enumerate(stages):
            start = len(self.walk.calls)
            # Each stage but (in some shells) the last runs in a shell of its own.
            script = self if number == len(stages) - 1 else self._sub(self.shell.copy())
            output = script.node(stage, output, source, nest)
            source = "download" if _downloads(self.walk.calls[start:]) or source == "download" else "pipe"
        return output

    def _redirected(self, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
        body = node.child_by_field_name("body")
        redirects: list[Redirect] = []
        extra: list[str] = []
        after: list[syntax.Node] = []
        for redirect in _flat_redirects(node):
            match redirect.type:
                case "file_redirect":
                    made, words = self._file_redirect(redirect)
                    redirects.append(made)
                    extra.extend(words)
                    if made.op == "<":
                        stdin, fed = self._from_file(made.target)
                case "heredoc_redirect":
                    stdin, fed = self._heredoc(redirect), "text"
                    after.extend(c for c in _named(redirect) if c.type not in _HEREDOC_PARTS)
                case "herestring_redirect":
                    words = [self._text(c) for c in _named(redirect)]
                    text = " ".join(words)
                    stdin, fed = (text + "\n" if known(text) else None), "text"
        if body is None:
            for made in redirects:
                self.walk.note(Call((), self.shell.cwd, redirects=(made,), via=self.via))
            output: str | None = ""
        elif body.type == "command":
            output = self._command(body, tuple(redirects), stdin, fed, nest, extra)
        else:
            output = self.node(body, stdin, fed, nest)
            if redirects:
                self.walk.note(Call((), self.shell.cwd, redirects=tuple(redirects), via=self.via))
        for rest in after:
            # The grammar hangs what follows `<<EOF` on the same line into the here-document.
            piped = rest.type in ("pipeline", "command") and rest.prev_sibling is not None
            if piped and rest.prev_sibling is not None and rest.prev_sibling.type in ("|", "|&", "heredoc_start"):
                output = self.node(rest, output, "pipe", nest)
            else:
                output = self.node(rest, None, "", nest)
        return None if any(r.writes for r in redirects) else output

    # -- simple commands ---------------------------------------------------------

    def _command(
        self,
        node: syntax.Node,
        redirects: tuple[Redirect, ...],
        stdin: str | None,
        fed: str,
        nest: int,
        extra: Iterable[str] = (),
    ) -> str | None:
        argv: list[str] = []
        assigned: list[tuple[str, str]] = []
        for child in _named(node):
            if child.type == "variable_assignment" and not argv:
                assigned.extend(self._assigned(child))
            elif child.type == "file_redirect":
                made, words = self._file_redirect(child)
                redirects = (*redirects, made)
                extra = [*extra, *words]
                if made.op == "<":
                    stdin, fed = self._from_file(made.target)
            elif child.type == "herestring_redirect":
                text = " ".join(self._text(c) for c in _named(child))
                stdin, fed = (text + "\n" if known(text) else None), "text"
            elif child.type == "heredoc_redirect":
                stdin, fed = self._heredoc(child), "text"
            elif child.type == "command_name":
                argv.extend(self._alias(self._fields(child)))
            else:
                argv.extend(self._fields(child))
        argv.extend(extra)
        return self.run(tuple(argv), tuple(assigned), redirects, stdin, fed, self.via, nest)

    def run(
        self,
        argv: tuple[str, ...],
        assigned: tuple[tuple[str, str], ...],
        redirects: tuple[Redirect, ...],
        stdin: str | None,
        fed: str,
        via: tuple[str, ...],
        nest: int,
    ) -> str | None:
        """One simple command with its words resolved: noted, and what it runs in turn is walked."""
        self.walk.count()
        if nest > NEST_MAX:
            raise Budget("it is nested too deeply")
        background = False
        if not argv:
            for name, value in assigned:
                self._set(name, value)
            if redirects:
                self.walk.note(Call((), self.shell.cwd, assigned, redirects, via=via))
            return ""
        call = Call(argv, self.shell.cwd, assigned, redirects, stdin, fed, via, background)
        name = call.name
        if not known(argv[0]):
            self.walk.opaque.append(f"the program to run is not known ({shown(argv[0])})")
        elif not argv[0].isascii():
            self.walk.opaque.append("the program's name is not plain ASCII")
        if name in self.shell.functions and "/" not in argv[0]:
            return self._function(name, argv[1:], stdin, fed, nest)
        self.walk.note(call)
        self._builtin(name, argv)
        unwrapped = unwrap(call)
        if unwrapped is not None:
            return self._inner(call, unwrapped, nest)
        if name in _SHELLS and call.argv[0] != "":
            return self._shell(call, nest)
        if any(redirect.writes and redirect.op[0] != "2" for redirect in redirects):
            printed(call)
            return ""
        return printed(call)

    def _inner(self, call: Call, unwrapped: Unwrapped, nest: int) -> str | None:
        via = (*call.via, call.name)
        for why in unwrapped.opaque:
            self.walk.opaque.append(why)
        self.walk.unseen.extend(unwrapped.unseen)
        output: str | None = None
        shell = self.shell if unwrapped.same_shell else self.shell.copy()
        if unwrapped.cwd:
            shell.cwd = unwrapped.cwd
        script = self._sub(shell)
        for argv in unwrapped.commands:
            output = script.run(argv, (*call.assigned, *unwrapped.assigned), (), call.stdin, call.fed, via, nest + 1)
        for code in unwrapped.code:
            if not known(code):
                self.walk.opaque.append(f"{call.name} runs code that is not known")
            inner = code.replace(STAR, "*").replace(ONE, "?").replace(BRACKET, "[")
            if unwrapped.arguments:
                shell.variables.update({str(n): [word] for n, word in enumerate(unwrapped.arguments)})
                shell.variables["@"] = list(unwrapped.arguments[1:])
            output = self.walk.code(inner, shell, call.stdin, call.fed, via, self.depth + 1)
        return output

    def _shell(self, call: Call, nest: int) -> str | None:
        """A shell that was given neither code nor a script: it runs what it reads."""
        via = (*call.via, call.name)
        script = next((word for word in call.argv[1:] if not word.startswith("-")), None)
        if script is not None and script.startswith("\x05"):
            code, fed = self.walk.piped(script[1:])
            return self._fed_code(call, code, fed, via)
        if script is not None and script not in ("-", "/dev/stdin", "/proc/self/fd/0"):
            self.walk.unseen.append(shown(script))
            return None
        if call.fed == "file":
            self.walk.unseen.append("a file that the shell reads")
            return None
        if not call.fed:
            if not {"--version", "--help", "-n"} & set(call.argv[1:]):
                self.walk.opaque.append(f"a bare {call.name} runs whatever is typed into it")
            return None
        return self._fed_code(call, call.stdin, call.fed, via)

    def _fed_code(self, call: Call, code: str | None, fed: str, via: tuple[str, ...]) -> str | None:
        if code is None or not known(code):
            where = "a download" if fed == "download" else "a pipe"
            self.walk.opaque.append(f"{call.name} runs what comes out of {where}, which nobody has seen")
        if code is None:
            return None
        return self.walk.code(code, self.shell.copy(), None, "", via, self.depth + 1)

    def _function(self, name: str, args: tuple[str, ...], stdin: str | None, fed: str, nest: int) -> str | None:
        source, body = self.shell.functions[name]
        saved = {key: self.shell.variables.get(key) for key in ("@", *map(str, range(1, len(args) + 1)))}
        self.shell.variables["@"] = list(args)
        self.shell.variables["*"] = list(args)
        for number, value in enumerate(args, 1):
            self.shell.variables[str(number)] = [value]
        # A function that calls itself ends at the nesting cap, like any other nesting.
        output = _Script(self.walk, source, self.shell, self.via, self.depth).node(body, stdin, fed, nest + 4)
        self.shell.variables.update(saved)
        return output

    def _builtin(self, name: str, argv: tuple[str, ...]) -> None:
        """What a builtin does to this shell."""
        match name:
            case "cd" | "pushd":
                target = next((word for word in argv[1:] if not word.startswith("-") or word == "-"), self.shell.home)
                self._cd(target)
            case "popd":
                self._cd(UNKNOWN)
            case "alias":
                for word in argv[1:]:
                    key, equals, value = word.partition("=")
                    if equals:
                        self.shell.aliases[key] = value
            case "set" if "--" in argv:
                self._positional(argv[argv.index("--") + 1 :])
            case "shift":
                held = self.shell.variables.get("@")
                self._positional(tuple(held[1:]) if held else ())
            case "read" | "mapfile" | "readarray" | "getopts":
                for word in argv[1:]:
                    if word.isidentifier():
                        self.shell.variables[word] = None
            case "printf" if len(argv) > 3 and argv[1] == "-v":
                text = printed(Call(("printf", *argv[3:]), self.shell.cwd))
                self.shell.variables[argv[2]] = None if text is None else [text]
            case "export" | "declare" | "typeset" | "readonly" | "local":
                for word in argv[1:]:
                    key, equals, value = word.partition("=")
                    if equals and key.isidentifier():
                        self._set(key, value)

    # -- pieces ---------------------------------------------------------------------

    def _cd(self, target: str) -> None:
        if not known(target) or target == "-":
            self.shell.cwd = UNKNOWN
        elif target.startswith("/"):
            self.shell.cwd = target
        elif self.shell.cwd != UNKNOWN:
            self.shell.cwd = self.shell.cwd.rstrip("/") + "/" + target
        self.shell.variables["PWD"] = [self.shell.cwd]

    def _positional(self, words: tuple[str, ...]) -> None:
        self.shell.variables["@"] = list(words)
        self.shell.variables["*"] = list(words)
        for number, word in enumerate(words, 1):
            self.shell.variables[str(number)] = [word]

    def _alias(self, fields: list[str]) -> list[str]:
        if len(fields) == 1 and fields[0] in self.shell.aliases:
            return self.shell.aliases[fields[0]].split()
        return fields

    def _from_file(self, target: str) -> tuple[str | None, str]:
        if target.startswith("\x05"):
            return self.walk.piped(target[1:])
        return None, "file"

    def _file_redirect(self, node: syntax.Node) -> tuple[Redirect, list[str]]:
        """The redirection, and the words that the grammar took for more of its targets."""
        op = "".join(self._raw(c) for c in node.children if not c.is_named or c.type == "file_descriptor")
        targets = [f for c in _named(node) if c.type != "file_descriptor" for f in (self._fields(c) or [""])]
        return Redirect(op, targets[0] if targets else ""), targets[1:]

    def _heredoc(self, node: syntax.Node) -> str | None:
        start = next((c for c in _named(node) if c.type == "heredoc_start"), None)
        body = next((c for c in _named(node) if c.type == "heredoc_body"), None)
        if start is None or body is None:
            return None
        raw = self._raw(body)
        if node.children and self._raw(node.children[0]).endswith("-"):
            raw = "\n".join(line.lstrip("\t") for line in raw.split("\n"))
        delimiter = self._raw(start)
        text = raw if any(c in delimiter for c in "'\"\\") else self.expander.heredoc(raw)
        return text

    def _declaration(self, node: syntax.Node, nest: int) -> str | None:
        words = [self._raw(node.children[0])] if node.children else []
        for child in _named(node):
            if child.type == "variable_assignment":
                words.extend(f"{name}={value}" for name, value in self._assignment(child))
            else:
                words.extend(self._fields(child))
        if node.type == "unset_command":
            for word in words[1:]:
                self.shell.variables.pop(word, None)
                if self.shell.whole_env or word in self.shell.env:
                    self.shell.variables[word] = [""]
        self.walk.note(Call(tuple(words), self.shell.cwd, via=self.via))
        return ""

    def _assignment(self, node: syntax.Node) -> list[tuple[str, str]]:
        pairs = self._assigned(node)
        value = node.child_by_field_name("value")
        for name, text in pairs:
            if value is not None and value.type == "array":
                held = [f for c in _named(value) for f in self._fields(c)]
                before = self.shell.variables.get(name) if "+=" in self._raw(node).split("(")[0] else None
                self.shell.variables[name] = [*(before or []), *held]
            else:
                self._set(name, text)
        return pairs

    def _assigned(self, node: syntax.Node) -> list[tuple[str, str]]:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None:
            return []
        if name.type == "subscript":
            self.shell.variables[self._raw(name).partition("[")[0]] = None
            self._words_of(node)
            return []
        text = "" if value is None else self._text(value)
        if "+=" in self._raw(node)[: len(self._raw(name)) + 2]:
            before = self._lookup_or_unknown(self._raw(name))
            text = before + text
        return [(self._raw(name), text)]

    def _set(self, name: str, value: str) -> None:
        self.shell.variables[name] = [value]
        self.walk.assigned.append((name, value))

    def _lookup_or_unknown(self, name: str) -> str:
        try:
            held = self.shell.lookup(name)
        except KeyError:
            return ""
        return UNKNOWN if held is None else " ".join(held)

    def _words_of(self, node: syntax.Node) -> None:
        """Walk the substitutions inside an expression that runs nothing itself."""
        for child in _named(node):
            self._text(child)

    def _fields(self, node: syntax.Node) -> list[str]:
        self.walk.count()
        return self.expander.fields(self._raw(node))

    def _text(self, node: syntax.Node) -> str:
        self.walk.count()
        return self.expander.text(self._raw(node))

    def _raw(self, node: syntax.Node) -> str:
        return syntax.text_of(self.source, node)

    def _sub(self, shell: Shell) -> _Script:
        return _Script(self.walk, self.source, shell, self.via, self.depth)

    # -- what the expander asks --------------------------------------------------------

    def _lookup(self, name: str) -> Values:
        return self.shell.lookup(name)

    def _run(self, code: str) -> str | None:
        return self.walk.code(code, self.shell.copy(), None, "", self.via, self.depth + 1)

    def _pipe(self, code: str) -> str:
        start = len(self.walk.calls)
        output = self.walk.code(code, self.shell.copy(), None, "", self.via, self.depth + 1)
        return self.walk.pipe(output, "download" if _downloads(self.walk.calls[start:]) else "pipe")

    def _assign(self, name: str, value: str) -> None:
        self._set(name, value)


_HEREDOC_PARTS = frozenset(
    {"heredoc_start", "heredoc_body", "heredoc_end", "file_redirect", "herestring_redirect", "comment"}
)
_DOWNLOADERS = frozenset({"curl", "wget", "http", "https", "fetch", "aria2c", "nc", "ncat", "socat", "xh"})


def _downloads(calls: Iterable[Call]) -> bool:
    return any(call.name in _DOWNLOADERS for call in calls)


def _named(node: syntax.Node) -> list[syntax.Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _flat_redirects(node: syntax.Node) -> list[syntax.Node]:
    """The redirections of a statement, with those that the grammar hangs under a here-document."""
    found: list[syntax.Node] = []
    for child in node.children_by_field_name("redirect"):
        found.append(child)
        if child.type == "heredoc_redirect":
            found.extend(c for c in _named(child) if c.type in ("file_redirect", "herestring_redirect"))
    return found
