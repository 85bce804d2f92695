"""`samuel bridge check --live`: whether a client's tool calls reach Samuel, proved by running the client."""

from __future__ import annotations

from typing import Any

import pytest
from tests.length import at_length
from tests.live.conftest import LiveProject
from tests.live.trust import trust_hooks

USER_ONLY = ("kimi",)  # they have no hooks of a project
ENDS_ON_DENIAL = ("cline",)  # a denial ends the run, so the model is never told


def connect(live: LiveProject, client: str) -> None:
    live.samuel("bridge", "add", "--user" if client in USER_ONLY else "--project", client)


def proof(live: LiveProject, client: str) -> dict[str, Any]:
    (checked,) = live.answer("bridge", "check", "--live", client)
    assert isinstance(checked["live"], dict), checked
    return checked["live"]


@pytest.mark.live
@pytest.mark.slow
def test_a_client_with_trusted_hooks_is_ok(live: LiveProject, client: str) -> None:
    connect(live, client)
    trust_hooks(live, client)
    checked = proof(live, client)
    assert checked["verdict"] == "ok", checked
    assert checked["reason_told"] is (client not in ENDS_ON_DENIAL)
    assert checked["version"]
    what = [finding["what"] for finding in live.answer("doctor")["findings"]]
    assert [line for line in what if line.startswith(f"live check of {client} {checked['version']} ")]


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("client", at_length(["codex"], ["codex", "copilot"]), indirect=True)
def test_hooks_that_the_client_does_not_trust_are_drift(live: LiveProject, client: str) -> None:
    connect(live, client)
    checked = proof(live, client)
    assert checked["verdict"] == "drift", checked
    assert live.answer("bridge", "check", client)[0]["trust"] == {"project": "untrusted"}


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("client", at_length([], ["gemini"]), indirect=True)
def test_a_client_that_refuses_an_untrusted_folder_proves_nothing(live: LiveProject, client: str) -> None:
    connect(live, client)
    checked = proof(live, client)
    assert checked["verdict"] == "inconclusive", checked
    assert "trust" in checked["why"]


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("client", at_length([], ["claude"]), indirect=True)
def test_hooks_that_are_switched_off_are_drift(live: LiveProject, client: str) -> None:
    connect(live, client)
    live.write(".claude/settings.local.json", '{"disableAllHooks": true}')
    assert proof(live, client)["verdict"] == "drift"
