"""Code that is put together or decoded on its way into a shell."""

from __future__ import annotations

import base64
import gzip

from tests.gate.mutators_text import Mutator, b64, document, hexa, octal, one_line, quote, rot13

DECODED: dict[str, Mutator] = {
    "printf-octal": lambda c: f"printf '{octal(c)}' | sh",
    "printf-hex": lambda c: f"printf '{hexa(c)}' | bash",
    "printf-b": lambda c: f"printf %b '{octal(c).replace(chr(92), chr(92) + '0')}' | sh",
    "printf-eval": lambda c: f"eval \"$(printf '{octal(c)}')\"",
    "printf-words": lambda c: f"eval \"$(printf '%s ' {' '.join(quote(word) for word in c.split(' '))})\"",
    "echo-e-hex": lambda c: f"echo -e '{hexa(c)}' | bash",
    "ansi-eval": lambda c: f"eval $'{hexa(c)}'",
    "ansi-shell": lambda c: f"bash -c $'{octal(c)}'",
    "ansi-string": lambda c: f"bash <<< $'{hexa(c)}'",
    "base64": lambda c: f"echo {b64(c)} | base64 -d | sh",
    "base64-eval": lambda c: f'eval "$(echo {b64(c)} | base64 --decode)"',
    "base64-string": lambda c: f"base64 -d <<< {b64(c)} | bash",
    "base64-variable": lambda c: f'x={b64(c)}; echo "$x" | base64 -d | bash',
    "base64-wrapped": lambda c: f"echo '{b64(c)[:4]}\n{b64(c)[4:]}' | base64 -di | bash",
    "base64-document": lambda c: document("base64 -d", b64(c), " | sh"),
    "base64-process": lambda c: f"bash <(base64 -d <<< {b64(c)})",
    "base64-source": lambda c: f"source <(echo {b64(c)} | base64 -d)",
    "base64-c": lambda c: f'bash -c "$(echo {b64(c)} | base64 -d)"',
    "base64-twice": lambda c: f"echo {b64(b64(c))} | base64 -d | base64 -d | sh",
    "base64-file": lambda c: f"echo {b64(c)} > e; base64 -d e > go; sh go",
    "base64-file-argument": lambda c: f"echo {b64(c)} > e; base64 -d e | sh",
    "base64-input": lambda c: f"base64 -d < <(echo {b64(c)}) | sh",
    "base64-openssl": lambda c: f"echo {b64(c)} | openssl base64 -d -A | sh",
    "base64-openssl-enc": lambda c: f"echo {b64(c)} | openssl enc -d -base64 -A | sh",
    "base64-python": lambda c: f"python3 -c \"import base64; print(base64.b64decode('{b64(c)}').decode())\" | sh",
    "base64-perl": lambda c: f"echo {b64(c)} | perl -MMIME::Base64 -ne 'print decode_base64($_)' | sh",
    "base64-basenc": lambda c: f"echo {b64(c)} | basenc --base64 -d | sh",
    "base64-jq": lambda c: f"echo '\"{b64(c)}\"' | jq -r @base64d | sh",
    "base32": lambda c: f"echo {base64.b32encode(c.encode()).decode()} | base32 -d | sh",
    "hex": lambda c: f"echo {c.encode().hex()} | xxd -r -p | sh",
    "hex-string": lambda c: f'bash <<< "$(xxd -r -p <<< {c.encode().hex()})"',
    "hex-python": lambda c: f"python3 -c \"print(bytes.fromhex('{c.encode().hex()}').decode())\" | sh",
    "hex-perl": lambda c: f"perl -e \"print pack('H*', '{c.encode().hex()}')\" | sh",
    "hex-sed": lambda c: f"printf \"$(echo {c.encode().hex()} | sed 's/../\\\\x&/g')\" | sh",
    "gzip": lambda c: f"echo {_packed(c)} | base64 -d | gunzip | sh",
    "gzip-options": lambda c: f"echo {_packed(c)} | base64 -d | gzip -dc | bash",
    "gzip-zcat": lambda c: f"base64 -d <<< {_packed(c)} | zcat | bash",
    "gzip-file": lambda c: f"echo {_packed(c)} | base64 -d > g.gz; zcat g.gz | sh",
    "reversed": one_line(lambda c: f"echo {quote(c[::-1])} | rev | sh"),
    "reversed-lines": lambda c: (
        f"printf '%s\\n' {' '.join(quote(line) for line in reversed(c.split(chr(10))))} | tac | sh"
    ),
    "rot13": lambda c: f"echo {quote(rot13(c))} | tr 'A-Za-z' 'N-ZA-Mn-za-m' | sh",
    "upper-lowered": lambda c: f"echo {quote(c.upper())} | tr A-Z a-z | sh" if c == c.lower() else c,
    "tr-deleted": lambda c: f"echo {quote(_spaced(c))} | tr -d '\\001~' | sh" if "~" not in c else c,
    "tr-translated": lambda c: (
        f"echo {quote(c.replace(' ', '^').replace('r', '!'))} | tr '^!' ' r' | sh" if not set(c) & set("^!") else c
    ),
    "sed-replaced": one_line(lambda c: f"echo {quote('@@' + c)} | sed 's/@@//' | sh"),
    "sed-letters": one_line(lambda c: f"echo {quote(c.replace('r', '%'))} | sed 's/%/r/g' | sh" if "%" not in c else c),
    "sed-transliterated": one_line(
        lambda c: f"echo {quote(c.replace('r', '%'))} | sed y/%/r/ | sh" if "%" not in c else c
    ),
    "cut-field": one_line(lambda c: f"echo {quote('x:' + c)} | cut -d: -f2- | sh"),
    "cut-characters": one_line(lambda c: f"echo {quote('xxx' + c)} | cut -c4- | sh"),
    "tail-bytes": lambda c: f"echo {quote('xxx' + c)} | tail -c +4 | sh",
    "tail-lines": lambda c: f"printf '%s\\n' 'not this' {quote(c)} | tail -n +2 | sh",
    "head-lines": one_line(lambda c: f"printf '%s\\n' {quote(c)} 'not this' | head -n 1 | sh"),
    "awk-field": one_line(lambda c: f"echo {quote('x|' + c)} | awk -F'|' '{{ print $2 }}' | sh" if "|" not in c else c),
    "grep-line": one_line(lambda c: f"printf '%s\\n' '# x' {quote(c)} | grep -v '#' | sh" if "#" not in c else c),
    "grep-only": one_line(lambda c: f"echo {quote('x ' + c)} | grep -oP '(?<=^x ).*' | sh"),
    "sorted": one_line(lambda c: f"printf '%s\\n' {quote('2 ' + c)} '1 :' | sort | cut -c3- | sh"),
    "pasted": one_line(
        lambda c: f"printf '%s\\n' {quote(c[: len(c) // 2])} {quote(c[len(c) // 2 :])} | paste -sd '' | sh"
    ),
    "folded": one_line(lambda c: f"printf %s {quote(c)} | fold -w1 | tr -d '\\n' | sh" if "\t" not in c else c),
    "yes": one_line(lambda c: f"yes {quote(c)} | head -n 1 | sh"),
    "tee-through": lambda c: f"echo {quote(c)} | tee x y | sh",
    "dd-through": lambda c: f"echo {quote(c)} | dd status=none | sh",
    "dd-swapped": lambda c: f"printf %s {quote(_swapped(c))} | dd conv=swab status=none | sh",
    "json": lambda c: f"jq -rn {quote(_json(c))} | sh",
    "two-files": lambda c: f"printf %s {quote(c[:3])} > a; printf '%s\\n' {quote(c[3:])} > b; cat a b | sh",
    "perl-printed": lambda c: (
        f"perl -e {quote('print reverse split //, q{' + c[::-1] + '}')} | sh" if not set(c) & set("{}\\") else c
    ),
    "iconv": lambda c: (
        f"echo {base64.b64encode((c + chr(10)).encode('utf-16-le')).decode()} | base64 -d | iconv -f UTF-16LE | sh"
    ),
    "history-expanded": lambda c: f'x={quote(c)}; sh -c "${{x//@@/}}"',
    "joined-with-ifs": lambda c: f"a=({' '.join(quote(word) for word in c.split(' '))}); IFS=' '; eval \"${{a[*]}}\"",
    "pieces-eval": lambda c: f'eval "$(printf %s {" ".join(quote(c[i : i + 3]) for i in range(0, len(c), 3))})"',
}


def _packed(code: str) -> str:
    return base64.b64encode(gzip.compress(code.encode() + b"\n", mtime=0)).decode()


def _spaced(code: str) -> str:
    return "".join(c + "~" for c in code)


def _swapped(code: str) -> str:
    code = code + "\n" if len(code) % 2 else code + " \n"
    return "".join(code[i + 1] + code[i] for i in range(0, len(code), 2))


def _json(code: str) -> str:
    return (
        '{"c": "' + code.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"} | .c'
    )
