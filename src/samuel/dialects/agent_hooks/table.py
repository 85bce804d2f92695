"""The formats of agents' hooks that Samuel can run, by the name of the agent."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.dialects.agent_hooks.claude import CLAUDE, CODEX
from samuel.dialects.agent_hooks.cursor import CURSOR
from samuel.dialects.agent_hooks.format import HookFormat

FORMATS: Mapping[str, HookFormat] = {hook_format.client: hook_format for hook_format in (CLAUDE, CODEX, CURSOR)}
