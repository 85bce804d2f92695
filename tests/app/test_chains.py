"""The chains of an opened project, and its PromptContext, which is computed when it is needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import pytest

from samuel.app import loop
from samuel.app.embedding import payload
from samuel.base.errors import ConfigError
from samuel.config.model import NO_SETTINGS
from samuel.events import EVENTS, event_type
from samuel.hooks import order
from samuel.testing import Recorder, SamuelProject


@contextmanager
def calls_of(code: CodeType) -> Iterator[list[FrameType]]:
    """Collects the calls of one function while real code runs."""
    calls: list[FrameType] = []

    def look(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code is code:
            calls.append(frame)

    sys.setprofile(look)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def test_chains_are_a_mapping_of_all_events_in_the_order_of_the_catalogue(samuel_project: SamuelProject) -> None:
    with samuel_project.open() as app:
        assert list(app.chains) == [event.name for event in EVENTS]
        assert [chain.event for chain in app.chains.values()] == list(EVENTS)
        assert len(app.chains) == len(EVENTS)
        with pytest.raises(KeyError):
            app.chains["no.such.event"]


def test_an_event_without_handlers_and_settings_has_an_empty_chain(samuel_project: SamuelProject) -> None:
    with samuel_project.open() as app:
        assert app.chains["TurnEnd"] == order.resolve(event_type("TurnEnd"), [], NO_SETTINGS)


@pytest.mark.parametrize("table", ["hooks", "methodology.ralph.hooks"])
def test_a_chain_that_samuel_toml_makes_wrong_is_refused_when_the_project_is_opened(
    samuel_project: SamuelProject, table: str
) -> None:
    samuel_project.config(f'[{table}."agent.invoke"]\nhandlers = ["robot", "default"]')
    with pytest.raises(ConfigError, match="with `default` at the end, `robot` would not"):
        samuel_project.open(handlers=[Recorder("agent.invoke", name="robot")])


def test_a_removed_handler_does_not_change_a_chain_of_an_open_project(samuel_project: SamuelProject) -> None:
    samuel_project.config('[hooks."quality.check"]\nhandlers = ["missing-guard", "default"]')
    with samuel_project.open() as app:
        app.trust.forget(["missing-guard"], {"missing-guard"})
        names = [step.handler.name for step in app.chains["quality.check"].steps]
        assert names == ["missing-guard", "default"]
    with samuel_project.open() as app:
        assert [step.handler.name for step in app.chains["quality.check"].steps] == ["default"]


def test_the_prompt_context_is_built_only_for_a_loop_event_with_a_handler(samuel_project: SamuelProject) -> None:
    unhandled = payload("context.extra", {"task": {}})
    not_of_the_loop = payload("UserPromptSubmit", {"user_message": "x"})
    has_context = payload("context.task", {"task": {}, "context": {"Mine": 1}})
    with samuel_project.open() as app, calls_of(loop.prompt_context.__code__) as built:
        for event in (unhandled, not_of_the_loop, has_context):
            assert app.with_context(event) is event
    assert built == []


def test_a_handler_gets_the_whole_prompt_context(samuel_project: SamuelProject) -> None:
    handler = Recorder("context.extra", returns={"extras": []})
    with samuel_project.open(handlers=[handler]) as app:
        app.fire(app.with_context(payload("context.extra", {"task": {}})))
        assert handler.events[0].context == app.context()
    assert handler.events[0].context["Hooks"]["context.extra"] == ["recorder"]
