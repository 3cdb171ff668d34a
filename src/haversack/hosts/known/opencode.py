"""opencode."""

from haversack.hosts.host import Host, ServerEntry, Transcripts

SCRIPT = """// Written by `haversack install opencode`; `haversack uninstall opencode` removes it.
import { spawnSync } from "node:child_process"

const COMMAND = {command}

function hook(event, payload) {
  try {
    const run = spawnSync(COMMAND, ["hook", event, "--client", "opencode"], {
      input: JSON.stringify(payload), encoding: "utf8", timeout: 10000,
    })
    return run.stdout ? JSON.parse(run.stdout).additionalContext || "" : ""
  } catch {
    return ""
  }
}

export const Haversack = async ({ directory }) => {
  const started = new Map()
  const recalled = new Map()
  const answers = new Map()
  const said = new Map()
  const summaries = new Map()
  const base = (id) => ({ session_id: id, cwd: directory })
  const start = (id, source) => {
    if (source === "compact" || !started.has(id)) started.set(id, hook("session-start", { ...base(id), source }))
  }
  return {
    event: async ({ event }) => {
      const { info, part } = event.properties || {}
      if (event.type === "message.updated" && info?.role === "assistant") {
        answers.set(info.id, info.summary ? summaries : said)
        const { input, output, reasoning, cache } = info.tokens || {}
        if (info.time?.completed && input && !said.has(info.id + "/usage")) {
          said.set(info.id + "/usage", true)
          const held = input + (cache?.read || 0) + (cache?.write || 0)
          const token_usage = { input_tokens: held, total_tokens: held + output + (reasoning || 0) }
          hook("usage", { ...base(info.sessionID), token_usage })
        }
      }
      if (event.type === "message.part.updated" && part?.type === "text" && answers.has(part.messageID)) {
        answers.get(part.messageID).set(part.sessionID, part.text)
      }
      const id = event.properties?.sessionID || info?.id
      if (!id) return
      if (event.type === "session.idle") {
        hook("stop", { ...base(id), last_assistant_message: said.get(id) || "" })
      }
      if (event.type === "session.compacted") {
        hook("after-compact", { ...base(id), compact_summary: summaries.get(id) || "" })
        start(id, "compact")
      }
      if (event.type === "session.deleted") hook("session-end", base(id))
    },
    "chat.message": async (input, output) => {
      start(input.sessionID, "startup")
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      recalled.set(input.sessionID, hook("prompt", { ...base(input.sessionID), prompt: prompt.join("\\n") }))
    },
    "tool.execute.after": async (input, output) => {
      const used = { tool_name: input.tool, tool_input: input.args || output.args || {}, tool_response: output.output }
      hook("after-tool", { ...base(input.sessionID), ...used })
    },
    "experimental.chat.system.transform": async (input, output) => {
      for (const text of [started.get(input.sessionID), recalled.get(input.sessionID)]) {
        if (text) output.system.push(text)
      }
    },
  }
}
"""

HOST = Host(
    name="opencode",
    title="opencode",
    programs=("opencode",),
    folder="{user-settings}/opencode",
    server=ServerEntry(
        file="{folder}/opencode.jsonc",
        keys=("mcp", "haversack"),
        style="list",
        extra={"type": "local", "enabled": True},
        environment_key="environment",
    ),
    script="{folder}/plugins/haversack.js",
    output="additionalContext",
    transcripts=Transcripts("~/.local/share/opencode", "opencode.db", "opencode_store"),
)
