"""What a program prints, where that follows from its words and its input alone.

Text that is decoded or assembled this way and then run is read like any other code. None: not known.
"""

from __future__ import annotations

import base64
import binascii
import posixpath
import re

from reflexd.shell import filters
from reflexd.shell.calls import Call
from reflexd.shell.carriers import find_names
from reflexd.shell.fields import GLOB_MARKS, UNKNOWN, clean, decode_ansi_c, known
from reflexd.shell.filters import PRINTED_MAX, Printer
from reflexd.shell.programs import prints_settings

_FORM = re.compile(r"([^%\\]*)%s((?:\\[nt0]|[^%\\])*)")


def printed(call: Call) -> str | None:
    name = call.name
    if name == "pwd":
        return call.cwd + "\n"
    if name in ("realpath", "readlink", "grealpath"):
        path = call.argv[-1]
        whole = path if path.startswith("/") else f"{call.cwd}/{path}"
        return posixpath.normpath(whole) + "\n" if known(whole) and len(call.argv) > 1 else None
    if name == "mktemp":
        return f"/tmp/tmp.{UNKNOWN}\n"  # noqa: S108
    if name in ("find", "gfind") and not {"-exec", "-execdir", "-delete", "-printf", "-ls"} & set(call.argv):
        end = "\ufffd" if "-print0" in call.argv else "\n"  # a zero byte, see _octal
        return "".join(f"{name}{end}" for name in find_names(call.argv[1:]))
    if name == "ls":
        listed = [word for word in call.argv[1:] if any(mark in word for mark in GLOB_MARKS)]
        return "".join(f"{word}\n" for word in listed) or None
    if prints_settings(name, call.argv[1:]):
        return ""
    printer = PRINTERS.get(name)
    if printer is None or not all(known(word) for word in call.argv):
        return _echoed(call)
    if call.stdin is not None and not known(call.stdin):
        return None
    try:
        text = printer(call.argv[1:], call.stdin)
    except (ValueError, IndexError, binascii.Error):
        return None
    return None if text is None or len(text) > PRINTED_MAX else clean(text)[0]


def _echoed(call: Call) -> str | None:
    """echo and printf '%s' keep what is not known in them visible to whoever reads on."""
    if call.name == "echo":
        return " ".join(call.argv[1:]) + "\n"
    if call.name == "printf" and len(call.argv) > 2 and (form := _FORM.fullmatch(call.argv[1])):
        return "".join(form[1] + word + _octal(form[2]) for word in call.argv[2:])
    return None


def _echo(args: tuple[str, ...], stdin: str | None) -> str:
    newline, escapes = "\n", False
    while args and re.fullmatch(r"-[neE]+", args[0]):
        newline = "" if "n" in args[0] else newline
        escapes = escapes or "e" in args[0]
        args = args[1:]
    text = " ".join(args)
    # dash's echo decodes escapes without -e, bash's does not; only -e is sure.
    return (_octal(text) if escapes else text) + newline


def _printf(args: tuple[str, ...], stdin: str | None) -> str | None:
    if args and args[0] == "--":
        args = args[1:]
    form, rest = args[0], list(args[1:])
    out: list[str] = []
    while True:
        before = len(rest)
        for piece in re.finditer(r"%([-+ #0]*\d*(?:\.\d+)?)([a-zA-Z%])|((?:[^%\\]|\\.)+)|(.)", form, re.S):
            flags, kind, plain, odd = piece.groups()
            if flags and len(flags) > 4:
                return None
            if odd is not None:
                return None
            if plain is not None:
                out.append(_octal(plain))
            elif kind == "%":
                out.append("%")
            else:
                word = rest.pop(0) if rest else ""
                if kind == "b":
                    out.append(_octal(word))
                elif kind == "q":
                    return None
                elif kind in "sc":
                    out.append(("%" + flags + "s") % (word[:1] if kind == "c" else word))
                elif kind in "diuxXo":
                    out.append(("%" + flags + kind) % int(word or "0", 0))
                else:
                    return None
        if not rest or len(rest) == before:
            return "".join(out)


