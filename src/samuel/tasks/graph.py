"""Whether the tasks form a valid graph: unique ids, references that exist, no cycles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from samuel.base.errors import Problem
from samuel.base.nearest import SpellingHints
from samuel.tasks.task import Tasks


def problems(tasks: Tasks, file: str = "", lines: Sequence[int] = ()) -> list[Problem]:
    """Every problem of the graph; `lines` holds the line of each task."""
    if fit(tasks):
        return []
    graph_problems = [*_ids(tasks), *_references(tasks), *_cycles(tasks)]
    where = dict(enumerate(lines))
    return [Problem(what, file, where.get(index, 0), hint) for index, what, hint in sorted(graph_problems)]


def fit(tasks: Tasks) -> bool:
    """True if every task refers only to tasks above it, as nearly all files do; False means: look closer."""
    earlier_ids: set[str] = set()
    for task in tasks:
        if task.id in earlier_ids or not task.id or task.id != task.id.strip():
            return False
        if (task.parent_id and task.parent_id not in earlier_ids) or not earlier_ids.issuperset(task.depends_on):
            return False
        earlier_ids.add(task.id)
    return True


def components(edges: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """A number for each id; those that wait for each other, directly or by way of others, have the same one."""
    waited_by: dict[str, list[str]] = {id: [] for id in edges}
    for id, others in edges.items():
        for other in others:
            if other in waited_by:
                waited_by[other].append(id)
    numbers: dict[str, int] = {}
    for number, start in enumerate(reversed(_after_what_they_wait_for(edges))):
        to_visit = [start] if start not in numbers else []
        while to_visit:
            id = to_visit.pop()
            if id not in numbers:
                numbers[id] = number
                to_visit += waited_by[id]
    return numbers


def _after_what_they_wait_for(edges: Mapping[str, Sequence[str]]) -> list[str]:
    """All ids, each behind those that it waits for, as far as they do not wait for each other."""
    order: list[str] = []
    visited: set[str] = set()
    for start in edges:
        stack = [(start, iter(edges[start]))] if start not in visited else []
        visited.add(start)
        while stack:
            id, others = stack[-1]
            other = next((other for other in others if other in edges and other not in visited), None)
            if other is None:
                order.append(id)
                stack.pop()
            else:
                visited.add(other)
                stack.append((other, iter(edges[other])))
    return order


CYCLE_HINT = "let one of them not wait: change its `depends_on`, or its line `Depends on:` or `Blocked by:`"
GraphProblem = tuple[int, str, str]  # the position of the task, what is wrong, how to fix it


def _ids(tasks: Tasks) -> Iterator[GraphProblem]:
    times = Counter(task.id for task in tasks)
    for index, task in enumerate(tasks):
        if not task.id or task.id != task.id.strip():
            yield index, f"the id {task.id!r} is empty or has blanks around it", "give it one like `7` or `1.2`"
        elif times[task.id] > 1:
            yield index, f"the id `{task.id}` is there {times[task.id]} times", "give each task an id of its own"


def _references(tasks: Tasks) -> Iterator[GraphProblem]:
    ids = {task.id for task in tasks}
    hints = SpellingHints()
    for index, task in enumerate(tasks):
        referred = [("depends on", id) for id in task.depends_on]
        referred += [("has the parent", task.parent_id)] if task.parent_id else []
        for how, other in referred:
            if other not in ids:
                hint = hints.did_you_mean(other, ids, "name an existing task, or remove it")
                yield index, f"task `{task.id}` {how} `{other}`, which does not exist", hint


def _cycles(tasks: Tasks) -> Iterator[GraphProblem]:
    position = {task.id: index for index, task in enumerate(tasks)}
    waits = {task.id: task.depends_on for task in tasks}
    parents = {task.id: (task.parent_id,) if task.parent_id else () for task in tasks}
    cycles = [("tasks wait for each other", cycle, CYCLE_HINT) for cycle in _each_cycle(waits)]
    cycles += [("tasks are their own parents", cycle, "clear one `parent_id`") for cycle in _each_cycle(parents)]
    for what, cycle, hint in cycles:
        yield position[cycle[0]], f"{what}: {' -> '.join(f'`{id}`' for id in cycle)}", hint


def _each_cycle(edges: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Cycles, each in the order of waiting, the first again at the end; none shares a task with another."""
    left = {id: [other for other in others if other in edges] for id, others in edges.items()}
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            cycle: list[str] = error.args[1][::-1]  # graphlib names what is waited for before who waits
            yield cycle
            for id in cycle:
                left[id] = []
        else:
            return
