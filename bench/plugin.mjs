// Times an installed plugin inside its own runtime: plugin.mjs KIND PLUGIN ECHO DAEMON REQUEST COMMAND ROUNDS
// prints {"plugin": [seconds...], "bare": [...], "daemon": [...]}. `bare` is what this runtime's loop takes for
// an exchange with the bare echo, by node:net alone; `daemon` the same with the daemon. They take turns of
// BLOCK calls; the first WARM turns are not counted.
import fs from "node:fs";
import net from "node:net";

const [kind, plugin, echo, daemon, requestFile, command, rounds] = process.argv.slice(2);
const BLOCK = 100;
const WARM = 5; // rounds until the runtime has compiled what runs often
const request = fs.readFileSync(requestFile);

async function load(path) {
  if (process.versions.bun) return import(path);
  return import("data:text/javascript;base64," + fs.readFileSync(path).toString("base64"));
}

function bare(path) {
  return new Promise((resolve, reject) => {
    const peer = net.createConnection({ path });
    peer.on("error", reject);
    peer.on("data", () => {});
    peer.on("end", () => {
      peer.destroy();
      resolve();
    });
    peer.write(request);
  });
}

// Every call another command, as by the other clients.
let asked = 0;
const next = () => command.replace("{}", String(asked++));

async function judge() {
  const module = await load(plugin);
  if (kind === "opencode") {
    const hooks = await module.ReflexPlugin({ directory: process.cwd(), worktree: process.cwd() });
    return () => hooks["tool.execute.before"]({ tool: "bash", sessionID: "bench", callID: "1" }, { args: { command: next() } });
  }
  const handlers = {};
  module.default({ on: (name, handler) => (handlers[name] = handler) });
  const ctx = { cwd: process.cwd(), hasUI: false, sessionManager: { getSessionFile: () => "bench" } };
  return async () => {
    const said = await handlers.tool_call({ type: "tool_call", toolName: "bash", toolCallId: "1", input: { command: next() } }, ctx);
    if (said) throw new Error(JSON.stringify(said));
  };
}

async function time(call) {
  const since = performance.now();
  await call();
  return (performance.now() - since) / 1000;
}

const ask = await judge();
const out = { plugin: [], bare: [], daemon: [] };
for (let round = -WARM; round < Number(rounds); round++) {
  for (const [name, call] of Object.entries({ plugin: ask, bare: () => bare(echo), daemon: () => bare(daemon) })) {
    for (let number = 0; number < BLOCK; number++) {
      const took = await time(call);
      if (round >= 0) out[name].push(took);
    }
  }
}
fs.writeSync(1, JSON.stringify(out));
process.exit(0);
