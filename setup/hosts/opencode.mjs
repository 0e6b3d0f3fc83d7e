// A stand-in for opencode: host.mjs PLUGIN SESSION GUARD COMMAND... prints what the plugin makes of each command.
import { load, tryAll } from "./load.mjs";

const [path, sessionID, guard, ...commands] = process.argv.slice(2);
const module = await load(path);
for (const [name, value] of Object.entries(module)) {
  // opencode drops a file with any export that is not a function.
  if (typeof value !== "function") throw new Error("export " + name + " is not a function");
}
const hooks = await module.ReflexPlugin({ directory: process.cwd(), worktree: process.cwd() });
const config = { permission: JSON.parse(guard) };
await hooks.config(config);
if (Object.keys(config.permission || {}).length) throw new Error("the plugin does not lift its guard");
await tryAll(commands, async (command) => {
  try {
    await hooks["tool.execute.before"]({ tool: "bash", sessionID, callID: "1" }, { args: { command } });
    return null;
  } catch (e) {
    return String(e && e.message);
  }
});
