"""What a plugin may do: what is enough, what goes beyond, and what an answer may change."""

from __future__ import annotations

from typing import Any

import pytest

from samuel.events import BeforeAgentInvoke, QualityCheck, Sandbox
from samuel.hooks.capability import NOTHING, Capabilities, beyond, binding_refusal, covers, overreach

WALLED = Sandbox(kind="oci", image="a", network=False, volumes=["/a:/a"])


@pytest.mark.parametrize(
    ("granted", "path", "answer"),
    [
        ((".",), "anything/at/all", True),
        (("docs/",), "docs", True),
        (("docs/",), "docs/a/b.md", True),
        (("docs",), "docs/a.md", True),
        (("docs",), "docs2/a.md", False),
        (("docs/a.md",), "docs/a.md", True),
        (("docs/a.md",), "docs", False),
        (("docs",), ".", False),
        ((), "docs", False),
    ],
)
def test_a_path_is_covered_by_itself_and_what_is_above_it(
    granted: tuple[str, ...], path: str, answer: bool
) -> None:
    assert covers(granted, path) is answer


@pytest.mark.parametrize(
    ("asked", "granted", "missing"),
    [
        (Capabilities(), Capabilities(), []),
        (Capabilities(read=("src",)), Capabilities(write=("src",)), []),
        (Capabilities(write=("src",)), Capabilities(read=(".",)), ["filesystem.write: src"]),
        (Capabilities(exec=True), Capabilities(), ["exec: yes"]),
        (Capabilities(network=True), Capabilities(network=("a.org",)), ["network: yes"]),
        (Capabilities(network=("a.org", "b.org")), Capabilities(network=("a.org",)), ["network: b.org"]),
        (Capabilities(network=("a.org",)), Capabilities(network=True), []),
        (Capabilities(env=("A", "B")), Capabilities(env=("B",)), ["env: A"]),
    ],
)
def test_what_goes_beyond_a_grant_is_named(asked: Capabilities, granted: Capabilities, missing: list[str]) -> None:
    assert beyond(asked, granted) == missing


def test_answering_to_the_agent_call_needs_exec() -> None:
    assert "exec" in binding_refusal("agent.invoke", NOTHING)
    assert binding_refusal("agent.invoke", Capabilities(exec=True)) == ""
    assert binding_refusal("quality.check", NOTHING) == ""


BAD: list[dict[str, Any]] = [
    {"agent": "other"},
    {"env": {"A": "1", "LD_PRELOAD": "/evil.so"}},
    {"env": {"A": "1", "PATH": "/evil"}},
    {"env": {"A": "1", "PYTHONPATH": "/evil"}},
    {"env": {"A": "1", "NODE_OPTIONS": "--require /evil"}},
    {"env": {"A": "1", "SAMUEL_ALLOWED_TOOLS": "Bash"}},
    {"env": {"A": "1", "GIT_SSH_COMMAND": "evil"}},
    {"sandbox": {"kind": "host"}},
    {"sandbox": {"kind": "bwrap", "network": False}},
    {"sandbox": {"kind": "nonsense"}},
    {"sandbox": {"kind": "oci", "image": "a", "network": True}},
    {"sandbox": {"kind": "oci", "image": "a"}},  # what is left out has its default, and that is a network
    {"sandbox": {"kind": "oci", "image": "evil", "network": False}},
    {"sandbox": {"kind": "oci", "image": "a", "network": False, "volumes": ["/a:/a", "/:/host"]}},
    {"sandbox": {"kind": "oci", "image": "a", "network": False, "volumes": []}},  # it may have covered something
]
FINE: list[dict[str, Any]] = [
    {},
    {"prompt": "more"},
    {"agent": "claude"},
    {"env": {"A": "1"}},
    {"sandbox": {"kind": "oci", "image": "a", "network": False, "volumes": ["/a:/a"]}},
]


@pytest.mark.parametrize("result", BAD)
def test_without_exec_nothing_that_decides_which_code_runs_can_be_changed(result: dict[str, Any]) -> None:
    event = BeforeAgentInvoke(agent="claude", env={"A": "1"}, sandbox=WALLED)
    assert "`exec` is not granted" in overreach(event, result, NOTHING)
    assert overreach(event, result, Capabilities(exec=True)) == ""


