from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

CONFIG = """\
[methodology.ralph]
agent = "mine"

[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"
unguarded = "accept"
"""
REVIEW = """\
---
name: Code review
description: Review a branch
arguments:
  branch: {description: What to review}
  base: {default: main}
  focus: {required: false}
allowed_tools: [Read]
model: large
---
Review {{ branch }} against {{.base}}.
"""


@pytest.fixture
def kitchen(put: Callable[..., Path]) -> Path:
    """A project with one recipe, and an agent that repeats what it is told. Nothing is trusted yet."""
    put("samuel.toml", CONFIG)
    put("agent.sh", "#!/bin/sh\ncat\necho x > made.txt\n", 0o755)
    return put(".samuel/recipes/review.md", REVIEW)
