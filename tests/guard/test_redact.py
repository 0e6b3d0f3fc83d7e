"""reflexd.guard.redact: every pattern's own examples, and what holds for any text."""

from __future__ import annotations

import string
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.guard.redact import Pattern, library, redact, redact_head

PATTERNS = library().patterns
EXAMPLES = [(pattern.id, before, after) for pattern in PATTERNS for before, after in pattern.examples]
LEAVES = [(pattern.id, text) for pattern in PATTERNS for text in pattern.leaves]


@pytest.mark.parametrize(("pattern", "before", "after"), EXAMPLES)
def test_example(pattern: str, before: str, after: str) -> None:
    assert redact(before) == after


@pytest.mark.parametrize(("pattern", "text"), LEAVES)
def test_leaves(pattern: str, text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.id)
def test_every_pattern_shows_its_kind_and_what_it_leaves(pattern: Pattern) -> None:
    assert pattern.examples
    assert pattern.leaves
    assert all(f"[redacted:{pattern.kind}]" in after for _, after in pattern.examples)
    assert all(literal == literal.lower() for literal in pattern.literals)


def test_ids_are_unique_and_the_library_has_a_version() -> None:
    assert len({pattern.id for pattern in PATTERNS}) == len(PATTERNS)
    assert library().version >= 1


ORDINARY = [
    "git show 3f786850e387550fdab836ed7e6dc881de23001b --stat",
    "git diff a94a8fe5..9c1185a5 -- src/auth/token_store.py",
    "request 123e4567-e89b-12d3-a456-426614174000 failed",
    '"integrity": "sha512-N5ZAX4/LxJmF+7wN74pUD6qAh9/wnvdQcjq9TZjevvXzSUo7bfmw91saqMjzGS2xq91/odN2dW/WOl7qQHNDGA=="',
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=",
    "cat /home/dev/proj/secrets/token.txt ~/.ssh/id_ed25519.pub",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl dev@host",
    "for token in tokens:\n    secret = secrets.token_hex(16)\n    password = getpass()\n",
    "class Login(Struct):\n    password: str\n    token: str | None = None\n",
    'git commit -m "Rotate the password, drop the token cache"',
    "curl -fsSL https://example.com/install.sh | sh",
    "npm install --save-dev @types/node@22.1.0 eslint-plugin-no-secrets",
    "docker run -p 8080:80 -u 1000:1000 -v secret:/run/secrets app:latest",
    "kubectl get secret app-token -o yaml",
    "pytest tests/test_password.py::test_token -k 'secret and not token'",
    "[redacted:secret] and [redacted:private-key]",
    "",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_comes_back_as_it_is(text: str) -> None:
    assert redact(text) == text


# ---- what holds for any text -----------------------------------------------------------


def run(alphabet: str, low: int, high: int | None = None) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=low, max_size=high or low)


ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
TOKEN = ALNUM + "_-"
TYPED = ALNUM + "!#^_.+*/=-"  # what people put into passwords, without what ends a word

