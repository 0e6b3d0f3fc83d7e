"""Shell code, or a program's words, handed over by another language."""

from __future__ import annotations

from tests.gate.mutators_text import Mutator, b64, document, double, quote, strict_double


def _python(template: str) -> Mutator:
    """CODE stands for the code as a literal, LIST for the words of a shell that runs it."""
    return lambda c: "python3 -c " + quote(template.replace("LIST", repr(["sh", "-c", c])).replace("CODE", repr(c)))


def _with(program: str, template: str, literal: Mutator = double) -> Mutator:
    return lambda c: f"{program} {quote(template.replace('CODE', literal(c)))}"


def _halves(code: str) -> str:
    return f"{code[: len(code) // 2]!r} + {code[len(code) // 2 :]!r}"


PYTHON: dict[str, Mutator] = {
    "python-system": _python("import os; os.system(CODE)"),
    "python-from-import": _python("from os import system as s; s(CODE)"),
    "python-import-call": _python("__import__('os').system(CODE)"),
    "python-importlib": _python("import importlib; importlib.import_module('os').system(CODE)"),
    "python-getattr": _python("import os; getattr(os, 'sys' + 'tem')(CODE)"),
    "python-popen": _python("import os; os.popen(CODE).read()"),
    "python-subprocess": _python("import subprocess as s; s.run(CODE, shell=True)"),
    "python-list": _python("from subprocess import *; call(LIST)"),
    "python-check-output": _python("import subprocess\nsubprocess.check_output(CODE, shell=True)"),
    "python-popen-class": _python("import subprocess\nwith subprocess.Popen(LIST) as p:\n    p.wait()"),
    "python-exec": _python("import os; os.execvp('sh', LIST)"),
    "python-execl": _python("import os; os.execl('/bin/sh', 'sh', '-c', CODE)"),
    "python-spawn": _python("import os; os.spawnvp(os.P_WAIT, 'sh', LIST)"),
    "python-posix-spawn": _python("import os; os.waitpid(os.posix_spawn('/bin/sh', LIST, os.environ), 0)"),
    "python-pty": _python("import pty; pty.spawn(LIST)"),
    "python-ctypes": lambda c: "python3 -c " + quote(f"import ctypes; ctypes.CDLL(None).system({c.encode()!r})"),
    "python-variable": _python("import os\nc = CODE\nos.system(c)"),
    "python-joined": lambda c: "python3 -c " + quote(f"import os; os.system({_halves(c)})"),
    "python-format": lambda c: "python3 -c " + quote(f"import os; a = {c!r}; os.system(f'{{a}}')"),
    "python-join": lambda c: "python3 -c " + quote(f"import os; os.system(' '.join({c.split(' ')!r}))"),
    "python-reversed": lambda c: "python3 -c " + quote(f"import os; os.system({c[::-1]!r}[::-1])"),
    "python-characters": lambda c: "python3 -c " + quote(f"import os; os.system(bytes({list(c.encode())!r}).decode())"),
    "python-hex": lambda c: (
        "python3 -c " + quote(f"import os; os.system(bytes.fromhex('{c.encode().hex()}').decode())")
    ),
    "python-base64": lambda c: (
        "python3 -c " + quote(f"import os, base64 as b; os.system(b.b64decode('{b64(c)}').decode())")
    ),
    "python-run-text": lambda c: "python3 -c " + quote(f"exec({f'import os; os.system({c!r})'!r})"),
    "python-eval-text": lambda c: "python3 -c " + quote(f"eval({f'__import__(chr(111) + chr(115)).system({c!r})'!r})"),
    "python-run-base64": lambda c: (
        "python3 -c " + quote(f"import base64; exec(base64.b64decode('{b64(f'import os; os.system({c!r})')}'))")
    ),
    "python-compiled": lambda c: (
        "python3 -c " + quote(f"exec(compile({f'import os; os.system({c!r})'!r}, 'x', 'exec'))")
    ),
    "python-function": _python("import os\ndef f(c):\n    os.system(c)\nf(CODE)"),
    "python-lambda": _python("import os; (lambda c: os.system(c))(CODE)"),
    "python-loop": _python("import os\nfor c in [CODE]:\n    os.system(c)"),
    "python-map": _python("import os; list(map(os.system, [CODE]))"),
    "python-class": _python("import os\nclass A:\n    x = os.system(CODE)"),
    "python-exit": _python("import atexit, os; atexit.register(os.system, CODE)"),
    "python-thread": _python("import os, threading; threading.Thread(target=os.system, args=(CODE,)).start()"),
    "python-asyncio": _python(
        "import asyncio as a\nasync def f():\n    await (await a.create_subprocess_shell(CODE)).wait()\na.run(f())"
    ),
    "python-argument": lambda c: f"python3 -c 'import os, sys; os.system(sys.argv[1])' {quote(c)}",
    "python-environment": lambda c: f"C={quote(c)} python3 -c 'import os; os.system(os.environ[\"C\"])'",
    "python-input": lambda c: f"echo {quote(c)} | python3 -c 'import os, sys; os.system(sys.stdin.read())'",
    "python-stdin": lambda c: document("python3 -", f"import os\nos.system({c!r})"),
    "python-stdin-bare": lambda c: document("python3", f"import os\nos.system({c!r})"),
    "python-piped": lambda c: f"echo {quote(f'import os; os.system({c!r})')} | python3",
    "python-process": lambda c: f"python3 <(echo {quote(f'import os; os.system({c!r})')})",
    "python-written": lambda c: f"echo {quote(f'import os; os.system({c!r})')} > go.py; python3 go.py",
    "python-written-started": lambda c: (
        document("cat > go.py", f"#!/usr/bin/env python3\nimport os\nos.system({c!r})") + "\nchmod +x go.py; ./go.py"
    ),
    "python-module": lambda c: f"echo {quote(f'import os; os.system({c!r})')} > go.py; python3 -m go",
    "python-timeit": lambda c: f"python3 -m timeit -n 1 -r 1 {quote(f'import os; os.system({c!r})')}",
    "python-flags": lambda c: f"python3 -I -B -u -c {quote(f'import os; os.system({c!r})')}",
    "python-joined-flag": lambda c: f"python3 {quote(f'-cimport os; os.system({c!r})')}",
    "python-printed": lambda c: f"python3 -c {quote(f'print({c!r})')} | sh",
    "python-env": lambda c: f"/usr/bin/env python3 -c {quote(f'import os; os.system({c!r})')}",
}

