// Carries one event to reflexd over its private socket. Resolves to {exit, stdout, stderr} after a
// complete, well-formed answer inside the deadline; rejects with an Error whose message says why in
// every other case. Node gives no peer credentials: what is checked is the directory and the socket.
const RUN_DIR = "@RUN_DIR@";
const SOCKET = "@SOCKET@";
const UID = "@UID@";
const DEADLINE_MS = "@DEADLINE_MS@";
const HINT = "@HINT@";
const CAP = 8388608;
const ABSENT = ["ENOENT", "ECONNREFUSED"]; // Bun says ENOENT for a socket that nobody listens on

function check(path, isRight, what) {
  const found = fs.lstatSync(path);
  if (!isRight(found) || found.uid !== UID || (found.mode & 0o077) !== 0) {
    throw new Error(what + " is not a private one of yours");
  }
}

function decode(data) {
  const newline = data.indexOf(10);
  const head = newline < 0 ? null : /^RFX1 (0|[1-9]\d{0,2}) (0|[1-9]\d{0,7}) (0|[1-9]\d{0,7})$/.exec(data.toString("latin1", 0, newline));
  if (!head || data.length !== newline + 1 + Number(head[2]) + Number(head[3])) {
    throw new Error("the daemon's answer was garbled");
  }
  const middle = newline + 1 + Number(head[2]);
  return { exit: Number(head[1]), stdout: data.toString("utf8", newline + 1, middle), stderr: data.toString("utf8", middle) };
}

function carry(agent, event, message) {
  return new Promise((resolve, reject) => {
    const body = Buffer.from(JSON.stringify(message));
    if (body.length > CAP) throw new Error("the event is larger than 8 MiB");
    check(RUN_DIR, (found) => found.isDirectory(), "the socket's directory");
    check(SOCKET, (found) => found.isSocket(), "the socket");
    const parts = [];
    let size = 0;
    const peer = net.createConnection({ path: SOCKET });
    const timer = setTimeout(() => stop(new Error("the daemon did not answer in time")), DEADLINE_MS);
    function stop(why) {
      clearTimeout(timer);
      peer.destroy();
      if (why) return reject(why);
      try {
        resolve(decode(Buffer.concat(parts)));
      } catch (e) {
        reject(e);
      }
    }
    peer.on("error", (e) => stop(new Error(ABSENT.includes(e && e.code) ? "the daemon is not running" : "the daemon could not be asked (" + (e && e.code) + ")")));
    peer.on("data", (part) => {
      parts.push(part);
      size += part.length;
      if (size > CAP + 128) stop(new Error("the daemon's answer was garbled"));
    });
    peer.on("end", () => stop());
    peer.on("close", () => stop());
    peer.write("RFX1 " + agent + " " + event + " " + DEADLINE_MS + " " + body.length + "\n");
    peer.write(body);
  });
}

// The refusal of a guarded event, or "" to go on; `ask` is called with a JSON answer, where there is one.
async function refusal(agent, event, message, ask) {
  let said;
  try {
    said = await carry(agent, event, message);
    if (said.exit === 0 && !said.stdout) return "";
    if (said.exit === 0 && ask) return (await ask(JSON.parse(said.stdout))) || "";
    if (said.exit === 2) return said.stderr.trim() || "reflex: refused without a reason";
    throw new Error("the daemon's answer was not one of an event like this");
  } catch (e) {
    const why = e && ABSENT.includes(e.code) ? "the daemon is not running" : e && e.message;
    return "reflex: " + why + "; " + HINT;
  }
}

// An event that nothing waits for: a failure is not worth more than silence in a person's screen.
function tell(agent, event, message) {
  try {
    carry(agent, event, message).catch(() => {});
  } catch {}
}