# How each kind of secret is written: text around it, and the secret (always too long to be there by chance).
# It has a digit and letters of both cases where its pattern asks for that, and never looks like a name.
mixed = st.builds("k7Q{}".format, run(TYPED, 17, 40))
PLANTED: dict[str, tuple[list[str], st.SearchStrategy[str]]] = {
    "private-key-block": (
        [
            "-----BEGIN RSA PRIVATE KEY-----\n@\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n@",
            "'-----BEGIN PRIVATE KEY-----\\n@\\n-----END PRIVATE KEY-----\\n'",
        ],
        run(BASE64, 64),
    ),
    "private-key-tail": (["@\n-----END EC PRIVATE KEY-----"], run(BASE64, 64)),
    "putty-private-key": (["Private-Lines: 1\n@\n"], run(BASE64, 64)),
    "authorization-header": (
        [
            "Authorization: Bearer @",
            "curl -H 'authorization: Basic @' h",
            '{"Authorization": "Token @"}',
            "Authorization: @",
        ],
        mixed,
    ),
    "bearer": (["use Bearer @ for it"], st.builds("k7Q{}".format, run(TOKEN, 17, 60))),
    "cookie": (["Cookie: sid=@; a=b", "Set-Cookie: sid=@", "-H 'Cookie: a=b; sid=@'"], run(ALNUM, 16, 40)),
    "cookie-flag": (["curl -b sid=@ https://h", "curl --cookie 'a=b; sid=@' https://h"], run(ALNUM, 16, 40)),
    "session-cookie": (["PHPSESSID=@", "?sessionid=@&a=b"], st.builds("1{}".format, run(ALNUM, 16, 40))),
    "url-password": (
        ["postgres://app:@@db/app".replace("@@", "@\0"), "git clone https://me:@\0h/r.git", "redis://:@\0h:6379"],
        st.builds("k7Q{}".format, run(ALNUM + "!#^_.+*=-@", 17, 40)),
    ),
    "oracle-connection": (["sqlplus scott/@\0h/orcl"], st.builds("k7Q{}".format, run(ALNUM, 17, 40))),
    "assignment": (
        [
            "DB_PASSWORD=@",
            "export SECRET_KEY='@'",
            '{"apiKey": "@", "a": 1}',
            "password: @",
            "client_secret = @",
            "client-secret: '@'",
            "https://h/?access_token=@&a=b",
            "Server=h;Password=@;Encrypt=true",
            "AccountKey=@",
            "aws_secret_access_key=@",
            '{\\"password\\": \\"@\\"}',
            "X-Api-Key: @",
            "//registry.example/:_authToken=@",
            'token = "@"',
        ],
        mixed,
    ),
    "named-pass": (["MYSQL_PWD=@", "Uid=sa;Pwd=@;", 'DB_PASS: "@"', '{"auth": "@"}'], mixed),
    "pass": (["PASS=@", "{pass: '@'}", "pass: @"], mixed),
    "named-key": (["DATADOG_KEY=@", 'signing_x_key: "@"'], st.builds("k7Q{}".format, run(ALNUM, 17, 40))),
    "secret-flag": (["tool --password @ -v", "tool --db-password '@'", '["tool", "--token", "@"]'], mixed),
    "user-colon-password": (
        ["curl -u me:@ https://h", "curl -s \\\n --user 'me:@' https://h", "wget --user me:@"],
        mixed,
    ),
    "password-flag": (["mysql -uroot -p@ db", "sshpass -p '@' ssh h", "docker login -u a -p @ r"], mixed),
    "other-password-flag": (["redis-cli -a @ ping", "openssl rsa -passin pass:@ -in k"], mixed),
    "from-literal": (["kubectl create secret generic s --from-literal=a=@"], mixed),
    "piped-password": (["echo '@' | sudo -S ls", "echo @ | docker login -u a --password-stdin"], mixed),
    "aws-access-key": (["@"], st.builds("AKIA{}".format, run(string.ascii_uppercase + string.digits, 16))),
    "google-api-key": (["@"], st.builds("AIza{}".format, run(TOKEN, 35))),
    "google-oauth": (["@"], st.builds("{}{}".format, st.sampled_from(["ya29.", "GOCSPX-"]), run(TOKEN, 28))),
    "azure-signature": (["https://a.example/c?se=1&sig=@"], run(ALNUM, 43)),
    "azure-client-secret": (["abc8Q~@"], run(ALNUM, 34)),
    "azure-shared-access": (["Endpoint=sb://h/;SharedAccessKeyName=x;SharedAccessKey=@"], mixed),
    "github-token": (
        ["@"],
        st.builds(
            "{}{}".format, st.sampled_from(["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"]), run(ALNUM, 36)
        ),
    ),
    "gitlab-token": (["@"], st.builds("glpat-{}".format, run(TOKEN, 20))),
    "slack-token": (["@"], st.builds("xoxb-{}".format, run(ALNUM + "-", 30))),
    "webhook-url": (["https://hooks.slack.com/services/@", "https://discord.com/api/webhooks/@"], run(ALNUM + "/", 40)),
    "stripe-key": (["@"], st.builds("sk_live_{}".format, run(ALNUM, 24))),
    "model-api-key": (["@"], st.builds("sk-proj-A1B2{}".format, run(TOKEN, 30))),
    "huggingface-token": (["@"], st.builds("hf_{}".format, run(ALNUM, 34))),
    "package-registry-token": (["@"], st.builds("{}{}".format, st.sampled_from(["npm_", "pypi-Ag"]), run(ALNUM, 36))),
    "jwt": (["@"], st.builds("eyJ{}.eyJ{}.{}".format, run(TOKEN, 20), run(TOKEN, 20), run(TOKEN, 20))),
    "telegram-token": (["bot123456789:AA@"], run(TOKEN, 33)),
    "discord-token": (["MTAwMDAwMDAwMDAwMDAwMDAw.GabcDE.@"], run(TOKEN, 30)),
    "mail-api-key": (["@"], st.builds("SG.{}.{}".format, run(TOKEN, 22), run(TOKEN, 43))),
    "twilio-key": (["@"], st.builds("SK{}".format, run(HEX, 32))),
    "service-token": (
        ["@"],
        st.builds("{}{}".format, st.sampled_from(["dop_v1_", "shpat_", "glsa_", "hvs."]), run(ALNUM, 40)),
    ),
    "terraform-token": (["abcdefghijklmn.atlasv1.@"], run(TOKEN, 60)),
    "beside-a-word": (["the api key is @.", "secret (@)"], st.builds("k7Q{}".format, run(ALNUM, 20, 40))),
}

