"""mini-swe-agent, of the SWE-bench team. It takes a prompt only as an argument."""

from __future__ import annotations

from samuel.agents.agent import PROMPT, USAGE_FILE, Agent, AgentHome
from samuel.agents.provider_keys import PROVIDER_KEYS, READ_PROMPT_FILE
from samuel.agents.stream import PlainStream


class MiniStream(PlainStream):
    """Text."""


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
    stream=MiniStream,
)
