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

// What the model says in the step that it is in, by session. Its tools run before its text is complete or on disk,
// so it is put together from the bus, whose events come in order. A daemon cuts it further, once secrets are masked.
const WORDS_MAX = 10000;
const SESSIONS_MAX = 64;
const steps = new Map();

function hear(type, { sessionID, part, partID, field, delta }) {
  const step = steps.get(part ? part.sessionID : sessionID);
  if (type === "message.part.updated" && part.type === "step-start") {
    if (steps.size >= SESSIONS_MAX) steps.clear();
    steps.set(part.sessionID, { id: "", words: "" });
  } else if (step && type === "message.part.updated" && part.type === "text" && part.text === "") {
    step.id = part.id;
    step.words = "";
  } else if (step && type === "message.part.delta" && field === "text" && partID === step.id) {
    step.words = (step.words + delta).slice(0, WORDS_MAX);
  }
}

function intent(sessionID) {
  const step = steps.get(sessionID);
  return step ? step.words : "";
}

export const ReflexPlugin = async ({ directory, worktree }) => {
  const place = { directory: String(directory || ""), worktree: String(worktree || "") };
  return {
    config: async (config) => liftGuard(config),
    "tool.execute.before": async (input, output) => {
      const why = await refusal("opencode", "tool.execute.before", { event: "tool.execute.before", ...place, input, output, intent: intent(input.sessionID) });
      if (why) throw new Error(why);
    },
    "tool.execute.after": async (input, output) => {
      tell("opencode", "tool.execute.after", { event: "tool.execute.after", ...place, input, output });
    },
    "chat.message": async (input, output) => {
      steps.delete(input.sessionID);
      // Waited for: opencode is busy for seconds with a session's first prompt, and one not yet sent is lost then.
      const text = await added("opencode", "chat.message", { event: "chat.message", ...place, input, output });
      const last = text && output.parts && output.parts[output.parts.length - 1];
      // opencode keeps parts by their ids, in the ids' order.
      if (last) output.parts.push({ id: last.id + "z", sessionID: last.sessionID, messageID: last.messageID, type: "text", text, synthetic: true });
    },
    event: async ({ event }) => {
      if (event.type === "session.created") tell("opencode", event.type, { event: event.type, ...place, properties: event.properties });
      else if (event.type.startsWith("message.part.")) hear(event.type, event.properties);
    },
  };
};