# Text that stands around secrets, aimed at the scanner: its own literals, quotes, masks, and whatever.
BITS = [
    *(literal for pattern in PATTERNS for literal in pattern.literals),
    *(pattern.examples[0][0] for pattern in PATTERNS),
    *"\"'`\\=:@ \n,;&|-$/{}()[]",
    *(
        "[redacted:secret]",
        "[redacted:",
        '\\"',
        ": ",
        "\\n",
        "PASS",
        "curl ",
        "mysql ",
        "-----END RSA PRIVATE KEY-----",
    ),
    *("-----END RSA PRIVATE KEY-----", "abc", "A1b2C3d4E5f6G7h8J9k0", "0123456789abcdef", "\ud800", "\u0130", "\u00df"),
]
noise = st.lists(st.one_of(st.sampled_from(BITS), st.text(max_size=8)), max_size=12).map("".join)


def test_every_pattern_is_planted() -> None:
    assert set(PLANTED) == {pattern.id for pattern in PATTERNS}


@pytest.mark.parametrize("name", PLANTED)
@given(data=st.data())
def test_a_planted_secret_does_not_survive(name: str, data: st.DataObject) -> None:
    frames, secrets = PLANTED[name]
    secret = data.draw(secrets)
    line = data.draw(st.sampled_from(frames)).replace("@", secret).replace("\0", "@")
    before, after = data.draw(noise), data.draw(noise)
    assert secret not in redact(f"{before}\n{line}\n{after}")


SHAPES = [name for name, (frames, _) in PLANTED.items() if frames == ["@"]]


@pytest.mark.parametrize("name", SHAPES)
@given(data=st.data())
def test_a_secret_with_a_shape_does_not_survive_anywhere(name: str, data: st.DataObject) -> None:
    secret = data.draw(PLANTED[name][1])
    before, after = data.draw(noise), data.draw(noise)
    glue = data.draw(st.sampled_from([" ", "=", '"', "(", "\n", "/", "'", "@", ":", "\u00e9"]))
    assert secret not in redact(before + glue + secret + glue + after)


