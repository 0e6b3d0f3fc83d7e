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


def _numbered(piece: str, later: str = "", before: str = "", after: str = "ls") -> Callable[[int], str]:
    """Pieces that differ by their number `{n}`, and then as many of `later`."""

    def made(size: int) -> str:
        digits = len(str(size // 4))
        each = len(piece.format(n="0" * digits)) + len(later.format(n="0" * digits))
        numbers = [f"{n:0{digits}}" for n in range(max(1, (size - len(before) - len(after)) // each))]
        words = "".join(piece.format(n=n) for n in numbers)
        return before + words + "".join(later.format(n=n) for n in numbers) + after

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
    # every kind of statement, repeated and within itself
    "nested conditions": _nested("if true; then ", "ls", "; fi"),
    "many elif": _repeated("elif true; then ls; ", "if false; then ls; ", "fi"),
    "nested case": _nested("case x in x) ", "ls", ";; esac"),
    "case patterns": _repeated("a|", "case x in ", "b) ls;; esac"),
    "while loops": _repeated("while read a; do echo $a; done; ", after="ls"),
    "until loops": _repeated("until ls; do pwd; done; ", after="ls"),
    "counted loops": _repeated("for ((i=0; i<3; i++)); do ls; done; ", after="ls"),
    "loop values": _repeated(" a", "for i in", "; do rm -f $i; done"),
    "loop over lines": _repeated("a\\n", "printf '", "' | while read i; do rm -f $i; done"),
    "select": _repeated("select i in a b; do ls; done; ", after="ls"),
    "subshells": _repeated("(ls); ", after="ls"),
    "groups": _repeated("{ ls; }; ", after="ls"),
    "groups piped": _repeated("{ ls; } | ", after="cat"),
    "nested functions": _nested("f() { ", "ls;", " }; f;"),
    "functions each called": _numbered("f{n}() {{ ls; }}; f{n}; "),
    "negations": _repeated("! ls; ", after="ls"),
    "background jobs": _repeated("sleep 1 & ", after="wait"),
    "coprocesses": _repeated("coproc ls; ", after="ls"),
    "double brackets": _repeated("[[ $a == b* && -n $b ]]; ", after="ls"),
    "one long test": _repeated(" && -n $b", "[[ -n $a", " ]]"),
    "declarations": _repeated("declare -x a=b; ", after="ls"),
    "unsets": _repeated("unset a; ", after="ls"),
    "exit": _repeated("exit; ", after="ls"),
    # broken in the ways that parsers recover from at length
    "closing parentheses": _repeated("))"),
    "pipes alone": _repeated("|"),
    "subshells never closed": _repeated("(&"),
    "sums behind a word": _repeated("((1+2))", "echo "),
    "patterns behind a word": _repeated("/.s/hs)~", "~dev/(ls "),
    "a broken beginning": _repeated(" scripts/", "$$$((cat x >|${"),
    "a brace in a subshell": _repeated("-", "<({r,,,}m x) "),
    # words and expansions
    "nested defaults": _nested("${x:-", "a", "}"),
    "replacements": _repeated("${HOME//e/x}", "echo "),
    "lengths": _repeated("${#HOME}", "echo "),
    "indirections": _repeated(" ${!a}", "ls"),
    "subscripts": _repeated(" ${a[1]}", "ls"),
    "quoted variables": _repeated('"$HOME"', "echo "),
    "substitutions in one text": _repeated("$(ls)", 'echo "', '"'),
    "nested quotes": _nested('"$(echo ', "a", ')"'),
    "nested backquotes": _repeated("`ls `", "echo "),
    "nested arithmetic": _nested("$((", "1", "))"),
    "array elements": _numbered("a[{n}]=x; "),
    "appended text": _repeated("a+=x; ", after="echo $a"),
    "appended elements": _repeated("a+=(x); ", after='ls "${a[@]}"'),
    "variables each used": _numbered("v{n}=a; ls $v{n}; "),
    "exported variables": _numbered("export V{n}=a; ls; "),
    "aliases each used": _numbered("alias a{n}=ls; a{n}; "),
    "positional words": _repeated(" a", "set --", '; ls "$@"'),
    "shifts": _repeated("shift; ", "set -- a b c; ", "ls $1"),
    "translated text": _repeated(' $"a b"', "echo"),
    "emoji": _repeated(" \U0001f600", "echo"),
    "emoji in braces": _repeated("{\U0001f600,b}", "echo "),
    "combining marks": _repeated("e\u0301", "echo "),
    "look-alike programs": _repeated("ｌｓ; ", after="ls"),
    "long assignment": _repeated("x", "a='", "'; ls $a"),
    "extended globs": _repeated(" @(a|b)", "ls"),
    "history marks": _repeated(" !!", "ls"),
    "users' homes": _repeated(" ~dev/a", "ls"),
    "carriage returns": _repeated("ls\r\n"),
    # where text comes from and goes
    "here-strings": _repeated("cat <<< 'a b'; ", after="ls"),
    "documents on one line": _numbered("cat <<E{n}; ", "\nE{n}"),
    "unquoted document": _repeated("$HOME $(ls) `pwd`\n", "cat <<E >f\n", "E\n"),
    "document of code": _repeated("ls -l src\n", "bash <<'E'\n", "E\n"),
    "nested documents": _nested("cat <<E\n$(", "ls", ")\nE\n"),
    "document that never ends": _repeated("a line of text\n", "cat <<E\n"),
    "descriptors": _repeated(" 3>f 2>&1", "ls"),
    "files written": _numbered("echo a > f{n}; "),
    "files appended": _repeated("echo a >> f; ", after="ls"),
    "files read": _repeated("cat < f; ", after="ls"),
    "files copied": _numbered("cp a{n} b{n}; "),
    "links": _numbered("ln -s a{n} b{n}; cat b{n}; "),
    "files downloaded": _numbered("curl -o f{n} https://a.example/; "),
    "variables of a program": _numbered("A{n}=b ls; "),
    "output processes": _repeated(" >(cat)", "tee"),
    # programs, each read in its own way
    "directories each its own": _numbered("cd d{n}; cd ..; "),
    "directories on a stack": _repeated("pushd src; popd; ", after="ls"),
    "one deep path": _repeated("a/", "ls "),
    "deletes of files": _numbered("rm f{n}.txt; "),
    "unknown programs": _numbered("tool{n} a; "),
    "one unknown program": _repeated(" docker", "tool"),
    "clients in a tail": _repeated(" psql", "tool"),
    "options in a tail": _repeated(" -x", "tool", " --"),
    "local programs": _numbered("./run{n}.sh; "),
    "makefile targets": _repeated(" a", "make"),
    "package scripts": _repeated("npm run a; ", after="ls"),
    "packages": _numbered(" p{n}", before="npm install", after=""),
    "find -exec": _repeated(" -exec ls {} ';'", "find ."),
    "environments": _repeated("env A=b ", after="ls"),
    "options of git": _repeated(" -c a=b", "git", " status"),
    "containers": _repeated(" -v a:b", "docker run", " image ls"),
    "curl words": _repeated(" -H a:b", "curl", " https://a.example/"),
    "one long address": _repeated("a/", "curl https://a.example/"),
    "kubectl words": _repeated(" a", "kubectl get"),
    "kill words": _repeated(" 123", "kill"),
    "chmod words": _numbered(" f{n}", before="chmod +x", after=""),
    "rsync words": _numbered(" f{n}", before="rsync -a", after=" there/"),
    "tar words": _numbered(" f{n}", before="tar czf x.tgz", after=""),
    "javascript code": _repeated("console.log(1); ", "node -e '", "'"),
    "perl code": _repeated("print 1; ", "perl -e '", "'"),
    "ruby code": _repeated("puts %q(a); ", "ruby -e '", "'"),
    "python imports": _repeated("import os; ", 'python3 -c "', '"'),
    "python calls": _repeated("os.remove('a'); ", 'python3 -c "import os; ', '"'),
    "one SQL expression": _repeated(" or a = 1", 'psql -c "select 1 where a = 1', '"'),
    "redis words": _repeated(" a", "redis-cli get"),
    "mongo code": _repeated("db.a.find(); ", "mongosh --eval '", "'"),
    "jq code": _repeated(" | .a", "jq '.", "' f"),
    "hex decoded": _repeated("6c73", "echo ", " | xxd -r -p | sh"),
    "filters": _repeated(" | tr a b | sed s/a/b/", "echo a"),
    "patch": _repeated("*** Update File: a\n+b\n", "apply_patch <<'E'\n*** Begin Patch\n", "*** End Patch\nE\n"),
}
