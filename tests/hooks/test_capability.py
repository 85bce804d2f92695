"""Capabilities of plugins: which grants cover a request, and which results need more than was granted."""

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
def test_a_granted_path_covers_itself_and_everything_below_it(
    granted: tuple[str, ...], path: str, answer: bool
) -> None:
    assert covers(granted, path) is answer


@pytest.mark.parametrize(
    ("requested", "granted", "missing"),
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
def test_beyond_lists_what_was_requested_and_not_granted(
    requested: Capabilities, granted: Capabilities, missing: list[str]
) -> None:
    assert beyond(requested, granted) == missing


def test_a_handler_of_agent_invoke_needs_exec() -> None:
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
    {"sandbox": {"kind": "oci", "image": "a"}},  # a field that is left out has its default: network
    {"sandbox": {"kind": "oci", "image": "evil", "network": False}},
    {"sandbox": {"kind": "oci", "image": "a", "network": False, "volumes": ["/a:/a", "/:/host"]}},
    {
        "sandbox": {"kind": "oci", "image": "a", "network": False, "volumes": []}
    },  # the dropped volume may have covered something
]
FINE: list[dict[str, Any]] = [
    {},
    {"prompt": "more"},
    {"agent": "claude"},
    {"env": {"A": "1"}},
    {"sandbox": {"kind": "oci", "image": "a", "network": False, "volumes": ["/a:/a"]}},
]


@pytest.mark.parametrize("result", BAD)
def test_a_result_that_changes_which_code_runs_needs_exec(result: dict[str, Any]) -> None:
    event = BeforeAgentInvoke(agent="claude", env={"A": "1"}, sandbox=WALLED)
    assert "`exec` is not granted" in overreach(event, result, NOTHING)
    assert overreach(event, result, Capabilities(exec=True)) == ""


@pytest.mark.parametrize("result", FINE)
def test_a_result_that_does_not_change_which_code_runs_needs_no_exec(result: dict[str, Any]) -> None:
    event = BeforeAgentInvoke(agent="claude", env={"A": "1"}, sandbox=WALLED)
    assert overreach(event, result, NOTHING) == ""


ENV = {"KEY": "$KEY", "FROM_A_HOOK": "1", "SAMUEL_RUN_ID": "run_1"}


@pytest.mark.parametrize("grants", [NOTHING, Capabilities(exec=True), Capabilities(env=("TOK",))])
@pytest.mark.parametrize("name", ["TOK", "KEY", "FROM_A_HOOK"])
def test_a_reference_to_a_variable_of_the_host_needs_env_for_that_variable(
    grants: Capabilities, name: str
) -> None:
    event = BeforeAgentInvoke(agent="claude", env=ENV)
    refusal = overreach(event, {"env": {**ENV, name: "$SECRET"}}, grants)
    assert refusal == "it passes on the host's `SECRET`, and the capability `env` does not name it"
    assert overreach(event, {"env": {**ENV, name: "$SECRET"}}, Capabilities(env=("SECRET",))) == ""


def test_a_host_variable_cannot_be_passed_on_under_another_name() -> None:
    event = BeforeAgentInvoke(agent="claude", env=ENV)
    assert "host's `KEY`" in overreach(event, {"env": {**ENV, "OTHER": "$KEY"}}, NOTHING)


@pytest.mark.parametrize("name", ["ANTHROPIC_BASE_URL", "HTTPS_PROXY", "PIP_INDEX_URL", "SSH_AUTH_SOCK", "ANY"])
def test_a_plugin_may_set_only_variables_that_env_names(name: str) -> None:
    event = BeforeAgentInvoke(agent="claude", env=ENV)
    change = {"env": {**ENV, name: "http://evil.example"}}
    assert f"sets the agent's `{name}`" in overreach(event, change, NOTHING)
    assert overreach(event, change, Capabilities(env=(name,))) == ""
    assert overreach(event, change, Capabilities(exec=True)) == ""


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "PAGER", "NPM_CONFIG_SCRIPT_SHELL", "SAMUEL_MODE"])
def test_a_loader_variable_needs_exec_though_env_names_it(name: str) -> None:
    event = BeforeAgentInvoke(agent="claude", env=ENV)
    assert "`exec` is not granted" in overreach(event, {"env": {**ENV, name: "x"}}, Capabilities(env=(name,)))


def test_a_variable_that_another_hook_set_cannot_be_dropped() -> None:
    event = BeforeAgentInvoke(agent="claude", env=ENV)
    assert "drops the agent's `FROM_A_HOOK`" in overreach(event, {"env": {}}, NOTHING)
    # Variables that the agent gets anyway may be left out: no result can remove them.
    assert overreach(event, {"env": {"FROM_A_HOOK": "1"}}, NOTHING) == ""


@pytest.mark.parametrize("value", ["x$SECRET", "${SECRET}", "$SECRET ", "$$SECRET", "$1"])
def test_a_value_that_is_not_a_reference_needs_no_grant_for_the_host(value: str) -> None:
    event = BeforeAgentInvoke(agent="claude", env=ENV)
    assert overreach(event, {"env": {**ENV, "TOK": value}}, Capabilities(env=("TOK",))) == ""


def test_another_image_needs_exec() -> None:
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


def test_results_of_other_events_are_not_checked_for_agent_changes() -> None:
    assert overreach(QualityCheck(commands=[]), {"agent": "other"}, NOTHING) == ""
