"""The entries of Codex's hooks: as those of Claude Code."""

from __future__ import annotations

from samuel.clients.claude.hook_entries import read_entries

__all__ = ["read_entries"]
