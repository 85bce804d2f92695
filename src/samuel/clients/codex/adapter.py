"""Codex, by OpenAI."""

from __future__ import annotations

from typing import Any

from samuel.clients.adapter.agent import Agent, AgentHome
from samuel.clients.adapter.counts import added, table, tables, tally
from samuel.clients.adapter.stream import JsonStream
from samuel.clients.adapter.tool_words import action, command_words
from samuel.clients.adapter.trouble import reported


class CodexStream(JsonStream):
    """`codex exec --json`. A turn's input includes what came from the cache, its output the reasoning.

    A tool call has a number of the stream's own and not the id that hooks get; one that a hook denied is left out.
    """

    def read(self, record: dict[str, Any]) -> None:
        match record.get("type"):
            case "turn.completed":
                turn = table(record.get("usage"))
                counts = (turn.get("input_tokens"), turn.get("output_tokens"), turn.get("cached_input_tokens"))
                self.usage = added(self.usage, tally([counts]))
                self.problem = None
            case "turn.failed":
                error = table(record.get("error"))
                self.problem = reported(error.get("message"), self.now(), code=error.get("code"), details=error)
            case "error":  # also before each of its own attempts to connect again
                self.problem = reported(record.get("message"), self.now(), details=record)
            case "item.started" | "item.completed":
                self._item(table(record.get("item")))

    def _item(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        if kind != "error":  # a notice of the client; all others come of an answer
            self.problem = None
        match kind:
            case "agent_message":
                self.say(item.get("text"))
            case "command_execution":
                self.activity = command_words(item.get("command"))
                self._called(item, "Bash")
            case "file_change":
                paths = [
                    path for change in tables(item.get("changes")) if isinstance(path := change.get("path"), str)
                ]
                self.activity = action("edits", ", ".join(paths))
                self._called(item, "apply_patch")
            case "mcp_tool_call":
                self.activity = action("uses", str(item.get("tool") or "a tool"))
                self._called(item, f"mcp__{item.get('server')}__{item.get('tool')}")
            case "web_search":
                self.activity = action("searches the web for", str(item.get("query") or ""))
                self._called(item, "web_search")

    def _called(self, item: dict[str, Any], tool_name: str) -> None:
        """Count a call when its item is first reported; it is reported again when it has ended."""
        self.called("", tool_name, report=item.get("id"))


AGENT = Agent(
    name="codex",
    # A login shell would read /etc/profile, which resets PATH on Debian: `samuel` would not be found.
    command=(
        *("codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox"),
        *("-c", "allow_login_shell=false", "-"),
    ),
    env=("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_HOME"),
    homes=(AgentHome("CODEX_HOME", ".codex", ("auth.json", "config.toml", "AGENTS.md")),),
    version=("codex", "--version"),
    install="npm install -g @openai/codex",
    checked="0.169.0",
    stream=CodexStream,
    hooks="codex",
)
