"""Hooks that a project or its user has for agents: `.claude/settings.json`, `.codex/hooks.json`, and so on."""
