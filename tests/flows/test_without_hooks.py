"""Hooks are optional: without them routing gives the same answers, minus their hints."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

PROMPT = "Run the full billing regression tests for me."
QUESTION = "Before I commit, what checks should I run?"


def all_disabled(copy: Any) -> None:
    for file in sorted((copy.root / ".system/hooks").glob("*.yaml")):
        assert copy.samuel("hooks", "disable", file.stem).code == 0


def directory_deleted(copy: Any) -> None:
    shutil.rmtree(copy.root / ".system/hooks")


WAYS = pytest.mark.parametrize("without_hooks", [all_disabled, directory_deleted])


@pytest.mark.slow
@WAYS
def test_ability_routing_gives_the_same_answer(
    flow: Callable[[str], Any], without_hooks: Callable[[Any], None]
) -> None:
    copy = flow("billing_regression")
    copy.samuel("trust", "--yes")

    def answers() -> list[Any]:
        prompts = [PROMPT, "show me an invoice", "one billing suite", "What is the weather like?"]
        return [copy.samuel("ability", "route", text, "--json").json for text in prompts]

    before = answers()
    assert before[0]["data"]["candidates"]
    assert before[3]["data"]["nothing"]
    with_hints = _hinted(copy)
    assert with_hints["candidates"][0]["score"] > before[0]["data"]["candidates"][0]["score"]
    without_hooks(copy)
    assert answers() == before
    assert _hinted(copy) == before[0]["data"]


def _hinted(copy: Any) -> Any:
    """The answer within a session that begins with this prompt."""
    id = f"s{len(list((copy.root / '.samuel').rglob('*.json')))}"
    copy.samuel("session", "start", "--id", id)
    copy.samuel("session", "prompt", "--id", id, PROMPT)
    return copy.samuel("ability", "route", "--session", id, PROMPT, "--json").json["data"]


@pytest.mark.slow
@WAYS
def test_knowledge_routing_gives_the_same_answer(
    flow: Callable[[str], Any], without_hooks: Callable[[Any], None]
) -> None:
    copy = flow("pre_commit_knowledge")
    copy.samuel("trust", "--yes")

    def answers() -> list[Any]:
        prompts = [QUESTION, "deploy a version to staging", "paint the bike shed"]
        return [copy.samuel("knowledge", "route", text, "--json").json for text in prompts]

    before = answers()
    assert before[0]["data"]["documents"]
    assert before[2]["data"]["nothing"]
    without_hooks(copy)
    assert answers() == before
    copy.samuel("session", "start", "--id", "s")
    copy.samuel("session", "prompt", "--id", "s", QUESTION)
    assert copy.samuel("knowledge", "route", "--session", "s", QUESTION, "--json").json == before[0]


@pytest.mark.slow
@WAYS
def test_an_ability_is_called_as_before(flow: Callable[[str], Any], without_hooks: Callable[[Any], None]) -> None:
    copy = flow("billing_regression")
    copy.samuel("trust", "--yes")
    call = ("ability", "call", "billing_regression", "--json")
    before = copy.samuel(*call).json["data"]
    assert before["output"] == {"passed": 5, "failed": 0}
    usage = copy.read(".system/cache/ability_usage.json")
    without_hooks(copy)
    after = copy.samuel(*call).json["data"]
    assert (after["status"], after["output"]) == (before["status"], before["output"])
    assert copy.read(".system/cache/ability_usage.json") == usage  # nothing counts any more
