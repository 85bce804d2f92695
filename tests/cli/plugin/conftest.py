"""Repositories that `org/repo` means, and a plugin in one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Origin

HOOK = """#!/bin/sh
case $1 in
hook) echo quality.check ;;
run) echo '{"ok": true}' ;;
esac
"""
MANIFEST = """
name = "checks"
version = "{version}"
kind = "skill"
summary = "Looks at what was done"
license = "MIT"

[hooks]
"quality.check" = "scripts/check.sh"

[capabilities]
{capabilities}
"""
CHECK = "#!/bin/sh\ncat > /dev/null\necho '{\"ok\": true}'\n"


def manifest(version: str = "1.0.0", capabilities: str = '"filesystem.read" = ["."]\nenv = ["TOKEN"]') -> str:
    return MANIFEST.format(version=version, capabilities=capabilities)


@pytest.fixture(autouse=True)
def github(machine: Path, tmp_path: Path) -> None:
    text = f'[url "file://{tmp_path}/origins/"]\n\tinsteadOf = https://github.com/\n'
    (machine / ".gitconfig").write_text(text)


@pytest.fixture
def plain(origin: Callable[..., Origin]) -> Origin:
    """A plugin without a manifest."""
    return origin(
        "org/plain",
        {
            "hooks/one": HOOK,
            "hooks/two": HOOK,
            "hooks/helper.txt": "x",
            "skills/review/SKILL.md": "---\nname: review\ndescription: x\n---\n",
            "recipes/a/b.md": "x\n",
        },
    )


@pytest.fixture
def checks(origin: Callable[..., Origin]) -> Origin:
    """A plugin with one."""
    return origin("org/checks", {"scripts/check.sh": CHECK, "samuel-plugin.toml": manifest()})
