"""Shell code handed over by a program that is no shell: wrappers, editors, schedulers, build tools, containers, git."""

from __future__ import annotations

from tests.gate.mutators_text import Mutator, document, no_marks, one_line, quote, strict_double


def _shell(prefix: str, suffix: str = "") -> Mutator:
    """`prefix sh -c 'code'`."""
    return lambda c: f"{prefix} sh -c {quote(c)}{suffix}"


def _git_ready(command: str) -> Mutator:
    """In a repository of its own, for subcommands that do nothing outside one."""
    return lambda c: f"git init -q && git commit -q --allow-empty -m x; {command.replace('CODE', quote(c))}"


PREFIXES: dict[str, Mutator] = {
    "sudo": lambda c: f"sudo -u root -- bash -c {quote(c)}",
    "sudo-login": lambda c: f"sudo -i bash -c {quote(c)}",
    "sudo-fed": lambda c: f"sudo -s <<< {quote(c)}",
    "env": lambda c: f"env A=1 sh -c {quote(c)}",
    "env-clean": lambda c: f'env -i HOME="$HOME" PATH=/usr/bin:/bin sh -c {quote(c)}',
    "env-split": lambda c: f"env -S {quote('sh -c ' + quote(c))}",
    "env-split-joined": lambda c: f"env {quote('-Ssh -c ' + quote(c))}",
    "env-split-long": lambda c: f"env --split-string={quote('sh -c ' + quote(c))}",
    "nohup": lambda c: f"nohup sh -c {quote(c)} >/dev/null 2>&1 & wait",
    "timeout": lambda c: f"timeout -k 1 5 sh -c {quote(c)}",
    "timeout-foreground": _shell("timeout --foreground --preserve-status 5s"),
    "nice": lambda c: f"nice -n 10 sh -c {quote(c)}",
    "nice-short": _shell("nice -10"),
    "ionice": _shell("ionice -c2 -n7"),
    "setsid": lambda c: f"setsid -w bash -c {quote(c)}",
    "stdbuf": lambda c: f"stdbuf -oL bash -c {quote(c)}",
    "time-program": _shell("/usr/bin/time -v"),
    "setarch": _shell("setarch x86_64 -R"),
    "linux64": _shell("linux64"),
    "choom": _shell("choom -n 500 --"),
    "chrt": _shell("chrt -b 0"),
    "taskset": _shell("taskset -c 0"),
    "prlimit": _shell("prlimit --cpu=9"),
    "setpriv": _shell("setpriv --no-new-privs"),
    "capsh": lambda c: f"capsh -- -c {quote(c)}",
    "unshare": _shell("unshare -r"),
    "nsenter": _shell("nsenter -t 1 -m -p --"),
    "chroot": _shell("chroot / "),
    "chroot-user": _shell("chroot --userspec=root / "),
    "su": lambda c: f"su -c {quote(c)}",
    "su-user": lambda c: f"su - root -s /bin/sh -c {quote(c)}",
    "runuser": lambda c: f"runuser -u root -- sh -c {quote(c)}",
    "sg": lambda c: f"sg root -c {quote(c)}",
    "pkexec": _shell("pkexec"),
    "doas": _shell("doas -u root"),
    "busybox": lambda c: f"busybox sh -c {quote(c)}",
    "busybox-ash": lambda c: f"busybox ash -c {quote(c)}",
    "toybox": lambda c: f"toybox sh -c {quote(c)}",
    "strace": _shell("strace -f -e trace=none -o /dev/null"),
    "ltrace": _shell("ltrace -f -o /dev/null"),
    "valgrind": _shell("valgrind -q --trace-children=no"),
    "perf": _shell("perf stat -e cycles --"),
    "faketime": _shell("faketime '2020-01-01'"),
    "firejail": _shell("firejail --noprofile --quiet"),
    "bwrap": _shell("bwrap --dev-bind / / --"),
    "proot": _shell("proot -r /"),
    "fakeroot": _shell("fakeroot --"),
    "cgexec": _shell("cgexec -g cpu:x"),
    "ip-netns": _shell("ip netns exec x"),
    "torsocks": _shell("torsocks"),
    "unbuffer": _shell("unbuffer"),
    "rlwrap": _shell("rlwrap"),
    "catchsegv": _shell("catchsegv"),
    "start-stop-daemon": lambda c: f"start-stop-daemon --start --exec /bin/sh -- -c {quote(c)}",
    "daemonize": lambda c: f"daemonize /bin/sh -c {quote(c)}",
    "tini": _shell("tini -g --"),
    "xvfb-run": _shell("xvfb-run -a"),
    "dbus-run-session": _shell("dbus-run-session --"),
    "systemd-inhibit": _shell("systemd-inhibit --what=idle"),
    "ssh-agent": _shell("ssh-agent"),
    "script": lambda c: f"script -qc {quote(c)} /dev/null",
    "script-after": lambda c: f"script -q /dev/null -c {quote(c)}",
    "flock": lambda c: f"flock ./lock -c {quote(c)}",
    "flock-words": _shell("flock -n ./lock"),
    "watch": lambda c: f"watch -n 1 -g bash -c {quote(quote(c))}",
    "entr": lambda c: f"ls | entr -nz sh -c {quote(c)}",
    "hyperfine": lambda c: f"hyperfine --runs 1 {quote(c)}",
    "unknown-wrapper": lambda c: f"some-wrapper --quiet bash -c {quote(c)}",
    "unknown-wrapper-option": lambda c: f"some-wrapper --level 3 --cmd {quote(c)}",
}

