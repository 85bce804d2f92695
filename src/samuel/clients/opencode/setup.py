"""The half of the plugin that opencode 2 loads, written from its documentation and its source.

opencode 1 takes `server` of the default export, opencode 2 `setup`, so the version that runs chooses. Samuel is
told the same either way: what opencode 2 calls otherwise has opencode 1's names on the way to Samuel and back.
"""

from __future__ import annotations

SETUP = """
const FILES = ["edit", "read", "write"] // opencode 2 has the file in `path`
const ENDED = ["succeeded", "failed", "interrupted"].map((end) => `session.execution.${end}`)

function oldNames(tool, input) {
  if (!FILES.includes(tool) || typeof input?.path !== "string") return input
  const { path, ...others } = input
  return { ...others, filePath: path }
}

function newNames(tool, input, original) {
  if (original === oldNames(tool, original) || typeof input?.filePath !== "string") return input
  const { filePath, ...others } = input
  return { ...others, path: filePath }
}

function textOf(result) {
  const content = result?.content ?? result?.output?.output ?? ""
  if (typeof content === "string") return content
  return content.map((part) => part.text ?? "").join("\\n")
}

function call(event) {
  const args = oldNames(event.tool, event.input)
  return { tool: event.tool, sessionID: event.sessionID, callID: event.id, args }
}

async function before(event, directory) {
  const { args, ...input } = call(event)
  const answer = await ask("tool.execute.before", directory, { input, output: { args } })
  if (answer.args) event.input = newNames(event.tool, answer.args, event.input)
}

async function after(event, directory) {
  const { status, error, result } = event
  const failed = status === "error"
  const metadata = failed ? { error: true } : { ...result?.output, ...result?.metadata }
  const told = { output: failed ? String(error?.message ?? "") : textOf(result), metadata }
  const answer = await ask("tool.execute.after", directory, { input: call(event), output: told })
  if (typeof answer.output !== "string" || failed) return
  const output = result?.output
  const replaced = typeof output?.output === "string" ? { output: { ...output, output: answer.output } } : {}
  event.result = { ...result, ...replaced, content: answer.output }
}

async function prompted(event, directory) {
  const parts = [{ type: "text", text: event.prompt?.text ?? "" }]
  const input = { sessionID: event.sessionID }
  const answer = await ask("chat.message", directory, { input, output: { parts } })
  if (answer.context && event.prompt) event.prompt.text += `\\n\\n${answer.context}`
}

async function follow(events, directory) {
  for await (const event of events) {
    const place = event.location?.directory
    if (place && place !== directory) continue // a server of opencode 2 has sessions of several projects
    const type = ENDED.includes(event.type) ? "session.idle" : event.type
    if (!["session.created", "session.idle", "session.deleted"].includes(type)) continue
    if (type === "session.idle" && event.type === type) continue // told as the end of an execution, too
    const data = event.data ?? event.properties ?? {}
    await ask(type, directory, { input: { type, properties: { sessionID: data.sessionID ?? data.info?.id } } })
  }
}

async function setup(ctx) {
  const directory = ctx.location?.directory ?? process.cwd()
  const at = (handle) => (event) => handle(event, directory)
  await ctx.tool.hook("execute.before", at(before))
  if (EVENTS.includes("tool.execute.after")) await ctx.tool.hook("execute.after", at(after))
  if (EVENTS.includes("chat.message")) await ctx.session.hook("prompt", at(prompted))
  const follows = EVENTS.some((event) => event.startsWith("session."))
  if (follows) follow(ctx.event.subscribe(), directory).catch(() => {})
}

export default { id: "samuel", server: Samuel, setup }
"""