@pytest.mark.parametrize("result", FINE)
def test_the_rest_can(result: dict[str, Any]) -> None:
    event = BeforeAgentInvoke(agent="claude", env={"A": "1"}, sandbox=WALLED)
    assert overreach(event, result, NOTHING) == ""


SHOWN = {"KEY": "$KEY", "FROM_A_HOOK": "1", "SAMUEL_RUN_ID": "run_1"}


@pytest.mark.parametrize("grants", [NOTHING, Capabilities(exec=True), Capabilities(env=("TOK",))])
@pytest.mark.parametrize("name", ["TOK", "KEY", "FROM_A_HOOK"])
def test_a_reference_to_a_variable_of_the_host_needs_env_for_that_variable(
    grants: Capabilities, name: str
) -> None:
    event = BeforeAgentInvoke(agent="claude", env=SHOWN)
    refusal = overreach(event, {"env": {**SHOWN, name: "$SECRET"}}, grants)
    assert refusal == "it passes on the host's `SECRET`, and the capability `env` does not name it"
    assert overreach(event, {"env": {**SHOWN, name: "$SECRET"}}, Capabilities(env=("SECRET",))) == ""


def test_a_reference_that_was_there_is_not_one_to_hand_on_under_another_name() -> None:
    event = BeforeAgentInvoke(agent="claude", env=SHOWN)
    assert "host's `KEY`" in overreach(event, {"env": {**SHOWN, "OTHER": "$KEY"}}, NOTHING)


@pytest.mark.parametrize("name", ["ANTHROPIC_BASE_URL", "HTTPS_PROXY", "PIP_INDEX_URL", "SSH_AUTH_SOCK", "ANY"])
def test_a_variable_of_the_agent_is_set_only_by_name(name: str) -> None:
    event = BeforeAgentInvoke(agent="claude", env=SHOWN)
    change = {"env": {**SHOWN, name: "http://evil.example"}}
    assert f"sets the agent's `{name}`" in overreach(event, change, NOTHING)
    assert overreach(event, change, Capabilities(env=(name,))) == ""
    assert overreach(event, change, Capabilities(exec=True)) == ""


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "PAGER", "NPM_CONFIG_SCRIPT_SHELL", "SAMUEL_MODE"])
def test_a_name_in_env_is_not_enough_where_it_decides_which_code_runs(name: str) -> None:
    event = BeforeAgentInvoke(agent="claude", env=SHOWN)
    assert "`exec` is not granted" in overreach(event, {"env": {**SHOWN, name: "x"}}, Capabilities(env=(name,)))


def test_a_variable_that_somebody_else_set_is_not_to_be_dropped() -> None:
    event = BeforeAgentInvoke(agent="claude", env=SHOWN)
    assert "drops the agent's `FROM_A_HOOK`" in overreach(event, {"env": {}}, NOTHING)
    # What the agent gets anyway may be left out: no answer can take it away.
    assert overreach(event, {"env": {"FROM_A_HOOK": "1"}}, NOTHING) == ""


@pytest.mark.parametrize("value", ["x$SECRET", "${SECRET}", "$SECRET ", "$$SECRET", "$1"])
def test_what_is_not_resolved_is_a_plain_value(value: str) -> None:
    event = BeforeAgentInvoke(agent="claude", env=SHOWN)
    assert overreach(event, {"env": {**SHOWN, "TOK": value}}, Capabilities(env=("TOK",))) == ""


def test_an_image_of_its_own_choice_is_another_program() -> None:
    for kind in ("host", "bwrap"):
        event = BeforeAgentInvoke(agent="claude", sandbox=Sandbox(kind=kind))
        change = {"sandbox": {"kind": "oci", "image": "evil"}}
        assert "loosens `sandbox`" in overreach(event, change, NOTHING)


def test_tightening_the_sandbox_needs_no_capability() -> None:
    event = BeforeAgentInvoke(agent="claude", sandbox=Sandbox(kind="host", network=True))
    assert overreach(event, {"sandbox": {"kind": "bwrap", "network": False}}, NOTHING) == ""


def test_dropping_a_loader_variable_counts_as_changing_it() -> None:
    event = BeforeAgentInvoke(agent="claude", env={"PATH": "/safe"})
    assert "PATH" in overreach(event, {"env": {}}, NOTHING)


def test_other_events_have_nothing_of_the_kind() -> None:
    assert overreach(QualityCheck(commands=[]), {"agent": "other"}, NOTHING) == ""
