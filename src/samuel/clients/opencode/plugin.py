"""The plugin through which opencode asks Samuel. It runs inside opencode, and can change a tool's input.

It asks the server of the project itself, so that a call starts no process, and `samuel-emit` where that fails.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from string import Template

from samuel.clients.dialect.events import DENIABLE
from samuel.clients.entries.hook_command import TIMEOUT, EmitCommand
from samuel.clients.opencode.dialect import CLIENT
from samuel.clients.opencode.setup import SETUP
from samuel.process.emit_client import NATIVE_CLIENT

_PLUGIN = Template("""\
import { spawn } from "node:child_process"
import { connect } from "node:net"

const COMMAND = $command
const EVENTS = $events
const DENIABLE = $deniable
const TIMEOUT = $timeout
const REPLY = 2000 // for the server to take a call
const SILENCE = 10000 // for the server to begin with it

/** Run the command; what it exited with and wrote. */
function run(words, directory, input) {
  return new Promise((resolve, reject) => {
    const [program, ...first] = COMMAND
    const child = spawn(program, [...first, ...words], { cwd: directory })
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT)
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (data) => (stdout += data))
    child.stderr.on("data", (data) => (stderr += data))
    child.stdin.on("error", () => {})
    child.on("error", (error) => {
      clearTimeout(timer)
      reject(new Error(`$missing ($${error.message})`))
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ code, stdout, stderr })
    })
    child.stdin.end(input)
  })
}

/** Where the server of the project listens, as `samuel-emit` tells; null where none is to be asked. */
async function find(directory) {
  if (!$asks_server) return null
  const told = await run(["--socket"], directory, "").catch(() => ({ code: 1 }))
  const lines = told.code === 0 ? told.stdout.split("\\n") : []
  return lines.length === 6 ? lines.slice(0, 5) : null
}

function framed(data) {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(data.length)
  return Buffer.concat([size, data])
}

/** An answer of the server: an exit code, and what `samuel emit` would have written. */
function decoded(body) {
  const output = { 1: "", 2: "" }
  for (let at = 2; at < body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1)
    output[body[at]] += body.toString("utf8", at + 5, end)
    at = end
  }
  return { code: body[0], stdout: output[1], stderr: output[2] }
}

/**
 * Have the server answer, in the protocol of `samuel-emit`. Null: it did not, and called no handler.
 * When `samuel-emit` stops waiting for a server that has the payload, it can still tell so; here it is an error.
 */
function askServer([path, version, installation, cwd, proof], event, input) {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    let sent = false
    let unanswered = null
    let timer
    const socket = connect(path)
    const end = (settle) => {
      clearTimeout(timer)
      socket.destroy()
      settle()
    }
    const gone = () => end(() => resolve(unanswered))
    const wait = (milliseconds, late) => {
      clearTimeout(timer)
      timer = setTimeout(late, milliseconds)
    }
    const silent = () => end(() => reject(new Error("samuel serve took this call and does not answer")))
    const frame = (kind, body) => {
      if (kind === "A" && !sent) {
        sent = true
        wait(SILENCE, silent)
        socket.write(framed(Buffer.from(input)))
      } else if (kind === "F" && sent) {
        unanswered = decoded(body.subarray(4))
        wait(Math.min(body.readUInt32BE(0), TIMEOUT), gone)
      } else if (kind === "R" && sent) {
        end(() => resolve(decoded(body)))
      } else {
        gone()
      }
    }
    wait(REPLY, gone)
    socket.on("error", gone)
    socket.on("close", gone)
    socket.on("data", (data) => {
      received = Buffer.concat([received, data])
      try {
        while (received.length >= 5 && received.length >= 5 + received.readUInt32BE(1)) {
          const size = 5 + received.readUInt32BE(1)
          const message = received.subarray(0, size)
          received = received.subarray(size)
          frame(message.toString("latin1", 0, 1), message.subarray(5))
        }
      } catch {
        gone() // not the protocol
      }
    })
    const words = ["--as", "opencode", event]
    const variables = Object.entries(process.env).map(([name, value]) => `$${name}=$${value}`)
    const fields = ["samuel-emit 2", "emit", version, installation, cwd, proof]
    const header = [...fields, words.length, ...words, ...variables]
    socket.write(framed(Buffer.from(header.join("\\0"))))
  })
}

const places = new Map() // of the servers, by directory

async function answer(event, directory, payload) {
  const input = JSON.stringify(payload)
  const place = places.get(directory) ?? (await find(directory))
  const warm = place && (await askServer(place, event, input))
  if (warm) {
    places.set(directory, place)
    return warm
  }
  places.delete(directory) // samuel may have been updated: then the server listens elsewhere
  return await run(["--as", "opencode", event], directory, input)
}

/** The answer of `samuel emit --as opencode EVENT`. On an event that can be denied, every fault denies. */
async function ask(event, directory, payload) {
  if (!EVENTS.includes(event)) return {}
  try {
    const { code, stdout, stderr } = await answer(event, directory, payload)
    if (code === 2) throw new Error(stderr.trim() || "denied by samuel")
    if (code !== 0) throw new Error(`samuel failed, so this is denied. Run samuel doctor. $${stderr.trim()}`)
    const result = parsed(stdout)
    if (result.deny) throw new Error(result.deny)
    return result
  } catch (error) {
    if (DENIABLE.includes(event)) throw error
    return {}
  }
}

function parsed(text) {
  try {
    return text.trim() ? JSON.parse(text) : {}
  } catch (error) {
    throw new Error(`samuel gave an answer that is not JSON: $${error.message}`)
  }
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
    await ask(event.type, directory, { input: event })
  },
})
""")


def plugin_text(
    command: EmitCommand,
    events: Sequence[str] = tuple(CLIENT.events),
    *,
    asks_project_server: bool = True,
) -> str:
    """The plugin as JavaScript. It passes on these events."""
    missing = (
        "samuel is not on PATH: install it, then try again" if command.on_path else "samuel was moved or removed"
    )
    text = _PLUGIN.substitute(
        command=json.dumps(list(command.words)),
        events=json.dumps(list(events)),
        deniable=json.dumps([event for event in events if CLIENT.events[event] in DENIABLE]),
        timeout=TIMEOUT * 1000,
        missing=missing,
        asks_server=json.dumps(asks_project_server and Path(command.words[-1]).name == NATIVE_CLIENT),
    )
    return text + SETUP
