"""Gemini CLI, by Google."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain, dropwhile

from samuel.agents.agent import Agent, AgentHome, AgentUsage
from samuel.agents.report import count, objects, table, tally

_LONGEST = 16 * 1024 * 1024  # bytes of a report that is one document


def usage(lines: Iterable[bytes]) -> AgentUsage:
    """From `stream-json` a `result` line; from `json` one document over many lines, after a greeting."""
    rest = dropwhile(lambda line: not line.startswith(b"{"), lines)
    first = next(iter(rest), b"")
    if first.strip() == b"{":
        return _of_document(_head(chain([first], rest)))
    usage: AgentUsage = {}
    for result in objects(chain([first], rest), "result"):
        stats = table(result.get("stats"))
        usage = tally([(stats.get("input_tokens"), stats.get("output_tokens"), stats.get("cached"))])
    return usage


def _of_document(document: bytes) -> AgentUsage:
    try:
        models = table(table(table(json.loads(document)).get("stats")).get("models"))
    except (ValueError, RecursionError):
        return {}
    tokens = [table(table(model).get("tokens")) for model in models.values()]
    return tally(
        (each.get("prompt"), count(each.get("candidates")) + count(each.get("thoughts")), each.get("cached"))
        for each in tokens
    )


def _head(lines: Iterable[bytes]) -> bytes:
    document = bytearray()
    for line in lines:
        document += line
        if len(document) > _LONGEST:
            break
    return bytes(document)


AGENT = Agent(
    name="gemini",
    # Without --skip-trust, `yolo` asks again in a folder that was not trusted interactively.
    command=("gemini", "--approval-mode", "yolo", "--skip-trust", "-o", "stream-json"),
    env=(
        *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_MODEL", "GOOGLE_GEMINI_BASE_URL"),
        *("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
        *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_APPLICATION_CREDENTIALS"),
    ),
    homes=(
        AgentHome(
            "", ".gemini", ("settings.json", "oauth_creds.json", "google_accounts.json", ".env", "GEMINI.md")
        ),
    ),
    version=("gemini", "--version"),
    install="npm install -g @google/gemini-cli",
    checked="0.61.0",
    usage=usage,
)