def _octal(text: str) -> str:
    """Escapes as echo -e and printf write them; a zero byte, which ends no text here, becomes U+FFFD."""
    return decode_ansi_c(re.sub(r"\\0(?![0-7])", "\ufffd", text).replace("\\0", "\\"))


def _base64(args: tuple[str, ...], stdin: str | None) -> str | None:
    text = "".join((stdin or "").split())
    if stdin is None or _operand(args):
        return None
    if _flag(args, "d", "D", "decode"):
        return _text(base64.b64decode(text + "=" * (-len(text) % 4)))
    return base64.b64encode((stdin or "").encode()).decode() + "\n"


def _base32(args: tuple[str, ...], stdin: str | None) -> str | None:
    if stdin is None or not _flag(args, "d", "decode"):
        return None
    return _text(base64.b32decode("".join(stdin.split())))


def _xxd(args: tuple[str, ...], stdin: str | None) -> str | None:
    if stdin is None or not _flag(args, "r", "revert") or not _flag(args, "p", "ps", "plain"):
        return None
    return _text(bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", stdin)))


def _openssl(args: tuple[str, ...], stdin: str | None) -> str | None:
    if args[:1] in (("base64",), ("enc",)) and "-d" in args and ("base64" in args or "-base64" in args):
        return _base64(("-d",), stdin)
    return None


def _cat(args: tuple[str, ...], stdin: str | None) -> str | None:
    return stdin if set(args) <= {"-", "-u", "/dev/stdin"} else None


def _tee(args: tuple[str, ...], stdin: str | None) -> str | None:
    return stdin


def _nothing(args: tuple[str, ...], stdin: str | None) -> str:
    return ""


def _basename(args: tuple[str, ...], stdin: str | None) -> str | None:
    if not args or args[0].startswith("-"):
        return None
    name = args[0].rstrip("/").rpartition("/")[2]
    return name.removesuffix(args[1] if len(args) > 1 else "") + "\n"


def _dirname(args: tuple[str, ...], stdin: str | None) -> str | None:
    if len(args) != 1 or args[0].startswith("-"):
        return None
    return (args[0].rstrip("/").rpartition("/")[0] or ("/" if args[0].startswith("/") else ".")) + "\n"


def _which(args: tuple[str, ...], stdin: str | None) -> str | None:
    words = [word for word in args if not word.startswith("-")]
    return "/usr/bin/" + words[0] + "\n" if len(words) == 1 else None


def _command(args: tuple[str, ...], stdin: str | None) -> str | None:
    return _which(args[1:], stdin) if args[:1] in (("-v",), ("-V",)) else None


def _type(args: tuple[str, ...], stdin: str | None) -> str | None:
    return _which(args[1:], stdin) if args[:1] in (("-P",), ("-p",)) else None


def _flag(args: tuple[str, ...], *names: str) -> bool:
    for word in args:
        if word.startswith("--"):
            if word[2:] in names:
                return True
        elif word.startswith("-") and (word[1:] in names or any(len(n) == 1 and n in word[1:] for n in names)):
            return True
    return False


def _operand(args: tuple[str, ...]) -> bool:
    return any(not word.startswith("-") for word in args)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


PRINTERS: dict[str, Printer] = {
    **filters.PRINTERS,
    "echo": _echo,
    "printf": _printf,
    "base64": _base64,
    "base32": _base32,
    "xxd": _xxd,
    "openssl": _openssl,
    "cat": _cat,
    "tee": _tee,
    "basename": _basename,
    "dirname": _dirname,
    "which": _which,
    "command": _command,
    "type": _type,
    "true": _nothing,
    ":": _nothing,
    "cd": _nothing,
    "export": _nothing,
    "set": _nothing,
}
