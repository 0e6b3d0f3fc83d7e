"""Code in other languages: the deletes, writes and commands that stand in it in so many words.

This is a search for literal calls, not an interpreter: code that the agent wrote can always say the same
in a way that is not found. What is found becomes the shell command of the same effect; code that is
itself decoded before it runs is named as opaque.
"""

from __future__ import annotations

import functools
import re
import shlex

from msgspec import Struct

from reflexd.shell import pycode
from reflexd.shell.fields import known
from reflexd.shell.known import RISKY, SHELLS
from reflexd.shell.options import names
from reflexd.shell.pycode import is_path

_LANGUAGES = {
    "python": "python",
    "pypy": "python",
    "ipython": "python",
    "node": "js",
    "nodejs": "js",
    "bun": "js",
    "deno": "js",
    "tsx": "js",
    "ts-node": "js",
    "perl": "perl",
    "ruby": "ruby",
    "php": "php",
    "lua": "lua",
    "luajit": "lua",
    "Rscript": "r",
    "julia": "julia",
    "osascript": "applescript",
    "awk": "awk",
    "gawk": "awk",
    "mawk": "awk",
    "nawk": "awk",
    "tclsh": "tcl",
    "expect": "tcl",
    "groovy": "groovy",
    "elixir": "elixir",
    "guile": "scheme",
    "emacs": "elisp",
    "sbcl": "lisp",
    "octave": "octave",
    "gnuplot": "gnuplot",
    "swipl": "prolog",
    "ghc": "haskell",
    "erl": "erlang",
}
_INLINE = {
    "python": ("-c",),
    "js": ("-e", "--eval", "-p", "--print", "eval", "-pe"),
    "perl": ("-e", "-E"),
    "ruby": ("-e",),
    "php": ("-r",),
    "lua": ("-e",),
    "r": ("-e",),
    "julia": ("-e",),
    "applescript": ("-e",),
    "awk": (),
    "tcl": ("-c",),
    "groovy": ("-e",),
    "elixir": ("-e",),
    "scheme": ("-c",),
    "elisp": ("--eval", "-eval", "--execute", "-execute"),
    "lisp": ("--eval",),
    "octave": ("--eval",),
    "gnuplot": ("-e",),
    "prolog": ("-g", "-t"),
    "haskell": ("-e",),
    "erlang": ("-eval",),
}
LANGUAGES = frozenset(_INLINE)
_VALUED = {
    "python": names("-W -X --check-hash-based-pycs"),
    "js": names("-r --require --import --loader --experimental-loader -C --conditions --title --stack-trace-limit"),
    "perl": names("-I"),
    "ruby": names("-I -r -C -E"),
    "php": names("-d -c -z -S -t"),
    "lua": names("-l"),
    "applescript": names("-l -s"),
    "tcl": names("-f -encoding"),
    "elisp": names("-l --load -f --funcall -L --directory -u --user -T"),
    "julia": names("-t --threads -p --procs -L --load -J -C -O"),
}
"""Options with a value that is neither code nor the file."""
_TICKS = frozenset({"ruby", "perl", "php"})
"""Languages in which a text between backquotes is a command."""
_STRING = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\]|\\.)*)`", re.S)
_RUNS = re.compile(
    r"\b(?:system|exec\w*|spawn\w*|p?open3?|Open3|popen\w*|subprocess|child_process|Popen|check_\w+|getoutput|shell\w*"
    r"|passthru|Command|Process|run|call|do shell script|doShellScript|os:cmd|getline|os\.execute|io\.popen|qx|cmd|sh"
    r"|unix)\b"
    r"|`|%x|\|\s*[\"']"
)
_HANDS = re.compile(
    r"(?:\b(?:system|exec\w*|spawn\w*|p?open[23]\w*|popen\w*|shell_exec|passthru|do shell script|os\.execute|io\.popen"
    r"|doShellScript|os:cmd|shell-command(?:-to-string)?|start-process-shell-command|run-program|shell"
    r"|Process\.\w+|Command\.new|Open3\.\w+|run|qx)\s*\(?|[\w)\"]\s*\|&?|[\"'](?:-\||\|-)[\"']\s*,)\s*\(?\s*\Z"
)
_TREE = re.compile(
    r"(?:rmtree|delete-directory|dir_delete|rmSync|rmdirSync|rm_rf|rm_r|remove_tree|remove_dir_all|removeSync|emptyDirSync|rimraf(?:\.sync)?"
    r"|\bfs(?:\.promises|p)?\.(?:rm|rmdir|remove)\b|unlink\s*\(?\s*glob|unlink_tree|file delete -force)"
    r"\s*\(?\s*(?P<args>.{0,200})",
    re.S,
)
_FILE = re.compile(
    r"(?:unlinkSync|\bunlink|delete-file|File\.delete|FileUtils\.rm|os\.remove)\s*\(?\s*(?P<args>.{0,200})", re.S
)
_WRITTEN = re.compile(
    r"(?:writeFileSync|writeFile|appendFileSync|appendFile|createWriteStream|truncateSync|File\.write|IO\.write"
    r"|file_put_contents|copyFileSync|renameSync|Bun\.write)\s*\(?\s*(?P<args>.{0,200})"
    r"|\bopen\s*\(?\s*(?:my\s*)?(?:\$?\w+\s*,\s*)?[\"']>{1,2}[\"']?\s*,?\s*(?P<perl>.{0,200})",
    re.S,
)
_READ = re.compile(
    r"(?:readFileSync|readFile|File\.read|IO\.read|file_get_contents|Bun\.file)\s*\(?\s*(?P<args>.{0,200})", re.S
)
_REDIRECTED = re.compile(r"print[^\n;}]*>>?\s*\"((?:[^\"\\\n]|\\.)*)\"")
_HOME = re.compile(
    r"(?:require\(['\"](?:node:)?os['\"]\)\.|os\.|OS\.)?homedir\(\)|ENV\[['\"]HOME['\"]\]|\$ENV\{['\"]?HOME['\"]?\}"
    r"|process\.env\.HOME|getenv\(['\"]HOME['\"]\)|Dir\.home"
)
_OPENS = re.compile(r"\bopen\s*\(?\s*(?:my\s+)?[$\w]+\s*,\s*\Z")
_PIPED = re.compile(r"\s*\|&?\s*(?:getline\b|[\"'](?:/\w+)*/?(?:ba|da|z|k)?sh\b)|\s*\.\s*[\"']\s*\|")
"""What stands behind a literal that goes into a shell, or is one: awk's pipes, perl's open."""
_RUNNER = re.compile(
    r"(?<![\w$@%.>-])(?:(?:Kernel|Process|IO|PTY)\.)?(?:system|exec|popen|passthru|shell_exec|proc_open|spawn|open[23]"
    r"|Open3\.\w+|os\.execute|io\.popen|os:cmd|shell-command|run-program)\b\s*\(?\s*(\S?)"
)
_JS_RUNNER = re.compile(r"\b(?:exec|spawn|execFile)(?:Sync)?\s*(?:\(\s*(\S?)|(:)\s*\w)")
_EVALUATES = re.compile(r"\b(?:eval|Function|instance_eval|load|loadstring|runIn\w+Context)\b")
_NEXT = re.compile(r"[\s,\[({]*(?:\w+\s*:[\s\[(]*)?")
_Q = re.compile(r"(?<![-\w$@%&])q([qxw]?)\s*([({\[/|!])")
_PERCENT = re.compile(r"%([qQxwWiI])([({\[])")
_CLOSING = {"(": ")", "{": "}", "[": "]", "/": "/", "|": "|", "!": "!"}
_DECODED = re.compile(
    r"\b(?:eval|Function|instance_eval|loadstring|load)\s*\(?[^;\n]*(?:atob|base64|Buffer\.from|unpack|decode|gzinflate|fromCharCode)"
)
_RECURSIVE_R = re.compile(r"\bunlink\s*\((?P<args>[^)]{0,200}recursive\s*=\s*T[^)]{0,50})")
_TCL = re.compile(
    r"\b(?:exec|spawn|system)\s+(?:--\s+)?((?:\{[^{}]*\}|[^\n;\]{}])+)|\bsend\s+(?:--\s+)?\"((?:[^\"\\]|\\.)*)\""
)
_BARE = re.compile(r"[\w./+-]+")
_BRACED = re.compile(r"\{([^{}]*)\}")
CODE_MAX = 64 * 1024
PATHS_MAX = 50


