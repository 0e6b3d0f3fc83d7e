// reflex-shim @VERSION@ (installed by `reflexctl setup`; `reflexctl uninstall` takes it out)
//
// Asks reflexd before every tool call of opencode. What holds: a tool runs only after a complete
// answer that says so; anything else throws, which is opencode's way to block. What is not covered:
// opencode runs its tools unguarded where this file does not load or --pure is given; the guard in
// opencode.json (see config below) closes that. A file with an export that is no function is dropped.
import fs from "node:fs";
import net from "node:net";

/*@FRAME@*/

const GUARD = "@OPENCODE_GUARD@";

// Setup puts GUARD into the user's opencode.json: every tool denied. Only a loaded plugin takes it out
// again, so an opencode that could not load this file refuses its tools instead of running them.
function liftGuard(config) {
  for (const [key, value] of Object.entries(GUARD)) {
    if (config.permission && config.permission[key] === value) delete config.permission[key];
  }
}

export const ReflexPlugin = async ({ directory, worktree }) => {
  const place = { directory: String(directory || ""), worktree: String(worktree || "") };
  return {
    config: async (config) => liftGuard(config),
    "tool.execute.before": async (input, output) => {
      const why = await refusal("opencode", "tool.execute.before", { event: "tool.execute.before", ...place, input, output });
      if (why) throw new Error(why);
    },
    "tool.execute.after": async (input, output) => tell("opencode", "tool.execute.after", { event: "tool.execute.after", ...place, input, output }),
    "chat.message": async (input, output) => tell("opencode", "chat.message", { event: "chat.message", ...place, input, output }),
    event: async ({ event }) => {
      if (event && event.type === "session.created") tell("opencode", event.type, { event: event.type, ...place, properties: event.properties });
    },
  };
};
