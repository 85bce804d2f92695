"""The plugin through which opencode asks Samuel. It runs inside opencode, and can change a tool's input."""

from __future__ import annotations

import json
from string import Template

from samuel.bridges.entries.hook_command import TIMEOUT, EmitCommand
from samuel.dialects.clients.client import DENIABLE
from samuel.dialects.clients.table import CLIENTS

CLIENT = "opencode"
# Hooks of a plugin by name; opencode tells all other events through one hook, `event`.
_NAMED = ("chat.message", "tool.execute.before", "tool.execute.after")

_PLUGIN = Template("""\
import { spawn } from "node:child_process"

const COMMAND = $command
const EVENTS = $events
const DENIABLE = $deniable
const TIMEOUT = $timeout

/** The answer of `samuel emit --as opencode EVENT`. On an event that can be denied, every fault denies. */
function ask(event, directory, payload) {
  const closed = DENIABLE.includes(event)
  return new Promise((resolve, reject) => {
    const fault = (reason) => (closed ? reject(new Error(reason)) : resolve({}))
    const [program, ...words] = COMMAND
    const child = spawn(program, [...words, "emit", "--as", "opencode", event], { cwd: directory })
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT)
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (data) => (stdout += data))
    child.stderr.on("data", (data) => (stderr += data))
    child.stdin.on("error", () => {})
    child.on("error", (error) => {
      clearTimeout(timer)
      fault(`$missing ($${error.message})`)
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code === 2) return fault(stderr.trim() || "denied by samuel")
      if (code !== 0) return fault(`samuel failed, so this is denied. Run samuel doctor. $${stderr.trim()}`)
      try {
        const answer = stdout.trim() ? JSON.parse(stdout) : {}
        if (answer.deny) return fault(answer.deny)
        resolve(answer)
      } catch (error) {
        fault(`samuel gave an answer that is not JSON: $${error.message}`)
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Samuel = async ({ directory }) => ({
  "chat.message": async (input, output) => {
    const answer = await ask("chat.message", directory, { input, output })
    const text = output.parts.find((part) => part.type === "text")
    if (answer.context && text) text.text += `\\n\\n$${answer.context}`
  },
  "tool.execute.before": async (input, output) => {
    const answer = await ask("tool.execute.before", directory, { input, output })
    if (!answer.args) return
    for (const key of Object.keys(output.args)) delete output.args[key]
    Object.assign(output.args, answer.args)
  },
  "tool.execute.after": async (input, output) => {
    const answer = await ask("tool.execute.after", directory, { input, output })
    if (typeof answer.output === "string") output.output = answer.output
  },
  event: async ({ event }) => {
    if (EVENTS.includes(event.type)) await ask(event.type, directory, { input: event })
  },
})
""")


def plugin_text(command: EmitCommand) -> str:
    """The plugin as JavaScript."""
    events = CLIENTS[CLIENT].events
    missing = (
        "samuel is not on PATH: install it, then try again" if command.on_path else "samuel was moved or removed"
    )
    return _PLUGIN.substitute(
        command=json.dumps(list(command.words)),
        events=json.dumps([event for event in events if event not in _NAMED]),
        deniable=json.dumps([event for event, ours in events.items() if ours in DENIABLE]),
        timeout=TIMEOUT * 1000,
        missing=missing,
    )