class Foreign(Struct, frozen=True):
    """Commands of the same effect, and shell code that the code hands to a shell."""

    commands: tuple[tuple[str, ...], ...] = ()
    code: tuple[str, ...] = ()
    opaque: tuple[str, ...] = ()


@functools.lru_cache(maxsize=1024)
def language(name: str) -> str:
    """The language of the interpreter `name` ("python3.11" is python), or ""."""
    return _LANGUAGES.get(name) or _LANGUAGES.get(re.sub(r"[\d.]+\Z", "", name), "")


def inline(args: tuple[str, ...], lang: str) -> str | None:
    """The code given on the command line, None where there is none."""
    if lang == "awk":
        if any(word in ("-f", "--file") for word in args):
            return None
        skip = False
        for word in args:
            if skip or (word.startswith("-") and len(word) > 1):
                skip = not skip and word in ("-F", "-v")
                continue
            return word
        return None
    found = []
    valued = _VALUED.get(lang, frozenset())
    for i, word in enumerate(args):
        if i and args[i - 1] in valued:
            continue
        for option in _INLINE[lang]:
            short = len(option) == 2
            if word == option or (short and re.fullmatch(r"-\w+", word) and word.endswith(option[1])):
                found.append(args[i + 1] if i + 1 < len(args) else "")
                break
            if (short and word.startswith(option) and len(word) > 2) or word.startswith(option + "="):
                found.append(word[len(option) :].removeprefix("="))
                break
        if not found and not word.startswith("-"):
            return None
    return "\n".join(found) if found else None


