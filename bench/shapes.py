"""Commands of any length, of the shapes that readers of shell have been slow at."""

from __future__ import annotations

from collections.abc import Callable, Mapping

SIZES = (10, 100, 1_000, 10_000, 32_768, 100_000, 1_000_000)


def _repeated(piece: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """`piece` as often as fits, so that the whole is valid shell of about the size asked for."""

    def made(size: int) -> str:
        return before + piece * max(1, (size - len(before) - len(after)) // len(piece)) + after

    return made


def _nested(opening: str, inner: str, closing: str) -> Callable[[int], str]:
    def made(size: int) -> str:
        depth = max(1, (size - len(inner)) // (len(opening) + len(closing)))
        return opening * depth + inner + closing * depth

    return made


def _documents(size: int) -> str:
    return "".join(f"cat <<E{n} >f{n}\ntext\nE{n}\n" for n in range(max(1, size // 36)))


def _assignments(size: int) -> str:
    return "".join(f"v{n}=x$v{n - 1}; " for n in range(1, max(2, size // 18))) + "ls"


SHAPES: Mapping[str, Callable[[int], str]] = {
    "one long word": _repeated("a", "echo "),
    "many words": _repeated(" word"),
    "many commands": _repeated("ls -l src; ", after="ls"),
    "many pipes": _repeated("grep a | ", after="cat"),
    "many lines": _repeated("git status --short\n"),
    "one quoted text": _repeated("a b; ", "echo '", "'"),
    "many quotes": _repeated("'a'\"b\"", "echo "),
    "quoted words": _repeated(" 'a b'", "echo"),
    "ANSI-C text": _repeated("\\x61", "echo $'", "'"),
    "backslashes": _repeated("\\a", "echo "),
    "open quotes": _repeated(" \"'", "echo"),
    "nested substitutions": _nested("$(echo ", "ls", ")"),
    "nested parentheses": _nested("(", "ls", ")"),
    "nested braces": _nested("{ ", "ls;", " };"),
    "open substitutions": _repeated("$(", "rm -rf x; "),
    "open parentheses": _repeated("("),
    "many substitutions": _repeated(" $(ls)", "echo"),
    "backquotes": _repeated(" `ls`", "echo"),
    "process substitutions": _repeated(" <(ls)", "cat"),
    "documents": _documents,
    "one long document": _repeated("a line of text\n", "cat <<'E' >f\n", "E\n"),
    "document openings": _repeated(" <<E", "cat"),
    "assignments": _assignments,
    "assignments before a command": _repeated("A=b ", after="ls"),
    "growing variable": _repeated("a=$a$a; ", "a=x; ", "echo $a"),
    "variables": _repeated(" $HOME/x", "ls"),
    "defaults": _repeated("${x:-a}", "echo "),
    "brace expansion": _repeated("{a,b}", "echo "),
    "nested brace expansion": _nested("{a,", "b", "}"),
    "brace range": _repeated(" {1..99}", "echo"),
    "redirections": _repeated(" >f", "ls"),
    "globs": _repeated(" */?[a-z]*", "ls"),
    "stars": _repeated("*", "ls "),
    "continuations": _repeated("a \\\n", "echo ", "b"),
    "comments": _repeated("# a comment\n", after="ls"),
    "hashes": _repeated("#", "ls "),
    "loops": _repeated("for i in a b; do ls $i; done; ", after="ls"),
    "nested loops": _nested("for i in a b; do ", "ls", "; done"),
    "conditions": _repeated("if true; then ls; else pwd; fi; ", after="ls"),
    "functions": _repeated("f() { ls; }; ", after="f"),
    "calls of a function": _repeated("f; ", "f() { ls; }; "),
    "and-or": _repeated("true && false || ", after="ls"),
    "wrappers": _repeated("sudo ", after="ls"),
    "bash -c": _repeated("; bash -c 'ls -l'", "ls"),
    "evals": _repeated("; eval 'ls -l'", "ls"),
    "nested eval": _repeated("eval ", after="ls"),
    "python code": _repeated("print(1); ", 'python3 -c "', '"'),
    "nested python": _repeated("(", 'python3 -c "', '"'),
    "arithmetic": _repeated("+1", "echo $((1", "))"),
    "tests": _repeated(" && [ -f x ]", "true"),
    "tildes": _repeated(" ~/a", "ls"),
    "slashes": _repeated("/", "ls "),
    "dots": _repeated("../", "ls "),
    "deletes": _repeated(" build/a", "rm -rf"),
    "find tests": _repeated(" -name a -o", "find .", " -print"),
    "options": _repeated(" -a", "ls"),
    "one option": _repeated("a", "ls -"),
    "sed code": _repeated("s/a/b/;", "sed '", "' f"),
    "awk code": _repeated("{print}", "awk '", "' f"),
    "not ASCII": _repeated("é", "echo "),
    "look-alikes": _repeated(" ｌｓ", "ls"),
    "control characters": _repeated("\x01", "ls "),
    "NULs": _repeated("\0", "ls "),
    "spaces": _repeated(" ", "ls", "x"),
    "newlines": _repeated("\n", "ls", "ls"),
    "semicolons": _repeated(";", "ls"),
    "ampersands": _repeated("&", "ls"),
    "exclamation marks": _repeated("! ", after="ls"),
    "aliases": _repeated("alias a='ls -l'; ", after="a"),
    "traps": _repeated("trap 'ls -l' EXIT; ", after="ls"),
    "directories": _repeated("cd src; ", after="ls"),
    "files then run": _repeated("echo ls > a.sh; bash a.sh; ", after="ls"),
    "case": _repeated("a) ls;; ", "case x in ", "esac"),
    "arrays": _repeated(" a", "x=(", '); ls "${x[@]}"'),
    "base64": _repeated("QUFB", "echo ", " | base64 -d | sh"),
    "printf": _repeated("%s", "printf '", "' a b"),
    "xargs": _repeated("xargs ", after="ls"),
    "SQL": _repeated("select 1; ", 'psql -c "', '"'),
    "git words": _repeated(" a", "git add"),
    "ssh": _repeated("ls; ", "ssh host '", "'"),
}
