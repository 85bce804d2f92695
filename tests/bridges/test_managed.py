"""Hooks that an administrator installed for all users of a machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from samuel.bridges.check import check
from samuel.bridges.files import BridgeContext
from samuel.bridges.managed import managed_hooks

CLIENTS = ("claude", "copilot")


def install(context: BridgeContext, client: str) -> Path:
    hooks = managed_hooks(client, context.system)
    hooks.file.parent.mkdir(parents=True)
    hooks.file.write_text(hooks.text)
    return hooks.file


@pytest.mark.parametrize("client", CLIENTS)
def test_check_takes_the_hooks_of_an_administrator_for_hooks_that_ask_samuel(
    context: BridgeContext, client: str
) -> None:
    assert not check(context, client).ok
    install(context, client)
    checked = check(context, client)
    assert checked.managed
    assert checked.problems == ()


@pytest.mark.parametrize("client", CLIENTS)
def test_check_misses_an_event_in_the_file_of_an_administrator(context: BridgeContext, client: str) -> None:
    file = install(context, client)
    settings = json.loads(file.read_text())
    settings["hooks"].popitem()
    file.write_text(json.dumps(settings))
    assert not check(context, client).managed


def test_a_hook_of_an_administrator_names_the_administrator_when_it_denies(context: BridgeContext) -> None:
    text = managed_hooks("claude", context.system).text
    assert "Ask the administrator of this machine to install Samuel again" in text
    assert "samuel bridge add --user" not in text
