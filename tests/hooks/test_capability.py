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
    {"sandbox": {"kind": "host"}},
    {"sandbox": {"kind": "bwrap", "network": False}},
    {"sandbox": {"kind": "nonsense"}},
    {"sandbox": {"kind": "oci", "image": "a", "network": True}},
    {"sandbox": {"kind": "oci", "image": "a"}},  # what is left out has its default, and that is a network
    {"sandbox": {"kind": "oci", "image": "evil", "network": False}},
    {"sandbox": {"kind": "oci", "image": "a", "network": False, "volumes": ["/a:/a", "/:/host"]}},
]
FINE: list[dict[str, Any]] = [
    {},
    {"prompt": "more"},
    {"agent": "claude"},
    {"env": {"A": "2", "B": "3"}},
    {"sandbox": {"kind": "oci", "image": "a", "network": False, "volumes": []}},
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


def test_tightening_the_sandbox_needs_no_capability() -> None:
    event = BeforeAgentInvoke(agent="claude", sandbox=Sandbox(kind="host", network=True))
    assert overreach(event, {"sandbox": {"kind": "bwrap", "network": False}}, NOTHING) == ""


def test_dropping_a_loader_variable_counts_as_changing_it() -> None:
    event = BeforeAgentInvoke(agent="claude", env={"PATH": "/safe"})
    assert "PATH" in overreach(event, {"env": {}}, NOTHING)


def test_other_events_have_nothing_of_the_kind() -> None:
    assert overreach(QualityCheck(commands=[]), {"agent": "other"}, NOTHING) == ""
