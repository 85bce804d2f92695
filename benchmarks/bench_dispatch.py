"""Ten in-process handlers through Samuel, and the same ten functions through pluggy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pluggy
from bench_projects import dispatcher, inline, project
from measure import Row, beside, take_turns

from samuel.events import ContextExtra


def functions(count: int) -> list[Callable[..., Any]]:
    def make(number: int) -> Callable[..., Any]:
        def extra(event: ContextExtra) -> dict[str, Any]:
            return {"extras": [{"name": f"note-{number}.md", "content": event.task["title"]}]}

        return extra

    return [make(number) for number in range(count)]


def run(scratch: Path) -> Iterator[Row]:
    ten = functions(10)
    event = ContextExtra(task={"id": "1", "title": "a task"})

    with project(scratch) as root:
        ours = dispatcher(root, [inline("context.extra", f"h{n}", function) for n, function in enumerate(ten)])
        manager = _pluggy(ten)
        assert len(ours.fire(event).result["extras"]) == 10
        assert len(manager.hook.extra(event=event)) == 10
        mine, theirs = take_turns(
            lambda: ours.fire(event), lambda: manager.hook.extra(event=event), rounds=400, inner=50
        )
    yield beside("ten in-process handlers, vs pluggy", mine, theirs)


def _pluggy(ten: list[Callable[..., Any]]) -> Any:
    spec, impl = pluggy.HookspecMarker("bench"), pluggy.HookimplMarker("bench")

    class Spec:
        @spec
        def extra(self, event: object) -> object: ...

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Spec)
    for function in ten:
        plugin = type("Plugin", (), {"extra": staticmethod(impl(function))})()
        manager.register(plugin)
    return manager