def file_at(args: tuple[str, ...], lang: str) -> int:
    """The index of the file that the interpreter runs, len(args) where none is named."""
    valued = _VALUED.get(lang, frozenset())
    at = (
        i
        for i, word in enumerate(args)
        if (not word.startswith("-") or word == "-") and not (i and args[i - 1] in valued)
    )
    return next(at, len(args))


def reads_stdin(args: tuple[str, ...], lang: str) -> bool:
    """Whether an interpreter with these arguments runs its standard input."""
    at = file_at(args, lang)
    return ("-m" not in args and at == len(args)) or args[at : at + 1] in (("-",), ("/dev/stdin",))


def read(code: str, lang: str, whole: bool = False) -> Foreign:
    """Linear in the code's length; of very long code only the beginning is searched.

    `whole`: a program of its own, which may well name what it never touches: only what it is sure to do counts.
    """
    long = len(code) > CODE_MAX
    found = pycode.read(code if whole else code[:CODE_MAX], whole) if lang == "python" else None
    if found is not None:
        python = Foreign(found.commands, found.code, found.opaque)
        return _sure(python) if whole else python
    code = code[:CODE_MAX]
    if lang in ("perl", "ruby"):
        code = _requoted(_Q, _requoted(_PERCENT, code) if lang == "ruby" else code)
    commands: list[tuple[str, ...]] = []
    for pattern, words in ((_TREE, ("rm", "-rf")), (_FILE, ("rm",)), (_WRITTEN, ("tee",)), (_READ, ("cat",))):
        for match in pattern.finditer(code):
            args = next((group for group in match.groups() if group is not None), "")
            target = _argument(args)
            if target:
                commands.append((*words, target))
    if lang == "r":
        commands.extend(("rm", "-rf", _argument(match["args"])) for match in _RECURSIVE_R.finditer(code))
    if lang == "awk":
        commands.extend(("tee", _unescaped(text)) for text in _REDIRECTED.findall(code))
    shell: list[str] = []
    if lang == "tcl":
        shell.extend(
            _unescaped(_BRACED.sub(lambda found: shlex.quote(found[1]), run) or typed.replace("\\r", "\n"))
            for run, typed in _TCL.findall(code)
        )
    if _RUNS.search(code):
        more, handed = _handed_over(code, whole, lang)
        commands.extend(more)
        shell.extend(handed)
    commands.extend(("literal", text) for text in _paths(code))
    opaque = ("it runs code that it decodes first",) if _DECODED.search(code) else ()
    if whole and long and not opaque:
        opaque = ("it is too long to be read whole",)
    if not whole and not opaque and _makes(code, lang):
        opaque = ("it hands a shell text that it makes first",)
    read = Foreign(tuple(commands), tuple(shell), opaque)
    return _sure(read) if whole else read


def _makes(code: str, lang: str) -> bool:
    """Whether something else than a literal is handed to a shell, or is evaluated as code that may do so."""
    literals = [next(filter(None, match.groups()), "") for match in _STRING.finditer(code)]
    blank = _STRING.sub('""', code)
    if _EVALUATES.search(blank) and any(_RUNNER.search(text) or _JS_RUNNER.search(text) for text in literals):
        return True
    if lang == "tcl":
        return False
    if lang == "js":
        starts = [start for match in _JS_RUNNER.finditer(blank) for start in match.groups() if start]
        return any("child_process" in text for text in literals) and any(start != '"' for start in starts)
    return any(match[1] not in ('"', "") for match in _RUNNER.finditer(blank))


