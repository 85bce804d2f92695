"""mini-swe-agent, of the SWE-bench team. It takes a prompt only as an argument."""

from __future__ import annotations

import re
from typing import Any

from samuel.clients.adapter.agent import PROMPT, PROVIDER_KEYS, READ_PROMPT_FILE, USAGE_FILE, Agent, AgentHome
from samuel.clients.adapter.counts import table, tables, tally
from samuel.clients.adapter.stream import JsonStream
from samuel.clients.adapter.trouble import litellm_problem

_SUBMITTED = "Submitted"
_STEP = re.compile(rb"mini-swe-agent \(step \d+, ")
_RETRY = re.compile(r"Retrying \S+ in [\d.]+ seconds as it raised (?:litellm\.)?(?P<error>\w+): (?P<message>.*)")


class MiniStream(JsonStream):
    """Text, and its trajectory at the end: all messages with the counts of each answer, and how it ended."""

    def feed(self, line: bytes) -> None:
        if _STEP.match(line):
            self.problem = None  # it got an answer
        super().feed(line)

    def feed_error(self, line: bytes) -> None:
        """It tries again for minutes; a line on stderr says why."""
        if retry := _RETRY.match(line.decode("utf-8", "replace")):
            self.problem = litellm_problem(retry["error"], retry["message"], self.now())

    def read(self, record: dict[str, Any]) -> None:
        if not str(record.get("trajectory_format")).startswith("mini-swe-agent"):
            return
        info, messages = table(record.get("info")), tables(record.get("messages"))
        self.usage = tally(map(_counts, messages), table(info.get("model_stats")).get("instance_cost"))
        status = info.get("exit_status")
        if status == _SUBMITTED:
            self.problem = None
        elif isinstance(status, str) and status:
            self.problem = litellm_problem(status, messages[-1].get("content") if messages else "", self.now())


def _counts(message: dict[str, Any]) -> tuple[object, object, object]:
    usage = table(table(table(message.get("extra")).get("response")).get("usage"))
    cached = table(usage.get("prompt_tokens_details")).get("cached_tokens")
    return usage.get("prompt_tokens"), usage.get("completion_tokens"), cached


AGENT = Agent(
    name="mini-swe-agent",
    command=("mini", "--yolo", "--exit-immediately", "-o", USAGE_FILE, "-t", PROMPT),
    prompt="argument",
    long_prompt=READ_PROMPT_FILE,
    usage_file=True,
    env=(*PROVIDER_KEYS, "MSWEA_MODEL_NAME", "MSWEA_GLOBAL_CONFIG_DIR", "MSWEA_COST_TRACKING", "OPENAI_API_BASE"),
    variables={"MSWEA_CONFIGURED": "true", "MSWEA_SILENT_STARTUP": "1"},
    homes=(AgentHome("MSWEA_GLOBAL_CONFIG_DIR", ".config/mini-swe-agent", (".env",)),),
    version=("mini", "--help"),  # it has no other option that prints it
    install="python -m pip install mini-swe-agent",
    checked="2.4.6",
    stream=MiniStream,
)
