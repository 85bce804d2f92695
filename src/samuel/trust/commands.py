"""The command lines in samuel.toml: executable text that may have come with a clone."""

from __future__ import annotations

from samuel.config.model import AgentSettings, Config, Methodology
from samuel.trust.content import digest_text

Text = tuple[str, str, str]  # name, digest, content


def quality(methodology: Methodology) -> Text | None:
    """The checks of a methodology, all together: their order is part of what they do."""
    if not methodology.quality_checks:
        return None
    return _text(f"checks:{methodology.name}", "".join(f"{command}\n" for command in methodology.quality_checks))


def agent(settings: AgentSettings) -> Text:
    words = " ".join(repr(word) for word in settings.command)
    passed = f"receives {', '.join(settings.env)}\n" if settings.env else ""
    return _text(f"agent:{settings.name}", f"{words}\n{passed}")


def texts(config: Config) -> list[Text]:
    """Everything in a configuration that somebody must agree to before it runs."""
    checks = (quality(methodology) for methodology in config.methodology.values())
    return [*(text for text in checks if text), *(agent(settings) for settings in config.agents.values())]


def _text(name: str, content: str) -> Text:
    return name, digest_text(content), content
