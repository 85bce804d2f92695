"""Kiro CLI, by Amazon. With an argument it ignores stdin, so there is none; its output has no count of tokens."""

from __future__ import annotations

from samuel.clients.adapter.agent import Agent

AGENT = Agent(
    name="kiro",
    command=("kiro-cli", "chat", "--no-interactive", "--trust-all-tools"),
    env=("KIRO_API_KEY",),
    version=("kiro-cli", "--version"),
    install="curl -fsSL https://cli.kiro.dev/install | bash",
    # Nothing is checked: it is not on npm. As documented on kiro.dev/docs/cli/headless for 2.x and 3.0.
)
