"""Code in other languages: the deletes, writes and commands that stand in it in so many words.

This is a search for literal calls, not an interpreter: code that the agent wrote can always say the same
in a way that is not found. What is found becomes the shell command of the same effect.
"""

from __future__ import annotations

import re

from msgspec import Struct

LANGUAGES = {
    "python": "python",
    "pypy": "python",
    "node": "js",
    "nodejs": "js",
    "bun": "js",
    "deno": "js",
    "tsx": "js",
    "perl": "perl",
    "ruby": "ruby",
    "php": "php",
}
_INLINE = {
    "python": ("-c",),
    "js": ("-e", "--eval", "-p", "--print", "eval"),
    "perl": ("-e", "-E"),
    "ruby": ("-e",),
    "php": ("-r",),
}
_STRING = r"""(?:[rbfu]{0,2}(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`))"""
_HOME = r"""(?:os\.path\.expanduser|Path|pathlib\.Path|path\.(?:join|resolve)|os\.path\.join)\(\s*"""
_ASSIGN = re.compile(r"(?:^|[;\n]|\bconst |\blet |\bvar |\bmy )\s*\$?(\w+)\s*=\s*" + _STRING + r"\s*(?=[;\n]|$)")
_TREE = re.compile(
    r"(?:rmtree|rmSync|rmdirSync|rm_rf|rm_r|remove_tree|remove_dir_all|removeSync|rimraf(?:\.sync)?|\brm)\s*\(?\s*(?:"
    + _HOME
    + r")?(?:"
    + _STRING
    + r"|(\w+))"
)
_FILE = re.compile(
    r"(?:os\.(?:remove|unlink)|unlinkSync|\bunlink|File\.delete|FileUtils\.rm)\s*\(?\s*(?:"
    + _HOME
    + r")?(?:"
    + _STRING
    + r"|(\w+))"
)
_UNLINKED = re.compile(r"Path\(\s*" + _STRING + r"\s*\)(?:\.\w+\(\))*\.(?:unlink|rmdir)\(")
_WRITTEN = re.compile(
    r"(?:\bopen\(\s*(?:" + _STRING + r"|(\w+))\s*,\s*(?:mode\s*=\s*)?['\"][rb]*[wax+]"
    r"|(?:writeFileSync|writeFile|appendFileSync|createWriteStream|File\.write)\(\s*(?:" + _STRING + r"|(\w+))"
    r"|Path\(\s*(?:" + _STRING + r"|(\w+))\s*\)\.write_\w+\()"
)
_READ = re.compile(
    r"(?:\bopen\(\s*(?:" + _HOME + r")?(?:" + _STRING + r"|(\w+))\s*\)"
    r"|(?:readFileSync|readFile|File\.read)\(\s*(?:" + _STRING + r"|(\w+))"
    r"|Path\(\s*(?:" + _STRING + r"|(\w+))\s*\)(?:\.\w+\(\))*\.read_\w+\()"
)
_SHELL = re.compile(
    r"(?:os\.system|os\.popen|subprocess\.\w+|exec(?:Sync)?|execFileSync|spawn(?:Sync)?|child_process\.\w+"
    r"|\bsystem|\bpopen|shell_exec|passthru|Popen|check_output|check_call)\s*\(?\s*" + _STRING
)
_LIST = re.compile(
    r"(?:subprocess\.\w+|Popen|check_output|check_call|\brun|\bcall|spawn(?:Sync)?|execFile(?:Sync)?|\bsystem|exec\w*)"
    r"\(\s*(?:" + _STRING + r"\s*,\s*)?\[((?:\s*" + _STRING.replace("(", "(?:").replace("(?:?:", "(?:") + r"\s*,?)+)\]"
)
_BACKTICKS = re.compile(r"`([^`]+)`|%x[({\[]([^)}\]]+)")
CODE_MAX = 64 * 1024


class Foreign(Struct, frozen=True):
    """Commands of the same effect, and shell code that the code hands to a shell."""

    commands: tuple[tuple[str, ...], ...]
    code: tuple[str, ...]


def language(name: str) -> str:
    """The language of the interpreter `name` ("python3.11" is python), or ""."""
    return LANGUAGES.get(name) or LANGUAGES.get(re.sub(r"[\d.]+\Z", "", name), "")


def inline(args: tuple[str, ...], lang: str) -> str | None:
    """The code given on the command line, None where there is none."""
    for i, word in enumerate(args):
        for option in _INLINE[lang]:
            if word == option or (
                len(option) == 2 and word.startswith("-") and not word.startswith("--") and word.endswith(option[1])
            ):
                return args[i + 1] if i + 1 < len(args) else ""
            if len(option) == 2 and word.startswith(option) and len(word) > 2:
                return word[2:]
        if not word.startswith("-"):
            return None
    return None


def reads_stdin(args: tuple[str, ...]) -> bool:
    """Whether an interpreter with these arguments runs its standard input."""
    operands = [word for word in args if not word.startswith("-") or word == "-"]
    return not operands or operands[0] in ("-", "/dev/stdin")


def read(code: str) -> Foreign:
    """Linear in the code's length; of very long code only the beginning is searched."""
    code = code[:CODE_MAX]
    names = {found[1]: _literal(found.groups()[1:]) for found in _ASSIGN.finditer(code)}

    def targets(pattern: re.Pattern[str]) -> list[str]:
        texts = []
        for found in pattern.finditer(code):
            groups = found.groups()
            text = _literal(groups) or next((names[g] for g in groups if g and g in names), "")
            texts.append(text)
        return [text for text in texts if text]

    commands: list[tuple[str, ...]] = []
    commands.extend(("rm", "-rf", _path(text)) for text in targets(_TREE))
    commands.extend(("rm", _path(text)) for text in [*targets(_FILE), *targets(_UNLINKED)])
    commands.extend(("tee", _path(text)) for text in targets(_WRITTEN))
    commands.extend(("cat", _path(text)) for text in targets(_READ))
    for found in _LIST.finditer(code):
        words = [_literal(s) for s in re.findall(_STRING, found[0][found[0].index("[") :])]
        first = _literal(found.groups()[:3])
        commands.append(tuple(word for word in (first, *words) if word))
    shell = [_literal(found.groups()) for found in _SHELL.finditer(code)]
    if "`" in code or "%x" in code:
        shell.extend(a or b for a, b in _BACKTICKS.findall(code))
    return Foreign(tuple(commands), tuple(text for text in shell if text.strip()))


def _literal(groups: tuple[str | None, ...]) -> str:
    text = next((g for g in groups[:3] if g), "")
    return re.sub(r"\\(.)", r"\1", text)


def _path(text: str) -> str:
    """expanduser's ~ is the shell's; it is written out where the home is known."""
    return text
