// A stand-in for pi: host.mjs EXTENSION SESSION COMMAND... prints what the extension makes of each command.
import { load, tryAll } from "./load.mjs";

const [path, session, ...commands] = process.argv.slice(2);
const handlers = {};
(await load(path)).default({ on: (name, handler) => (handlers[name] = handler) });
const ctx = { cwd: process.cwd(), hasUI: false, sessionManager: { getSessionFile: () => session } };
await tryAll(commands, async (command) => {
  const said = await handlers.tool_call({ type: "tool_call", toolName: "bash", toolCallId: "1", input: { command } }, ctx);
  return said && said.block ? String(said.reason) : null;
});
