"""`samuel run sync`: what later edits of a source do to the task list."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from samuel.tasks.formats.source import TaskSource
from samuel.tasks.importing import TaskImport, import_tasks
from samuel.tasks.origin import SourceItem, matching_index, origin_of
from samuel.tasks.source_merge import SourceMerge, apply_merge, merge
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task, find
from samuel.tasks.write_back import only_marks

PLAN = "## Tasks\n- [ ] 1 Prices\n- [ ] 2 Totals\n- [ ] Receipts\n"


def read(text: str, format_name: str = "markdown") -> TaskImport:
    return import_tasks(TaskSource(text.encode(), Path("/nowhere/plan.md")), format_name)


def merged(text: str, tasks: tuple[Task, ...] | None = None, before: str = PLAN) -> SourceMerge:
    first = read(before)
    origin = origin_of(first, Path("/nowhere"), write_back=True)
    return merge(tasks or first.imported.tasks, origin, read(text).imported, stable_ids=False)


def test_a_merge_is_made_with_the_tasks_as_they_are_when_it_is_written(tmp_path: Path) -> None:
    """Another command may add a task while a person is asked about the plan."""
    first, later = read(PLAN), read(PLAN + "- [ ] 9 Docs\n")
    origin = origin_of(first, Path("/nowhere"), write_back=True)
    store = TaskStore(tmp_path / "run")
    store.replace_all((*first.imported.tasks, replace(first.imported.tasks[0], id="9", title="Another")))

    plan = apply_merge(store, origin, later, skipped=(), completed=("2",), at="2026-01-02T03:04:05Z")

    (docs,) = (task for task in store.load() if task.title == "Docs")
    assert docs.id != "9"
    assert [task.id for task in plan.added] == [docs.id]
    assert plan.items[docs.id].title == "Docs"
    assert find(store.load(), "9").title == "Another"
    assert find(store.load(), "2").grade == "done by a person"


def test_a_source_that_did_not_change_changes_nothing() -> None:
    merge = merged(PLAN)
    assert (merge.added, merge.changed, merge.removed, merge.done_in_source) == ((), (), (), ())


def test_new_tasks_are_added_and_changed_texts_taken_over() -> None:
    plan = merged(PLAN.replace("2 Totals", "2 Totals\n  With taxes.\n  Priority: high") + "- [ ] 9 Docs\n")
    assert [(task.id, task.title) for task in plan.added] == [("9", "Docs")]
    assert [(changed.id, changed.fields) for changed in plan.changed] == [("2", ("description", "priority"))]
    assert find(plan.tasks, "2").description == "With taxes."


def test_work_that_is_done_stays_done_and_keeps_its_text() -> None:
    tasks = tuple(replace(task, status="completed", commit_sha="abc") for task in read(PLAN).imported.tasks)
    plan = merged(PLAN.replace("Prices", "Prices and more"), tasks)
    assert plan.tasks == tasks
    assert plan.changed == ()


def test_a_title_that_changed_is_the_same_task_if_its_number_is() -> None:
    plan = merged(PLAN.replace("2 Totals", "2 All totals"))
    assert [(changed.id, changed.title, changed.fields) for changed in plan.changed] == [
        ("2", "All totals", ("title",))
    ]


def test_tasks_that_were_renumbered_are_known_by_their_titles() -> None:
    plan = merged("## Tasks\n- [ ] 1 New first\n- [ ] 2 Prices\n- [ ] 3 Totals (after 2)\n- [ ] Receipts\n")
    assert [(task.id, task.title) for task in plan.tasks] == [
        ("1", "Prices"),
        ("2", "Totals"),
        ("3", "Receipts"),
        ("1-2", "New first"),
    ]
    assert find(plan.tasks, "2").depends_on == ("1",)
    assert plan.items["2"].id == "3"


def test_a_task_that_is_gone_is_named_and_stays() -> None:
    plan = merged("## Tasks\n- [ ] 1 Prices\n- [ ] Receipts\n")
    assert [task.id for task in plan.removed] == ["2"]
    assert [task.id for task in plan.tasks] == ["1", "2", "3"]


def test_a_box_that_was_ticked_in_the_source_is_named_and_completes_nothing() -> None:
    plan = merged(PLAN.replace("[ ] 2", "[x] 2"))
    assert [task.id for task in plan.done_in_source] == ["2"]
    assert find(plan.tasks, "2").status == "pending"


def test_what_a_person_changed_in_the_list_stays_where_the_source_did_not_change() -> None:
    tasks = tuple(replace(task, priority="critical") for task in read(PLAN).imported.tasks)
    plan = merged(PLAN.replace("1 Prices", "1 Prices\n  Words."), tasks)
    assert [task.priority for task in plan.tasks] == ["medium", "critical", "critical"]


def test_an_item_is_never_another_one_that_has_taken_its_number() -> None:
    imported = read("## Tasks\n- [ ] 1 New\n- [ ] 2 Prices\n- [ ] 3 Same\n- [ ] 4 Same\n").imported
    for item, index in [
        (SourceItem("1", "Prices", ""), 1),
        (SourceItem("1", "Gone", ""), None),
        (SourceItem("7", "Same", ""), None),
        (SourceItem("3", "Same", ""), 2),
    ]:
        assert matching_index(imported, item, stable_ids=False) == index
    assert matching_index(imported, SourceItem("1", "Gone", ""), stable_ids=True) == 0


def is_only_marked(after: str, before: str) -> bool:
    path = Path("/nowhere/plan.md")
    origin = origin_of(read(before), Path("/nowhere"), write_back=True)
    return only_marks(origin, path, before.encode(), after.encode())


def test_ticked_boxes_are_only_marks_and_any_other_byte_is_not() -> None:
    plan = f"# Shop\n\nWords.\n\n{PLAN}  - [ ] a criterion\n"
    assert is_only_marked(plan.replace("[ ] 1", "[x] 1"), plan)
    assert is_only_marked(plan.replace("[ ]", "[x]"), plan)
    for old, new in (("# Shop", "# Store"), ("## Tasks", "## Tasks\n"), ("Words.", "Words!"), ("Totals", "Sums")):
        assert not is_only_marked(plan.replace("[ ] 1", "[x] 1").replace(old, new, 1), plan), new
