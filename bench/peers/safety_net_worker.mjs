// cc-safety-net in node: a JSON line {command, cwd} in, a line {decision, seconds} out.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { checkCommand } = await import(pathToFileURL(process.argv[2]).href);

for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line);
  const since = process.hrtime.bigint();
  const { kind } = checkCommand(call);
  const seconds = Number(process.hrtime.bigint() - since) / 1e9;
  console.log(JSON.stringify({ decision: kind === "allow" ? "pass" : "deny", seconds }));
}