FINDERS: dict[str, Mutator] = {
    "xargs": lambda c: f"echo x | xargs -I@ sh -c {quote(c)}" if "@" not in c else c,
    "xargs-shell": lambda c: f"printf '%s' {quote(c)} | xargs -0 bash -c",
    "xargs-parallel": lambda c: f"printf '%s\\0' {quote(c)} | xargs -0 -P 2 -n 1 sh -c",
    "xargs-file": lambda c: f"xargs -a /dev/stdin -0 bash -c <<< {quote(c)}",
    "find-exec": no_marks("{}", lambda c: f"find . -maxdepth 0 -exec sh -c {quote(c)} \\;"),
    "find-execdir": no_marks("{}", lambda c: f"find . -maxdepth 0 -execdir sh -c {quote(c)} ';'"),
    "find-exec-plus": no_marks("{}", lambda c: f"find . -maxdepth 0 -exec bash -c {quote(c)} x {{}} +"),
    "find-ok": no_marks("{}", lambda c: f"yes | find . -maxdepth 0 -ok sh -c {quote(c)} \\;"),
    "fd": no_marks("{}", lambda c: f"fd . --max-results 1 -x sh -c {quote(c)}"),
    "parallel": no_marks("{}", lambda c: f"parallel ::: {quote(c)}"),
    "parallel-fed": one_line(lambda c: f"echo {quote(c)} | parallel"),
    "parallel-shell": no_marks("{}", lambda c: f"parallel -j1 sh -c {quote(quote(c))} ::: x"),
    "split-filter": lambda c: f"echo x | split --filter={quote(c)}",
    "sort-compress": lambda c: f"sort --compress-program={quote(c)} -S 1k /etc/services",
    "rg-pre": lambda c: f"rg --pre {quote(c)} x .",
    "git-grep": lambda c: f"git grep --open-files-in-pager={quote(c)} x",
}

BUILDERS: dict[str, Mutator] = {
    "tar-checkpoint": lambda c: f"tar --checkpoint=1 --checkpoint-action=exec={quote(c)} -cf /dev/null .",
    "tar-command": lambda c: f"touch a; tar cf a.tar a; tar --to-command={quote(c)} -xf a.tar",
    "tar-program": lambda c: f"touch a; tar -I {quote('sh -c ' + quote(c))} -cf a.tar a",
    "tar-program-long": lambda c: f"touch a; tar --use-compress-program={quote('sh -c ' + quote(c))} -cf a.tar a",
    "zip-test": lambda c: f"touch a; zip a.zip a -T -TT {quote('sh -c ' + quote(c))}",
    "rsync-shell": lambda c: f"rsync -e {quote('sh -c ' + quote(c))} x: .",
    "make-fed": one_line(lambda c: f"make -f - <<'STOP'\nx:\n\t{c.replace('$', '$$')}\nSTOP"),
    "make-silent": one_line(lambda c: f"make -f - <<'STOP'\nx:\n\t@-{c.replace('$', '$$')}\nSTOP"),
    "make-inline": one_line(lambda c: f"make -f - <<'STOP'\nx: ; {c.replace('$', '$$')}\nSTOP"),
    "ninja": one_line(
        lambda c: f"cat > build.ninja <<'STOP'\nrule r\n  command = {c.replace('$', '$$')}\nbuild x: r\nSTOP\nninja"
    ),
    "just-fed": one_line(lambda c: f"printf 'x:\\n  %s\\n' {quote(c)} > justfile; just x"),
    "gcc-wrapper": lambda c: f"gcc -wrapper {quote('sh,-c,' + c)} x.c" if "," not in c else c,
    "m4": one_line(lambda c: f"m4 <<'STOP'\nsyscmd(`{c}')\nSTOP" if "'" not in c and "`" not in c else c),
    "cmake": lambda c: f"echo {quote('execute_process(COMMAND sh -c [==[' + c + ']==])')} > x.cmake; cmake -P x.cmake",
    "npm-exec": lambda c: f"npm exec -c {quote(c)}",
    "npx-call": lambda c: f"npx -c {quote(c)}",
    "poetry-run": _shell("poetry run"),
    "uv-run": _shell("uv run --no-project"),
    "bundle-exec": _shell("bundle exec"),
    "concurrently": lambda c: f"concurrently {quote(c)} 'sleep 1'",
    "nodemon": lambda c: f"nodemon --exec {quote(c)}",
    "apt-option": lambda c: f"apt-get -o APT::Update::Pre-Invoke::={quote(c)} update",
}

