"""The mutators are real: what they write is run in a throwaway home and does there what the plain command does.

Then the gate is asked about the same text in the same place.
"""

from __future__ import annotations

import re
import shutil
from random import Random

import pytest

from reflexd.shell.options import names
from reflexd.types import Decision
from tests.gate.judge import judge, unread
from tests.gate.mutators import EVERY, PUT_OFF, mutated
from tests.gate.mutators_alike import ALIKE
from tests.gate.mutators_programs import ELSEWHERE
from tests.gate.sandbox import COMMANDS, PATH, sandbox

# It destroys for real, and only root can have that done by a user who owns nothing.
pytestmark = pytest.mark.root
NOT_RUN = names(
    # As another user, or in another namespace.
    "prefix-sudo prefix-doas prefix-chroot prefix-systemd-run prefix-bwrap prefix-unshare"
    " prefix-chrt prefix-setarch sudo sudo-login sudo-fed echo-pipe-sudo capsh nsenter chroot chroot-user"
    " unshare su su-user runuser sg pkexec doas bwrap proot cgexec ip-netns firejail chrt setarch"
    " linux64 systemd-inhibit start-stop-daemon daemonize apt-option perf"
    # With a terminal, a display, the network, a server, or later.
    " pager-variable manpager-variable editor-variable visual-variable less man git-pager git-pager-variable git-grep"
    " git-difftool watch terminal tmux tmux-keys screen screen-stuff xvfb-run dbus-run-session torsocks unbuffer rlwrap"
    " psql psql-fed mysql ftp dc at at-string batch crontab crontab-document crontab-file systemd-run systemd-run-timer"
    " nodemon concurrently poetry-run uv-run bundle-exec npx-call npm-exec rsync-shell sort-compress"
    # With another working directory, or with words of git's own after the command.
    " git-filter git-editor git-editor-variable git-sequence-editor git-ssh git-ssh-variable git-upload-pack"
    " git-external-diff git-bisect git-submodule git-credential git-fsmonitor"
    # By a program that does not exist, or one that hardly any machine has.
    " prefix-some-wrapper unknown-wrapper unknown-wrapper-option makefile-shell osascript pwsh cmd wsl"
)
OPTIONAL = names(
    "awk bun busybox catchsegv choom cmake deno elixir emacs entr erl expect faketime fakeroot fd flock gawk"
    " gcc gdb ghc git gnuplot groovy guile gunzip hyperfine iconv jq julia just ltrace lua m4 make"
    " ninja node npm octave openssl parallel perl php prlimit python3 rg Rscript ruby sbcl script"
    " setpriv sqlite3 ssh-agent strace swipl taskset tclsh tini toybox valgrind vim which xxd zip"
    " zsh ed ionice ld-linux-x86-64.so.2 /usr/bin/time"
)


def _can_be_run(name: str) -> bool:
    if name in NOT_RUN or name in ELSEWHERE or name in ALIKE:
        return False
    words = set(re.findall(r"[\w./-]+", mutated(COMMANDS[0], name)))
    needed = {word.rpartition("/")[2] if word != "/usr/bin/time" else word for word in words} | words
    return all(shutil.which(word, path=f"{PATH}:/lib64") for word in needed & OPTIONAL)


RUN = [name for name in EVERY if _can_be_run(name)]
SAMPLE = Random(20).sample(RUN, 80)


def test_most_mutators_can_be_run_anywhere() -> None:
    assert len(RUN) > 400


def test_the_sandbox_tells_what_destroys_from_what_does_not() -> None:
    with sandbox() as place:
        assert all(place.destroys(command) for command in COMMANDS)
        assert not place.destroys("true")
        assert not place.destroys("ls ../precious")
        assert not place.destroys("echo 'rm -rf ../precious'")


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_a_mutated_command_does_what_the_plain_one_does_and_is_judged_so(name: str) -> None:
    commands = COMMANDS if name in SAMPLE else (COMMANDS[RUN.index(name) % len(COMMANDS)],)
    with sandbox() as place:
        home, cwd = str(place.home), str(place.project)
        for command in commands:
            changed = mutated(command, name)
            assert changed != command
            assert place.destroys(changed), changed
            plain, other = (judge(text, cwd, home=home) for text in (command, changed))
            assert plain.decision is Decision.DENY
            asked = other.decision is Decision.ASK and (unread(other) or name in PUT_OFF)
            assert other.decision is Decision.DENY or asked, (changed, other)
