// Loads an installed plugin the way its host would. Bun (opencode's own runtime) takes the file as it
// is; Node 20 refuses .ts and reads .js by the nearest package.json, so there the text is loaded.
import fs from "node:fs";

export async function load(path) {
  if (process.versions.bun) return import(path);
  return import("data:text/javascript;base64," + fs.readFileSync(path).toString("base64"));
}

// Answers for each command: null where the call would run, else the reason that the agent would be given.
export async function tryAll(commands, judge) {
  const answers = [];
  for (const command of commands) answers.push(await judge(command));
  fs.writeSync(1, JSON.stringify(answers) + "\n");
  process.exit(0);
}