def _sure(read: Foreign) -> Foreign:
    """Without what depends on a value that nobody knows, and without paths that are only named or read near by."""
    commands = (
        words
        for words in read.commands
        if all(map(known, words)) and words[0] != "literal" and (words[0] != "cat" or words[1][:1] in ("/", "~"))
    )
    return Foreign(tuple(commands), tuple(filter(known, read.code)), read.opaque)


def _requoted(opening: re.Pattern[str], code: str) -> str:
    """q(), qq(), qx() and qw() in the quotes that are looked for."""
    parts: list[str] = []
    absent: set[str] = set()  # closing marks that no longer come: to search for them each time would take for ever
    end = 0
    for match in opening.finditer(code):
        closing = _CLOSING[match[2]]
        if match.start() < end or closing in absent:
            continue
        at = code.find(closing, match.end())
        if at < 0:
            absent.add(closing)
            continue
        parts.extend((code[end : match.start()], _quoted(match[1], code[match.end() : at])))
        end = at + 1
    return "".join((*parts, code[end:]))


def _quoted(kind: str, text: str) -> str:
    if kind == "x":
        return "`" + text.replace("`", "\\`") + "`"
    words = text.split() if kind in ("w", "W", "i", "I") else [text]
    return ", ".join('"' + word.replace('"', '\\"') + '"' for word in words)


def _paths(code: str) -> list[str]:
    """Literals that are paths, whatever is done with them."""
    texts = (next(group for group in match.groups() if group is not None) for match in _STRING.finditer(code))
    return [text for text in texts if is_path(text)][:PATHS_MAX]


def _argument(text: str) -> str:
    """The literal path at the start of an argument list; joined pieces are joined."""
    at_home = _HOME.match(re.sub(r"^(?:\w+\.)*(?:join|resolve|expanduser)\(\s*", "", text).lstrip())
    joins = re.match(r"\s*[(\[]*\s*(?:\w+\.)*(?:join|resolve)\(", text) is not None
    literals: list[str] = []
    end = 0
    for match in _STRING.finditer(text):
        between = text[: match.start()] if not literals else text[end : match.start()]
        if not literals and not at_home and re.search(r"[^\s(\[.\w]|\)\s*;", between):
            return ""
        if literals and not re.fullmatch(r"[\s,.+/]*" if joins else r"[\s.+]*", between):
            break
        literals.append(_unescaped(next(group for group in match.groups() if group is not None)))
        end = match.end()
    path = "/".join(p.strip("/") if i else p for i, p in enumerate(literals)) if joins else "".join(literals)
    if at_home:
        return "~/" + path.lstrip("/") if path else "~"
    return path


def _handed_over(code: str, whole: bool, lang: str) -> tuple[list[tuple[str, ...]], list[str]]:
    """Literals that are shell code, and rows of literals that are a program and its words."""
    commands: list[tuple[str, ...]] = []
    shell: list[str] = []
    row: list[str] = []
    end = 0
    for match in _STRING.finditer(code):
        if lang == "tcl" and match[1] is not None:
            continue  # no quotes in that language
        text = _unescaped(next(group for group in match.groups() if group is not None))
        joined = bool(row) and _NEXT.fullmatch(code, end, match.start()) is not None
        end = match.end()
        if joined:
            if len(row) == 1 and shell[-1:] == row and _BARE.fullmatch(row[0]):
                shell.pop()  # a program whose words follow is no command line by itself
            row.append(text)
            continue
        if len(row) > 1:
            commands.append(tuple(row))
        before = code[max(0, match.start() - 40) : match.start()]
        handed = _HANDS.search(before) is not None or (
            text.rstrip()[2:][-1:] == "|" and _OPENS.search(before) is not None
        )
        row = [text] if handed or (not whole and text.rpartition("/")[2] in RISKY | SHELLS) else []
        quoted = match.group(3) is not None
        handed = handed or _PIPED.match(code, end) is not None
        # A template of JavaScript is a text like any other.
        ticks = quoted and (lang in _TICKS or (not whole and lang != "js"))
        if handed or ticks or (not whole and _is_command(text)):
            shell.append(text.strip().strip("|"))
    if len(row) > 1:
        commands.append(tuple(row))
    return commands, shell


def _is_command(text: str) -> bool:
    """Whether a literal reads like a command line: somewhere in it a risky program starts one."""
    return any(
        part.split()[0].rpartition("/")[2] in RISKY | SHELLS
        for part in re.split(r"[;&|\n]+|\$\(", text)
        if len(part.split()) > 1
    )


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text, flags=re.S)
