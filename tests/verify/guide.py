"""What docs/how-to/receipts.md tells its readers to type, so that tests can do it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

PAGE = Path(__file__).parents[2] / "docs/how-to/receipts.md"


def blocks(heading: str, language: str = "sh") -> list[str]:
    """The code blocks of a section, in their order."""
    section = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}[^\n]*\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def workflow() -> dict[str, Any]:
    """The job of the workflow that verifies a pull request."""
    (text,) = blocks("Refuse a pull request without receipts", "yaml")
    job: dict[str, Any] = yaml.safe_load(text)["jobs"]["verify"]
    return job
