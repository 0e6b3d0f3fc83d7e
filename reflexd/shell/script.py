"""Statements: the grammar's tree walked in one shell, down to simple commands (shell.commands)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from reflexd.shell import builtins, commands, feeds, flow, syntax
from reflexd.shell.calls import Budget, Call, Redirect
from reflexd.shell.expand import Expander, Values
from reflexd.shell.fields import UNKNOWN
from reflexd.shell.loose import tokens
from reflexd.shell.options import names
from reflexd.shell.realms import production

if TYPE_CHECKING:
    from reflexd.shell.carriers import Unwrapped
    from reflexd.shell.interpret import Walk
    from reflexd.shell.loose import Loose
    from reflexd.shell.state import Shell

_NEWLINE = ord("\n")
NEST_MAX = 120  # of nodes within nodes
_WORDS = names(
    "word string raw_string ansi_c_string translated_string concatenation simple_expansion expansion"
    " command_substitution process_substitution arithmetic_expansion number variable_name brace_expression"
    " special_variable_name"
)


_CLOSING = names("then else elif fi do done esac }")
"""Words that cannot begin a command unless they are quoted."""

_CALLED_BY_SHELL = names(
    "command_not_found_handle command_not_found_handler precmd preexec chpwd periodic zshexit"
    " TRAPEXIT TRAPZERR TRAPDEBUG"
)
"""Functions that the shell itself calls."""


class Script:
    """One piece of code being walked in one shell. Methods return what the code prints, None if not known."""

    def __init__(self, walk: Walk, source: bytes, shell: Shell, via: tuple[str, ...], depth: int) -> None:
        self.walk = walk
        self.source = source
        self.shell = shell
        self.via = via
        self.depth = depth
        self.expander = Expander(self._lookup, self._run, self._pipe, self._assign, walk.count, walk.lost, shell.home)

    def sub(self, shell: Shell) -> Script:
        return Script(self.walk, self.source, shell, self.via, self.depth)

    def node(self, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
        self.walk.count()
        if nest > NEST_MAX:
            raise Budget("it is nested too deeply")
        nest += 1
        match node.type:
            case "command":
                return self._command(node, (), stdin, fed, nest)
            case "program" | "compound_statement" | "do_group" | "ERROR" | "negated_command":
                if any(child.type == ";;" for child in node.children):
                    self.walk.invalid()
                return flow.sequence(self, node, stdin, fed, nest)
            case "redirected_statement":
                return self._redirected(node, stdin, fed, nest)
            case "list":
                return flow.chain(self, node, stdin, fed, nest)
            case "pipeline":
                return flow.pipeline(self, node, stdin, fed, nest)
            case "subshell":
                return flow.sequence(self.sub(self.shell.copy()), node, stdin, fed, nest)
            case "if_statement":
                return flow.condition(self, node, stdin, fed, nest)
            case "case_statement":
                return flow.cases(self, node, stdin, fed, nest)
            case "while_statement":
                return flow.loop(self, node, stdin, fed, nest)
            case "c_style_for_statement":
                return flow.counted(self, node, stdin, fed, nest)
            case "for_statement":
                return flow.each(self, node, stdin, fed, nest)
            case "function_definition":
                return self._define(node)
            case "variable_assignment":
                self._assignment(node)
                return ""
            case "variable_assignments":
                for child in node.named_children:
                    self._assignment(child)
                return ""
            case "declaration_command" | "unset_command":
                return self._declaration(node)
            case "comment" | "heredoc_body" | "heredoc_end" | "heredoc_start":
                return ""
            case _:
                self._expression(node, nest)
                return "" if node.type == "test_command" else None

    def loose(self, command: Loose) -> None:
        """A command that was found without the grammar."""
        self.walk.count()
        redirects = tuple(Redirect(op.lstrip("0123456789"), self.expander.text(raw)) for op, raw in command.redirects)
        argv: list[str] = []
        for raw in command.words:
            name, equals, value = raw.partition("=")
            if not argv and equals and name.isidentifier():
                self.shell.set(name, self.expander.text(value))
            else:
                argv.extend(self.expander.fields(raw))
        commands.run(self, tuple(argv), (), redirects, None, "", self.via, 1)

    def called(self, function: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
        """A function's body, or a whole definition where redirections stand behind it."""
        if function.type == "function_definition":
            return self._redirected(function, stdin, fed, nest)
        return self.node(function, stdin, fed, nest)

    def inner(self, call: Call, unwrapped: Unwrapped, nest: int) -> str | None:
        return commands.inner(self, call, unwrapped, nest)

    # -- statements ------------------------------------------------------------------

    def _define(self, node: syntax.Node) -> str:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is not None and body is not None:
            defined = node if node.children_by_field_name("redirect") else body
            self.shell.functions[self.raw(name)] = ((self.source, defined),)
            if self.raw(name) in _CALLED_BY_SHELL:
                self.walk.later.append(partial(self.sub(self.shell.copy()).node, body, None, "", 1))
        return ""

    def _redirected(self, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
        body = node.child_by_field_name("body")
        redirects: list[Redirect] = []
        extra: list[str] = []
        after: list[syntax.Node] = []
        for redirect in feeds.flat(node):
            match redirect.type:
                case "file_redirect":
                    here, made, words = feeds.file_redirect(self, redirect)
                    extra.extend(words)
                    if here is not None:
                        stdin, fed = feeds.here(self, here), "text"
                        self.shell.descriptors[made.op.rstrip("<")] = (stdin, fed)
                        continue
                    redirects.append(made)
                    stdin, fed = feeds.fed_by(self, made, stdin, fed)
                case "heredoc_redirect":
                    stdin, fed = feeds.heredoc(self, redirect), "text"
                    after.extend(c for c in redirect.named_children if c.type not in feeds.HEREDOC_PARTS)
        if body is not None and body.type == "command":
            output = self._command(body, tuple(redirects), stdin, fed, nest, extra)
        else:
            # Nothing but `<file` stands for what the file holds, within $( ).
            output = (stdin if fed else "") if body is None else self.node(body, stdin, fed, nest)
            if redirects:
                self.walk.note(Call((), self.shell.cwd, redirects=tuple(redirects), via=self.via))
                builtins.written(self.shell, redirects, output, False)
        for rest in after:
            # The grammar hangs what follows `<<EOF` on the same line into the here-document.
            before = rest.prev_sibling
            if (
                rest.type in ("pipeline", "command")
                and before is not None
                and before.type in ("|", "|&", "heredoc_start")
            ):
                output = self.node(rest, output, "pipe", nest)
            elif rest.type in _WORDS and body is not None:
                self._expression(rest, nest)
            else:
                output = self.node(rest, None, "", nest)
        return "" if any(made.writes and made.op[:1] != "2" for made in redirects) else output

    # -- simple commands -----------------------------------------------------------------

    def _command(
        self,
        node: syntax.Node,
        redirects: tuple[Redirect, ...],
        stdin: str | None,
        fed: str,
        nest: int,
        extra: Iterable[str] = (),
    ) -> str | None:
        first = node.child_by_field_name("name")
        if first is not None and first.start_byte == node.start_byte and self.raw(first) in _CLOSING:
            self.walk.invalid()
        self.walk.told = []
        argv: list[str] = []
        assigned: list[tuple[str, str]] = []
        start = end = -1  # of the word being put together: the grammar splits some, as in a$b/c
        for child in node.named_children:
            kind = child.type
            if kind in _WORDS or kind == "command_name":
                if argv and self.source[child.start_byte] == _NEWLINE:
                    # The grammar now and then takes the end of a line for the start of a word.
                    commands.run(self, tuple(argv), tuple(assigned), redirects, stdin, fed, self.via, nest)
                    argv, assigned = [], []
                if child.start_byte != end:
                    if end >= 0:
                        argv.extend(self._word(start, end))
                    start = child.start_byte
                end = child.end_byte
                continue
            if end >= 0:
                argv.extend(self._word(start, end))
                end = -1
            match kind:
                case "variable_assignment" if not argv:
                    assigned.extend(self._assigned(child))
                case "file_redirect":
                    here, made, words = feeds.file_redirect(self, child)
                    extra = [*extra, *words]
                    if here is not None:
                        stdin, fed = feeds.here(self, here), "text"
                        self.shell.descriptors[made.op.rstrip("<")] = (stdin, fed)
                        continue
                    redirects = (*redirects, made)
                    stdin, fed = feeds.fed_by(self, made, stdin, fed)
                case "heredoc_redirect":
                    stdin, fed = feeds.heredoc(self, child), "text"
                case "comment":
                    pass
                case "subshell" | "command" | "compound_statement":
                    self.node(child, stdin, fed, nest)
                case _:
                    argv.extend(self.fields(child))
        if end >= 0:
            argv.extend(self._word(start, end))
        argv.extend(extra)
        return commands.run(self, tuple(argv), tuple(assigned), redirects, stdin, fed, self.via, nest)

    # -- pieces -----------------------------------------------------------------------------

    def _declaration(self, node: syntax.Node) -> str:
        words = [self.raw(node.children[0])] if node.children else []
        for child in node.named_children:
            if child.type == "variable_assignment":
                held = child.child_by_field_name("value")
                pairs = self._assignment(child)
                listed = held is not None and held.type == "array"  # set already, element by element
                words.extend(name if listed else f"{name}={text}" for name, text in pairs)
            else:
                words.extend(self.fields(child))
        builtins.declared(self.shell, tuple(words))
        for word in words[1:]:
            name, _, value = word.partition("=")
            commands.hooked(self, name, value, self.via)
            self.expander.evaluated(word)
        self.walk.note(Call(tuple(words), self.shell.cwd, via=self.via))
        return ""

    def _assignment(self, node: syntax.Node) -> list[tuple[str, str]]:
        pairs = self._assigned(node)
        value = node.child_by_field_name("value")
        for name, text in pairs:
            if value is not None and value.type == "array":
                held = [field for child in value.named_children for field in self.fields(child)]
                before = self.shell.variables.get(name) if "+=" in self.raw(node).partition("(")[0] else None
                self.shell.variables[name] = [*(before or []), *held]
            else:
                self.shell.set(name, text)
                commands.hooked(self, name, text, self.via)
        return pairs

    def _assigned(self, node: syntax.Node) -> list[tuple[str, str]]:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None:
            return []
        spelled = self.raw(name)
        text = "" if value is None else self.text(value)
        if not spelled.isascii():
            self.walk.opaque.append("the program's name is not plain ASCII")
        if name.type == "subscript":
            self._expression(name, 0)
            held = self.shell.variables.get(spelled.partition("[")[0])
            index = spelled.partition("[")[2].rstrip("]")
            if spelled.startswith("BASH_ALIASES["):
                self.shell.aliases[self.expander.text(index)] = text
            if index.isdigit() and int(index) == len(held or ()):
                self.shell.variables[spelled.partition("[")[0]] = [*(held or ()), text]
            else:
                self.shell.variables[spelled.partition("[")[0]] = None
            return []
        if self.raw(node)[len(spelled) : len(spelled) + 2] == "+=":
            held = [""] if spelled in self.shell.gone else self.shell.lookup(spelled)
            text = (UNKNOWN if held is None else " ".join(held)) + text
        return [(spelled, text)]

    def _expression(self, node: syntax.Node, nest: int) -> None:
        """Substitutions inside what runs nothing itself: tests, arithmetic, patterns."""
        self.walk.count()
        if nest > NEST_MAX:
            raise Budget("it is nested too deeply")
        if node.type in _WORDS:
            raw = self.raw(node)
            self.walk.count()
            self.expander.evaluated(self.expander.text(raw))
            return
        for child in node.named_children:
            if child.type in ("command", "pipeline", "list", "redirected_statement", "subshell"):
                self.node(child, None, "", nest + 1)
            else:
                self._expression(child, nest + 1)

    def _word(self, start: int, end: int) -> list[str]:
        self.walk.count()
        raw = self.source[start:end].decode("utf-8", "replace").lstrip("\n")
        if raw.isdigit() and self.source[end : end + 1] in (b"<", b">"):
            return []  # the descriptor of a redirection, which the grammar takes for a word
        if " " in raw or "\t" in raw or "\n" in raw:
            # Blanks outside quotes end a word, whatever the grammar thinks.
            return [field for token in tokens(raw) for field in self.expander.fields(token)]
        return self.expander.fields(raw)

    def fields(self, node: syntax.Node) -> list[str]:
        self.walk.count()
        return self.expander.fields(self.raw(node))

    def text(self, node: syntax.Node) -> str:
        self.walk.count()
        return self.expander.text(self.raw(node))

    def raw(self, node: syntax.Node) -> str:
        return syntax.text_of(self.source, node)

    # -- what the expander asks ----------------------------------------------------------------

    def _lookup(self, name: str) -> Values:
        if production(name):
            self.walk.told.append(name)
        return self.shell.lookup(name)

    def _run(self, code: str) -> str | None:
        return self.walk.code(code, self.shell.copy(), None, "", self.via, self.depth + 1)

    def _pipe(self, code: str, into: bool) -> str:
        start = len(self.walk.calls)
        output = self.walk.code(code, self.shell.copy(), None, "pipe" if into else "", self.via, self.depth + 1)
        name = self.walk.pipe(output, flow.came_from(self.walk.calls[start:], ""))
        if into:
            self.walk.sinks[name] = (code, self.shell.copy())
        return name

    def _assign(self, name: str, value: str) -> None:
        self.shell.set(name, value)