PERL: dict[str, Mutator] = {
    "perl": _with("perl -e", "system(CODE)"),
    "perl-exec": _with("perl -e", "exec CODE"),
    "perl-list": _with("perl -e", 'system("sh", "-c", CODE)'),
    "perl-backquotes": _with("perl -e", "my $c = CODE; print `$c`"),
    "perl-qx": lambda c: f"perl -e {quote('print qx{' + c + '}')}" if not set(c) & set("{}$@\\") else c,
    "perl-open": _with("perl -e", 'open(my $f, "-|", CODE); print <$f>'),
    "perl-pipe-open": _with("perl -e", 'open(F, CODE . " |"); print <F>'),
    "perl-variable": _with("perl -e", "$c = CODE; system($c)"),
    "perl-joined": _with("perl -e", 'my $c = CODE; system("sh -c \\Q$c\\E")'),
    "perl-argument": lambda c: f"perl -e 'system($ARGV[0])' {quote(c)}",
    "perl-environment": lambda c: f"C={quote(c)} perl -e 'system($ENV{{C}})'",
    "perl-lines": lambda c: f"echo {quote(c)} | perl -ne 'system($_)'" if "\n" not in c else c,
    "perl-stdin": lambda c: document("perl", f"system({double(c)});"),
    "perl-pack": lambda c: "perl -e " + quote(f"system(pack('H*', '{c.encode().hex()}'))"),
    "perl-eval": lambda c: (
        f"perl -e {quote('eval ' + chr(39) + 'system(' + double(c) + ')' + chr(39))}" if "'" not in c else c
    ),
    "perl-begin": _with("perl -e", "BEGIN { system(CODE) }"),
    "perl-module": lambda c: (
        f"perl -MIPC::Open3 -e {quote('waitpid(open3(my $i, my $o, undef, ' + double(c) + '), 0)')}"
    ),
}

