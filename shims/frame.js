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

// The answer in `data`; null where more of it has to come. Throws where it cannot become one.
function decode(data) {
  const newline = data.indexOf(10);
  if (newline < 0 && data.length < 64) return null;
  const head = /^RFX1 (0|[1-9]\d{0,2}) (0|[1-9]\d{0,7}) (0|[1-9]\d{0,7})\n/.exec(data.toString("latin1", 0, 64));
  const middle = head ? newline + 1 + Number(head[2]) : 0;
  const end = head ? middle + Number(head[3]) : 0;
  if (!head || data.length > end || end > CAP) throw new Error("the daemon's answer was garbled");
  if (data.length < end) return null;
  return { exit: Number(head[1]), stdout: data.toString("utf8", newline + 1, middle), stderr: data.toString("utf8", middle) };
}

function carry(agent, event, message) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(message);
    const length = Buffer.byteLength(body);
    if (length > CAP) throw new Error("the event is larger than 8 MiB");
    check(RUN_DIR, (found) => found.isDirectory(), "the socket's directory");
    check(SOCKET, (found) => found.isSocket(), "the socket");
    let data = null;
    const peer = net.createConnection({ path: SOCKET });
    const timer = setTimeout(() => end(reject, new Error("the daemon did not answer in time")), DEADLINE_MS);
    function end(settle, value) {
      clearTimeout(timer);
      peer.destroy();
      settle(value);
    }
    const fail = (e) => end(reject, new Error(ABSENT.includes(e && e.code) ? "the daemon is not running" : "the daemon could not be asked (" + (e && e.code) + ")"));
    const cut = () => end(reject, new Error("the daemon's answer was garbled"));
    peer.on("error", fail);
    peer.on("data", (part) => {
      data = data ? Buffer.concat([data, part]) : part;
      try {
        const said = decode(data);
        if (said) end(resolve, said);
      } catch (e) {
        end(reject, e);
      }
    });
    peer.on("end", cut);
    peer.on("close", cut);
    peer.write("RFX1 " + agent + " " + event + " " + DEADLINE_MS + " " + length + "\n" + body);
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

// An event that nothing has to wait for: a failure is not worth more than silence in a person's screen.
async function tell(agent, event, message) {
  try {
    await carry(agent, event, message);
  } catch {}
}

// A prompt: what the daemon wants put before the model with it, or "". Never fails, and never holds a prompt back.
async function added(agent, event, message) {
  try {
    const said = await carry(agent, event, message);
    const { context } = said.exit === 0 && said.stdout ? JSON.parse(said.stdout) : {};
    return typeof context === "string" ? context : "";
  } catch {
    return "";
  }
}
