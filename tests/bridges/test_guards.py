"""Which guards an agent cannot honour, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from samuel.bridges.guards import LostGuard, lost_guards
from samuel.clients.adapter.agent import Agent
from samuel.clients.table import AGENTS
from samuel.events.catalogue import BY_NAME
from samuel.events.names import INSIDE_AGENT
from samuel.hooks.handler import Handler, HandlerMode, Origin, Role
from samuel.hooks.order import Chain, ChainStep

CLAUDE = AGENTS["claude"]


def lost(
    agent: Agent, sandbox: str = "host", mode: HandlerMode = HandlerMode.ENFORCE, **fields: Any
) -> list[LostGuard]:
    """What is lost of one handler, of PreAbilityCall if `fields` name no event."""
    options = {"event": "PreAbilityCall", "origin": Origin.PROJECT, "role": Role.GUARD, **fields}
    handler = Handler(name="guard", runtime="exec", **options)
    step = ChainStep(handler, None, True, 30.0, "", mode)
    chains = {name: Chain(BY_NAME[name], ()) for name in INSIDE_AGENT}
    return lost_guards({**chains, handler.event: Chain(BY_NAME[handler.event], (step,))}, agent, sandbox)


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "qwen", "copilot", "opencode", "kimi", "cline"])
@pytest.mark.parametrize("sandbox", ["host", "bwrap"])
def test_clients_with_hooks_honour_a_guard(name: str, sandbox: str) -> None:
    assert lost(AGENTS[name], sandbox) == []


@pytest.mark.parametrize(
    ("agent", "sandbox", "fields", "why"),
    [
        (CLAUDE, "oci", {}, "in a container"),
        (AGENTS["kiro"], "host", {}, "knows no hooks of this program"),
        (AGENTS["kiro"], "host", {"role": None}, "knows no hooks of this program"),
        (CLAUDE, "host", {"origin": Origin.EMBEDDER}, "runs in the program that started the run"),
        (replace(CLAUDE, hooks="agy"), "host", {}, "no bridge to `agy`"),
    ],
)
def test_a_guard_that_cannot_hold_is_named_with_the_reason(
    agent: Agent, sandbox: str, fields: dict[str, Any], why: str
) -> None:
    (guard,) = lost(agent, sandbox, **fields)
    assert str(guard).startswith(f"the agent `{agent.name}` cannot honour the guard `guard` (PreAbilityCall): ")
    assert why in guard.why


def test_a_guard_of_the_user_is_their_own() -> None:
    (guard,) = lost(AGENTS["kiro"], origin=Origin.USER)
    assert guard.is_own


def test_observers_rewriters_and_observed_guards_are_no_guards() -> None:
    kiro = AGENTS["kiro"]
    assert lost(kiro, role=Role.OBSERVE) == lost(kiro, role=Role.REWRITE) == []
    assert lost(kiro, mode=HandlerMode.OBSERVE) == []


def test_the_stand_in_is_not_asked() -> None:
    assert lost(AGENTS["scripted"]) == []


@pytest.mark.parametrize("event", ["ConfigChange", "PreCompact"])
def test_an_agent_that_does_not_fire_an_event_loses_only_what_declares_to_guard_it(event: str) -> None:
    (guard,) = lost(AGENTS["gemini"], event=event)
    assert guard.why == "Gemini CLI does not report this event"
    assert lost(AGENTS["gemini"], event=event, role=None) == []
    assert lost(CLAUDE, event=event) == []