OTHERS: dict[str, Mutator] = {
    "node": _with("node -e", "require('child_process').execSync(CODE)"),
    "node-prefix": _with("node --eval", "require('node:child_process').execSync(CODE, {stdio: 'inherit'})"),
    "node-spawn": _with("node -e", "require('child_process').spawnSync('sh', ['-c', CODE])"),
    "node-shell": _with("node -e", "require('child_process').spawnSync(CODE, {shell: true})"),
    "node-destructured": _with("node -e", "const {execSync: x} = require('child_process'); x(CODE)"),
    "node-file": _with("node -p", "require('child_process').execFileSync('/bin/sh', ['-c', CODE]).toString()"),
    "node-variable": _with("node -e", "const c = CODE; require('child_process').execSync(c)", strict_double),
    "node-import": _with("node --input-type=module -e", "import {execSync} from 'child_process'; execSync(CODE)"),
    "node-dynamic": _with("node -e", "import('child_process').then(m => m.execSync(CODE))"),
    "node-argument": lambda c: f"node -e 'require(\"child_process\").execSync(process.argv[1])' {quote(c)}",
    "node-base64": lambda c: (
        "node -e " + quote(f"require('child_process').execSync(Buffer.from('{b64(c)}', 'base64').toString())")
    ),
    "node-eval": lambda c: (
        "node -e "
        + quote(f"eval({strict_double(f'require({chr(39)}child_process{chr(39)}).execSync({strict_double(c)})')})")
    ),
    "node-stdin": lambda c: document("node", f"require('child_process').execSync({strict_double(c)})"),
    "node-stdin-dash": lambda c: document("node -", f"require('child_process').execSync({strict_double(c)})"),
    "node-written": lambda c: (
        f"echo {quote(f'require({chr(39)}child_process{chr(39)}).execSync({strict_double(c)})')} > go.js; node go.js"
    ),
    "bun": _with("bun -e", "require('child_process').execSync(CODE)"),
    "deno": _with("deno eval", "new Deno.Command('sh', {args: ['-c', CODE]}).outputSync()"),
    "ruby": _with("ruby -e", "system(CODE)"),
    "ruby-exec": _with("ruby -e", "exec CODE"),
    "ruby-spawn": _with("ruby -e", "Process.wait spawn(CODE)"),
    "ruby-backquotes": lambda c: f"ruby -e {quote('puts `' + c + '`')}" if not set(c) & set("`\\#") else c,
    "ruby-percent": lambda c: f"ruby -e {quote('puts %x(' + c + ')')}" if not set(c) & set("()\\#") else c,
    "ruby-open3": _with("ruby -ropen3 -e", "Open3.capture2(CODE)"),
    "ruby-popen": _with("ruby -e", "IO.popen(CODE).read"),
    "ruby-send": _with("ruby -e", "Kernel.send(:system, CODE)"),
    "ruby-stdin": lambda c: document("ruby", f"system({double(c)})"),
    "php": _with("php -r", "system(CODE);"),
    "php-exec": _with("php -r", "passthru(CODE);"),
    "php-backquotes": lambda c: f"php -r {quote('echo `' + c + '`;')}" if not set(c) & set("`\\$") else c,
    "lua": _with("lua -e", "os.execute(CODE)", strict_double),
    "lua-popen": _with("lua -e", "io.popen(CODE):read('a')", strict_double),
    "tcl": lambda c: document("tclsh", "exec sh -c {" + c + "}") if not set(c) & set("{}\\") else c,
    "expect": lambda c: f"expect -c {quote('spawn sh -c {' + c + '}; expect eof')}" if not set(c) & set("{}\\") else c,
    "awk": _with("awk", "BEGIN { system(CODE) }", strict_double),
    "awk-pipe": _with("awk", 'BEGIN { print CODE | "sh" }', strict_double),
    "awk-getline": _with("awk", "BEGIN { CODE | getline x }", strict_double),
    "awk-variable": lambda c: f"awk -v c={quote(c.replace(chr(92), chr(92) * 2))} 'BEGIN {{ system(c) }}'",
    "awk-argument": lambda c: f"awk 'BEGIN {{ system(ARGV[1]) }}' {quote(c)}",
    "awk-input": lambda c: f"echo {quote(c)} | awk '{{ system($0) }}'" if "\n" not in c else c,
    "awk-environment": lambda c: f"C={quote(c)} awk 'BEGIN {{ system(ENVIRON[\"C\"]) }}'",
    "awk-printed": lambda c: f"awk {quote('BEGIN { print ' + strict_double(c) + ' }')} | sh",
    "awk-file": lambda c: f"echo {quote('BEGIN { system(' + strict_double(c) + ') }')} > p; awk -f p",
    "gawk": _with("gawk", "BEGIN { system(CODE) }", strict_double),
    "r": _with("Rscript -e", "system(CODE)", strict_double),
    "julia": lambda c: f"julia -e {quote('run(`sh -c ' + strict_double(c) + '`)')}" if not set(c) & set("`$") else c,
    "guile": _with("guile -c", "(system CODE)", strict_double),
    "elixir": _with("elixir -e", 'System.cmd("sh", ["-c", CODE])', strict_double),
    "erlang": _with("erl -noshell -eval", "os:cmd(CODE), halt().", strict_double),
    "groovy": _with("groovy -e", '["sh", "-c", CODE].execute().waitFor()'),
    "osascript": _with("osascript -e", "do shell script CODE", strict_double),
    "octave": _with("octave --eval", "system(CODE)", strict_double),
    "gnuplot": _with("gnuplot -e", "system CODE", strict_double),
    "sbcl": _with("sbcl --eval", '(run-program "/bin/sh" (list "-c" CODE))', strict_double),
    "swipl": _with("swipl -g", "shell(CODE), halt", strict_double),
    "haskell": _with("ghc -e", "System.Process.system CODE", strict_double),
}
