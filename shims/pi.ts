// reflex-shim @VERSION@ (installed by `reflexctl setup`; `reflexctl uninstall` takes it out)
//
// Asks reflexd before every tool call of pi. What holds: a tool runs only after a complete answer
// that says so; anything else blocks. What is not covered: `-ne` and pi's RPC command `bash`, which
// call no extension; a person's own `!` commands are his. Valid JavaScript as well as TypeScript.
import fs from "node:fs";
import net from "node:net";

/*@FRAME@*/

function context(ctx) {
  let session = "";
  try {
    session = ctx.sessionManager.getSessionFile() || "";
  } catch {}
  return { cwd: String((ctx && ctx.cwd) || process.cwd()), hasUI: Boolean(ctx && ctx.hasUI), session };
}

export default function reflex(pi) {
  pi.on("tool_call", async (event, ctx) => {
    const reason = await refusal("pi", "tool_call", { event: "tool_call", ...context(ctx), payload: event }, async ({ confirm }) => {
      const yes = await ctx.ui.confirm(String(confirm.title), String(confirm.message));
      return yes === true ? "" : "reflex: a person said no to this call";
    });
    return reason ? { block: true, reason } : undefined;
  });
  let toAdd = "";
  pi.on("input", async (event, ctx) => {
    toAdd = await added("pi", "input", { event: "input", ...context(ctx), payload: event });
  });
  pi.on("before_agent_start", () => {
    const content = toAdd;
    toAdd = "";
    return content ? { message: { customType: "reflex", content, display: true } } : undefined;
  });
  for (const name of ["tool_result", "session_start", "session_shutdown"]) {
    pi.on(name, (event, ctx) => {
      tell("pi", name, { event: name, ...context(ctx), payload: event });
    });
  }
}
