"""The table of agents says which parts the directories have, and each part is what its agent is called."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import samuel.clients
from samuel.clients.table import (
    ADAPTER,
    AGENTS,
    CLIENTS,
    DIALECT,
    ENTRIES,
    HOOK_ENTRY,
    HOOK_FORMAT,
    HOOK_FORMATS,
    LAYOUTS,
    PARTS,
    RELAYED,
    RELAYED_CLIENTS,
    RUN_BRIDGE,
    RUN_BRIDGES,
)

DIRECTORY = Path(samuel.clients.__file__).parent
SHARED = {"adapter", "dialect", "entries", "hook_formats"}


@pytest.mark.parametrize("name", PARTS)
def test_the_table_lists_the_parts_that_the_directory_of_an_agent_has(name: str) -> None:
    directory = name.replace("-", "_")
    modules = {
        file.stem: f"samuel.clients.{directory}.{file.stem}" for file in (DIRECTORY / directory).glob("*.py")
    }
    parts = (ADAPTER, DIALECT, RELAYED, ENTRIES, RUN_BRIDGE, HOOK_FORMAT, HOOK_ENTRY)
    present = {part for part in parts if part[0] in modules and hasattr(import_module(modules[part[0]]), part[1])}
    assert present == set(PARTS[name])


def test_every_directory_of_an_agent_is_in_the_table() -> None:
    directories = {path.parent.name for path in DIRECTORY.glob("*/__init__.py")}
    assert directories - SHARED == {name.replace("-", "_") for name in PARTS}


def test_every_part_has_the_name_of_its_agent() -> None:
    assert {name: agent.name for name, agent in AGENTS.items()} == {name: name for name in AGENTS}
    assert {name: client.name for name, client in CLIENTS.items()} == {name: name for name in CLIENTS}
    assert all(client.name == name for name, client in RELAYED_CLIENTS.items())
    assert {name: each.client for name, each in HOOK_FORMATS.items()} == {name: name for name in HOOK_FORMATS}
    assert all(map(callable, RUN_BRIDGES.values()))


def test_an_agent_with_hooks_has_a_dialect_and_entries() -> None:
    assert set(LAYOUTS) == set(CLIENTS)
    assert set(RUN_BRIDGES) <= set(CLIENTS)
    assert {agent.hooks for agent in AGENTS.values() if agent.hooks} <= set(CLIENTS)


def test_an_agent_that_is_not_in_the_table_has_no_part() -> None:
    assert "goose" not in CLIENTS
    with pytest.raises(KeyError):
        CLIENTS["goose"]


def test_one_dialect_is_read_without_the_parts_of_other_agents() -> None:
    program = (
        "import sys\nfrom samuel.clients.table import CLIENTS\nCLIENTS['claude']\n"
        "print(*(name for name in sys.modules if name.startswith('samuel.clients.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[2] for name in done.stdout.split()}
    assert rooms == {"table", "claude", "dialect"}
