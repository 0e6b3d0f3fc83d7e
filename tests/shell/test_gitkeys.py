"""Which values name a program of somebody's choosing, and which are everybody's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.shell.gitkeys import PREFIX, code, data, names_a_program, run_by

FINE = """
core.fsmonitor true | core.fsmonitor false | core.fsmonitor 0 | core.fsmonitor
core.pager less -FRX | core.pager delta --dark | core.pager diff-so-fancy | less --tabs=4 -RFX | core.pager cat
pager.log false | pager.status true | pager.diff delta | env:pager less | env:git_pager cat | env:pager
interactive.difffilter delta --color-only | diff.external difft --color=always
filter.lfs.clean git-lfs clean -- %f | filter.lfs.process git-lfs filter-process
credential.helper store | credential.helper cache --timeout=3600 | credential.helper store --file ~/.creds
credential.https://x.y.helper !gh auth git-credential | credential.helper | credential.helper osxkeychain
remote.origin.url git@github.com:a/b.git | remote.origin.url https://x/y | remote.origin.url ../up | remote.o.url ssh://h/p
protocol.ext.allow never | gpg.program gpg2 | core.editor code --wait | env:editor vim | core.sshcommand ssh -i ~/.ssh/k
core.sshcommand ssh -i ~/k -o IdentitiesOnly=yes -F /dev/null | merge.ours.driver true
sendemail.smtpserver smtp.example.com | submodule.a.update rebase | env:lessopen | /usr/bin/lesspipe %s
user.name !x | core.autocrlf ./x | diff.algorithm patience | remote.origin.fetch +refs/heads/*:refs/remotes/o/*
""".strip().splitlines()

NOT_FINE = """
core.fsmonitor ./x | core.fsmonitor true; x | core.fsmonitor .git/hooks/fsmonitor-watchman
core.pager ./less | core.pager less; x | core.pager less -o out | core.pager less +!x | core.pager $(x)
core.pager x || less | core.pager bat --pager=x | core.pager less -k keys | core.pager less --lesskey-src=k
core.pager /tmp/less
pager.log ./x | env:pager x | env:git_external_diff x | diff.external ./d | diff.img.textconv exif
diff.x.command d
filter.x.clean sed s/a/b/ | filter.lfs.smudge git-lfs smudge -- %f; x | merge.ours.driver ./m
credential.helper !x | credential.helper /x/y | credential.https://x.helper ../h | credential.helper store; x
credential.helper !gh auth git-credential; x | core.sshcommand ssh -oProxyCommand=x h | core.sshcommand ./ssh
core.sshcommand ssh -F conf | remote.o.url ext::sh -c x | remote.o.pushurl foo::bar | url.ext::x.insteadof y
protocol.ext.allow always | protocol.allow always | gpg.program ./g | gpg.ssh.program ./g | core.editor ./e
sendemail.smtpserver /usr/bin/x | submodule.a.update !x | env:git_allow_protocol https:ext | env:lessopen |-x %s
alias.st status | alias.x !y | hook:pre-commit .git/hooks/pre-commit | trailer.a.command x
man.x.cmd y | tar.x.command y | sequence.editor sed -i | core.askpass x | remote.o.uploadpack x
uploadpack.packobjectshook x | init.templatedir /x
""".strip().splitlines()


def cases(lines: list[str]) -> list[tuple[str, str]]:
    """`key value`, several in a line; a ` | ` between lower-case keys parts them, any other belongs to a value."""
    found: list[tuple[str, str]] = []
    for line in lines:
        for part in line.split(" | "):
            key, _, value = part.strip().partition(" ")
            if ("." in key.strip("./") and not key.startswith((".", "/"))) or key.startswith(("env:", "hook:")):
                found.append((key, value))
            else:
                found[-1] = (found[-1][0], f"{found[-1][1]} | {part.strip()}".strip())
    return found


@pytest.mark.parametrize(("key", "value"), cases(FINE))
def test_everybodys(key: str, value: str) -> None:
    assert not names_a_program(key, value)


@pytest.mark.parametrize(("key", "value"), cases(NOT_FINE))
def test_somebodys_own(key: str, value: str) -> None:
    assert names_a_program(key, value)


@pytest.mark.parametrize(
    ("key", "touched", "untouched"),
    [
        ("core.fsmonitor", "status diff log show add ls-files unheard-of", "config remote help"),
        ("diff.x.textconv", "diff log show blame grep", "status ls-files branch config"),
        ("diff.external", "diff", "status blame config"),
        ("core.pager", "log diff show branch", "status ls-files rev-parse"),
        ("pager.status", "status", "log"),
        ("filter.x.clean", "status diff add", "ls-tree branch"),
        ("core.sshcommand", "fetch pull push clone ls-remote", "status log diff commit"),
        ("alias.st", "st", "status"),
        ("alias.lg.command", "lg", "log"),
        ("hook:post-index-change", "status commit", "log"),
        ("hook:pre-push", "push", "commit fetch"),
        ("promisor", "log show status", "config"),
        ("gpg.program", "log commit tag", "status"),
        ("user.name", "", "status commit"),
    ],
)
def test_which_subcommands(key: str, touched: str, untouched: str) -> None:
    pairs = [(PREFIX + key, "x"), ("root", "y")]
    assert all(run_by(each, pairs) == ((key, "x"),) for each in touched.split())
    assert not any(run_by(each, pairs) for each in untouched.split())


def test_a_name_in_the_table_is_a_group_or_a_subcommand() -> None:
    """A group that is misspelt would be taken for a subcommand and cover nothing."""
    groups = data().groups
    subcommands = {word for words in groups.values() for word in words.split()}
    single = {"credential", "credential-cache", "interpret-trailers", "send-email", "imap-send", "init", "gc"}
    assert {on for row in data().key for on in row.on} <= {*groups, *subcommands, *single, "*", ".", "receive-pack"}
    assert {row.programs for row in data().key} <= {"", *data().programs}


@given(st.sampled_from([name for row in data().key for name in row.names]), st.text(max_size=40))
def test_no_value_raises(key: str, value: str) -> None:
    assert names_a_program(key, value) in (True, False)
    assert isinstance(code(key, value), str)


@pytest.mark.parametrize(
    ("key", "value", "runs"),
    [
        ("core.pager", "a; b", "a; b"),
        ("core.fsmonitor", "true", ""),
        ("alias.x", "!a", "a"),
        ("alias.x", "log -p", "git log -p"),
        ("credential.helper", "!a b", "a b"),
        ("credential.helper", "/x/y", "/x/y"),
        ("credential.helper", "store", "git credential-store"),
        ("remote.o.url", "ext::sh -c a%% b% c", "sh -c a% b\\ c"),
        ("remote.o.url", "https://x/y", ""),
        ("init.templatedir", "/x", ""),
        ("submodule.a.update", "!x", "x"),
        ("submodule.a.update", "merge", ""),
        ("user.name", "x", ""),
    ],
)
def test_the_text_that_a_shell_would_run(key: str, value: str, runs: str) -> None:
    assert code(key, value) == runs