@settings(max_examples=1000)
@given(noise)
def test_a_second_run_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.text(st.characters()))
def test_total_and_bounded_on_any_text(text: str) -> None:
    assert len(redact(text)) <= 8 * len(text)


@given(noise)
def test_bounded_on_hostile_text(text: str) -> None:
    assert len(redact(text)) <= 8 * len(text)


@given(noise)
def test_only_spans_are_replaced(text: str) -> None:
    """What is left of the text stands in the result in its order, with masks between."""
    rest = text
    for kept in library_masks(redact(text)):
        at = rest.find(kept)
        assert at >= 0
        rest = rest[at + len(kept) :]


def library_masks(text: str) -> list[str]:
    for kind in {pattern.kind for pattern in PATTERNS}:
        text = text.replace(f"[redacted:{kind}]", "\uffff")
    return text.split("\uffff")


@given(st.integers(0, 9000), st.integers(0, 40), st.integers(0, 3))
def test_the_head_of_a_long_text_holds_no_half_of_a_secret(at: int, limit: int, copies: int) -> None:
    secret = "k7Q" + "x9Z" * 12
    for line in (
        f"PASSWORD='{secret}'",
        f"https://me:{secret}@h/",
        f"ghp_{secret}",
        f"-----BEGIN PRIVATE KEY-----\n{secret}",
    ):
        text = "a " * at + f"{line}\n" * 500 * copies + "b " * 9000
        head = redact_head(text, limit * 100)
        assert len(head) <= limit * 100
        assert secret[:8] not in head
        assert redact(text).startswith(head)


def test_the_head_of_a_short_text_is_all_of_it() -> None:
    text = "PASSWORD=hunter2 run " * 20
    assert redact_head(text, 4096) == redact(text)


def test_lone_surrogates() -> None:
    assert redact("\udc80 PASSWORD=a\udfffb \ud800") == "\udc80 PASSWORD=[redacted:secret] \ud800"


def test_threads_agree() -> None:
    """The first use of a pattern compiles it: threads that meet there must all mask."""
    code = (
        "import sys, threading; sys.setswitchinterval(1e-6)\n"
        "from reflexd.guard.redact import redact, library\n"
        "found, start = [], threading.Barrier(8)\n"
        "def go():\n"
        "    start.wait()\n"
        "    found.append([redact(before) for p in library().patterns for before, _ in p.examples])\n"
        "threads = [threading.Thread(target=go) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "want = [after for p in library().patterns for _, after in p.examples]\n"
        "assert found == [want] * 8\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- linear ----------------------------------------------------------------------------

FILLERS = ["", "a", "=", ": ", '"', "-", "@", "A1b2C3d4E5f6G7h8", " -u a"]


def cpu(text: str) -> float:
    best = 1e9
    for _ in range(2):
        since = time.thread_time()
        redact(text)
        best = min(best, time.thread_time() - since)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.id)
def test_time_grows_with_the_text_not_with_its_square(pattern: Pattern) -> None:
    """Ratios of one thread's own processor time, so that a busy machine does not matter. Eight times
    the text may take eight times as long; the square would be 64."""
    for unit in {seed + filler for seed in (*pattern.literals[:2], pattern.examples[0][0][:40]) for filler in FILLERS}:
        small = (unit * 1500)[:1500]
        large = (unit * 12000)[:12000]
        cpu(small[:50])
        for _ in range(3):
            if cpu(large) < 24 * cpu(small) + 0.002:
                break
        else:
            pytest.fail(f"not linear on {unit!r}")


def test_a_typical_command_reads_no_pattern() -> None:
    """Without any literal in it, the same object comes back."""
    text = "git status"
    assert redact(text) is text


def test_imports_stay_few() -> None:
    code = "import sys, reflexd.guard.redact; print(sorted(m for m in sys.modules if m.startswith('reflexd.')))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "['reflexd.guard', 'reflexd.guard.redact']"