EDITORS: dict[str, Mutator] = {
    "vim": one_line(lambda c: f"vim -es -c {quote('!' + _vim(c))} -c q"),
    "vim-colon": one_line(lambda c: f"vim -es -c {quote(':silent !' + _vim(c))} -c q"),
    "vim-plus": one_line(lambda c: f"vim -es {quote('+!' + _vim(c))} +q"),
    "vim-system": one_line(lambda c: f"vim -es -c {quote('call system(' + strict_double(c) + ')')} -c q"),
    "ed": one_line(lambda c: f"ed <<< {quote('!' + _vim(c))}"),
    "ed-piped": one_line(lambda c: f"echo {quote('!' + _vim(c))} | ed -s"),
    "sed-execute": one_line(lambda c: f"sed {quote('1e ' + c)} /etc/passwd"),
    "sed-execute-quiet": one_line(lambda c: f"echo x | sed -n {quote('e ' + c)}"),
    "sed-substitute": one_line(lambda c: f"echo x | sed {quote('s#x#' + c + '#e')}" if not set(c) & set("#&\\") else c),
    "sed-pattern-space": one_line(lambda c: f"echo {quote(c)} | sed e"),
    "sed-pattern-flag": one_line(lambda c: f"echo {quote(c)} | sed 's/^//e'"),
    "sed-file": one_line(lambda c: f"echo {quote('1e ' + c)} > s; sed -f s /etc/passwd"),
    "emacs": lambda c: f"emacs --batch --eval {quote('(shell-command ' + strict_double(c) + ')')}",
    "gdb": one_line(lambda c: f"gdb -batch -ex {quote('shell ' + c)}"),
    "gdb-bang": one_line(lambda c: f"gdb -batch -ex {quote('!' + c)}"),
    "sqlite": one_line(lambda c: f"sqlite3 :memory: {quote('.shell ' + c)}" if not set(c) & set("\"'\\") else c),
    "sqlite-fed": one_line(lambda c: f"sqlite3 <<< {quote('.system ' + c)}" if not set(c) & set("\"'\\") else c),
    "psql": one_line(lambda c: f"psql -c {quote(chr(92) + '! ' + c)}"),
    "psql-fed": one_line(lambda c: f"echo {quote(chr(92) + '! ' + c)} | psql app"),
    "mysql": one_line(lambda c: f"mysql -e {quote(chr(92) + '! ' + c)}"),
    "less": lambda c: f"LESSOPEN={quote('|' + c)} less /etc/hosts",
    "man": lambda c: f"man -P {quote(c)} ls",
    "pager-variable": lambda c: f"PAGER={quote('sh -c ' + quote(c))} man ls",
    "manpager-variable": lambda c: f"MANPAGER={quote('sh -c ' + quote(c))} man ls",
    "editor-variable": lambda c: f"EDITOR={quote('sh -c ' + quote(c))} crontab -e",
    "visual-variable": lambda c: f"export VISUAL={quote('sh -c ' + quote(c))}; sudoedit x",
    "dc": one_line(lambda c: f"dc -e {quote('!' + c)}"),
    "ftp": one_line(lambda c: f"ftp <<< {quote('!' + c)}"),
}

