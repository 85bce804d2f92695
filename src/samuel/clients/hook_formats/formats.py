"""The formats of agents' hooks that Samuel can run, by the name of the agent."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.clients.claude.hook_format import CLAUDE, CODEX
from samuel.clients.cursor.hook_format import CURSOR
from samuel.clients.hook_formats.hook_format import HookFormat

FORMATS: Mapping[str, HookFormat] = {hook_format.client: hook_format for hook_format in (CLAUDE, CODEX, CURSOR)}
