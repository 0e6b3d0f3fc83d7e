# reflex-shim @VERSION@ (installed by `reflexctl setup`; `reflexctl uninstall` takes it out)
#
# Carries one hook event of Claude Code or Codex to reflexd and gives its answer back.
# What holds: it goes on (exit 40) only after a complete, well-formed answer from a server that
# runs as this very user behind a private socket; every other end, a crash included, refuses.
# The line that runs this file turns 40 into 0, 42 into 2, and anything else into a refusal (at events
# that only observe, into a warning).
# What is not covered: a stopped process (SIGSTOP) outlives its alarm, and a program of the
# same user can pose as reflexd. No variable of the environment is read. No JSON is parsed.
# Only builtin modules and _socket: `import socket` alone would double the time of a call.
import _signal
import _socket
import posix
import sys
from time import monotonic

RUN_DIR = "@RUN_DIR@"
SOCKET = "@SOCKET@"
UID = "@UID@"
DEADLINE = "@DEADLINE_MS@"
HINT = "@HINT@"
PERMISSION_DENY = "@PERMISSION_DENY@"
CAP = 8388608
GO_ON, REFUSED = 40, 42


def write(fd, data):
    while data:
        data = data[posix.write(fd, data) :]


def refuse(event, why):
    text = b"reflex: " + why + b"; " + HINT + b"\n"
    if event in ("PreToolUse", "PreSkillShellCommand"):
        write(2, text)
        return REFUSED
    if event == "PermissionRequest":
        write(1, PERMISSION_DENY)
        return GO_ON
    write(2, text)
    return 1


def payload(event):
    parts, size = [], 0
    while part := posix.read(0, 1 << 20):
        size += len(part)
        if size > CAP:
            return None
        parts.append(part)
    return b"".join(parts)


def server(end):
    found = posix.lstat(RUN_DIR)
    if found.st_mode & 0o170077 != 0o040000 or found.st_uid != UID:
        return None, b"the socket's directory is not a private directory of yours"
    found = posix.lstat(SOCKET)
    if found.st_mode & 0o170077 != 0o140000 or found.st_uid != UID:
        return None, b"the socket is not a private socket of yours"
    peer = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    peer.settimeout(end - monotonic())
    peer.connect(SOCKET)
    if sys.platform == "darwin":
        uid = peer.getsockopt(0, 1, 76)[4:8]
    else:
        uid = peer.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)[4:8]
    if int.from_bytes(uid, sys.byteorder) != UID:
        return None, b"another user answers on the socket"
    return peer, b""


def answer(peer, request, end):
    peer.settimeout(max(end - monotonic(), 0.001))
    peer.sendall(request)
    data = b""
    while True:
        peer.settimeout(max(end - monotonic(), 0.001))
        part = peer.recv(1 << 20)
        if not part:
            break
        data += part
        if len(data) > CAP + 128:
            return None
    head, newline, body = data.partition(b"\n")
    words = head.split(b" ")
    if not newline or len(words) != 4 or words[0] != b"RFX1":
        return None
    for word in words[1:]:
        if not word.isdigit() or len(word) > 8 or (word[0] == 48 and word != b"0"):
            return None
    code, out, err = int(words[1]), int(words[2]), int(words[3])
    if len(body) != out + err:
        return None
    return code, body[:out], body[out:]


def carry(agent, event):
    end = monotonic() + DEADLINE / 1000
    data = payload(event)
    if data is None:
        return refuse(event, b"the event is larger than 8 MiB")
    peer, why = server(end)
    if not peer:
        return refuse(event, why)
    got = answer(peer, b"RFX1 %b %b %d %d\n" % (agent.encode(), event.encode(), DEADLINE, len(data)) + data, end)
    if got is None:
        return refuse(event, b"the daemon's answer was garbled")
    code, out, err = got
    if code != 0 and (code != 2 or event == "PermissionRequest"):
        return refuse(event, b"the daemon's answer was not one of an event like this")
    if code == 2 and not err.decode("utf-8", "replace").strip():
        # Codex runs the tool where the reason is nothing, or nothing but white space of any script.
        err = b"reflex: refused without a reason\n"
    write(1, out)
    write(2, err)
    return REFUSED if code else GO_ON


event = "PreToolUse"
try:
    # A parent may have left the alarm ignored or blocked, and reading stdin has no other end.
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM,))
    _signal.setitimer(_signal.ITIMER_REAL, DEADLINE / 1000 + 1)
    agent, event = sys.argv[1:]
    status = carry(agent, event)
except FileNotFoundError:
    status = refuse(event, b"the daemon is not running")
except ConnectionRefusedError:
    status = refuse(event, b"the daemon is not running (its socket is left over)")
except TimeoutError:
    status = refuse(event, b"the daemon did not answer in time")
except BaseException as e:
    status = refuse(event, b"the daemon could not be asked (" + type(e).__name__.encode() + b")")
posix._exit(status)