GIT: dict[str, Mutator] = {
    "git-alias": lambda c: f"git -c alias.go={quote('!' + c)} go",
    "git-alias-kept": lambda c: f"git init -q; git config alias.go {quote('!' + c)}; git go",
    "git-alias-environment": lambda c: (
        f"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.go GIT_CONFIG_VALUE_0={quote('!' + c)} git go"
    ),
    "git-pager": _git_ready("git -c core.pager=CODE --paginate log"),
    "git-pager-variable": lambda c: f"GIT_PAGER={quote(c)} git --paginate log",
    "git-editor": _git_ready("git -c core.editor=CODE commit --allow-empty"),
    "git-editor-variable": _git_ready("GIT_EDITOR=CODE git commit --allow-empty --amend"),
    "git-sequence-editor": _git_ready("GIT_SEQUENCE_EDITOR=CODE git rebase -i --root"),
    "git-ssh": lambda c: f"git -c core.sshCommand={quote(c)} ls-remote ssh://e.example/x",
    "git-ssh-variable": lambda c: f"GIT_SSH_COMMAND={quote(c)} git ls-remote ssh://e.example/x",
    "git-ext": lambda c: (
        f"git -c protocol.ext.allow=always ls-remote {quote('ext::sh -c ' + c.replace(' ', '% '))}"
        if not set(c) & set("%'\"\\\n")
        else c
    ),
    "git-upload-pack": lambda c: f"git ls-remote --upload-pack={quote(c)} .",
    "git-difftool": _git_ready("git difftool -y -x CODE HEAD"),
    "git-external-diff": lambda c: f"GIT_EXTERNAL_DIFF={quote(c)} git diff",
    "git-bisect": lambda c: f"git init -q; git bisect run sh -c {quote(c)}",
    "git-rebase": _git_ready("git rebase -q -x CODE --root"),
    "git-filter": _git_ready("git filter-branch -f --tree-filter CODE HEAD"),
    "git-submodule": lambda c: f"git submodule foreach {quote(c)}",
    "git-hook": lambda c: (
        document("git init -q; cat > .git/hooks/pre-commit", "#!/bin/sh\n" + c)
        + "\nchmod +x .git/hooks/pre-commit; git commit -q --allow-empty -m x"
    ),
    "git-credential": lambda c: (
        f"echo url=https://e.example | git -c credential.helper={quote('!' + c)} credential fill"
    ),
    "git-fsmonitor": lambda c: f"git -c core.fsmonitor={quote(c)} status",
}

LATER: dict[str, Mutator] = {
    "at": lambda c: f"echo {quote(c)} | at now",
    "at-string": lambda c: f"at now + 1 minute <<< {quote(c)}",
    "batch": lambda c: f"batch <<< {quote(c)}",
    "crontab": one_line(lambda c: f"echo {quote('* * * * * ' + c.replace('%', chr(92) + '%'))} | crontab -"),
    "crontab-document": one_line(lambda c: document("crontab -", "@reboot " + c)),
    "crontab-file": one_line(lambda c: f"echo {quote('* * * * * ' + c)} > t; crontab t"),
    "systemd-run": lambda c: f"systemd-run --user --wait --collect sh -c {quote(c)}",
    "systemd-run-timer": lambda c: f"systemd-run --on-active=5 /bin/sh -c {quote(c)}",
    "tmux": lambda c: f"tmux new-session -d {quote(c)}",
    "tmux-keys": one_line(lambda c: f"tmux send-keys -t 0 {quote(c)} Enter"),
    "screen": lambda c: f"screen -dm sh -c {quote(c)}",
    "screen-stuff": one_line(lambda c: f"screen -S x -X stuff {quote(c + chr(92) + 'n')}"),
    "terminal": lambda c: f"xterm -e sh -c {quote(c)}",
    "nohup-subshell": lambda c: f"( nohup bash -c {quote(c)} & ) >/dev/null 2>&1; sleep 0.3",
}

ELSEWHERE: dict[str, Mutator] = {
    "ssh": lambda c: f"ssh localhost {quote(c)}",
    "ssh-shell": lambda c: f"ssh -o BatchMode=yes dev@localhost sh -c {quote(quote(c))}",
    "ssh-fed": lambda c: f"ssh localhost bash -s <<< {quote(c)}",
    "ssh-proxy": lambda c: f"ssh -o ProxyCommand={quote(c)} x",
    "ssh-local": lambda c: f"ssh -o PermitLocalCommand=yes -o LocalCommand={quote(c)} x",
    "docker-mounted": lambda c: f"docker run --rm -v /:/h alpine chroot /h sh -c {quote(c)}",
    "docker-privileged": lambda c: f"docker run --rm --privileged --pid=host alpine nsenter -t 1 -m sh -c {quote(c)}",
    "docker-exec": lambda c: f"docker exec dev sh -c {quote(c)}",
    "podman-mounted": lambda c: f"podman run -v /:/h alpine chroot /h sh -c {quote(c)}",
    "compose-exec": lambda c: f"docker compose exec app sh -c {quote(c)}",
    "kubectl-exec": lambda c: f"kubectl exec pod -- sh -c {quote(c)}",
    "socat": lambda c: f"socat - EXEC:{quote('sh -c ' + quote(c))}" if not set(c) & set(",:!\\'\"") else c,
    "socat-system": lambda c: f"socat - SYSTEM:{quote(c)}" if not set(c) & set(",:!\\'\"") else c,
    "wsl": lambda c: f"wsl -- sh -c {quote(c)}",
    "pwsh": no_marks("\\$`'\"(<\n", lambda c: f"pwsh -Command {quote(c)}"),
    "cmd": lambda c: f"cmd.exe /c bash -c {quote(c)}",
}


def _vim(code: str) -> str:
    """vim and ed put names in for an unescaped % and take ! for the last command."""
    return code.replace("%", "\\%").replace("!", "\\!").replace("#", "\\#")
