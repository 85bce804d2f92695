"""`--grant`: the capabilities of a plugin without a manifest, given by the user, like `env=TOKEN`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from samuel.base.errors import UsageError
from samuel.config.reader import ProblemReport
from samuel.files.toml.lines import TomlLines
from samuel.hooks.capability import ENV, EXEC, NETWORK, READ, WRITE, Capabilities
from samuel.plugins import manifest_capabilities
from samuel.plugins.model import SKILL

LISTED, PLAIN = (READ, WRITE, ENV), (EXEC, NETWORK)


def granted(texts: Sequence[str]) -> Capabilities:
    """The capabilities, under the same rules as in a manifest. Raises UsageError or ConfigError."""
    listed: dict[str, list[str]] = {}
    plain: dict[str, bool] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name in PLAIN and not equals:
            plain[name] = True
        elif name in LISTED and value:
            listed.setdefault(name, []).extend(value.split(","))
        else:
            valid = [*(f"`{name}=VALUE`" for name in LISTED), *(f"`{name}`" for name in PLAIN)]
            raise UsageError(f"`--grant {text}` is not a capability", f"use one of {', '.join(valid)}")
    report = ProblemReport(Path("--grant"), TomlLines(""))
    capabilities = manifest_capabilities.read(report.read({**listed, **plain}), SKILL)
    report.finish()
    return capabilities
