"""Each format that tasks are written in: how it is recognised, what is read, and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from samuel.base.errors import ConfigError, SamuelError, UsageError
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.formats.table import FORMATS, fitting_formats
from samuel.tasks.importing import TaskImport, import_tasks, open_source
from samuel.tasks.queue import next_task
from samuel.tasks.task import Task

from . import format_examples as examples


def read_text(text: str, **options: Any) -> TaskImport:
    return import_tasks(TaskSource(text.encode(), name="file"), **options)


def read_file(path: Path, **options: Any) -> TaskImport:
    source, notes = open_source(path.name, path.parent, bytes)
    return import_tasks(source, notes=notes, **options)


def rows(result: TaskImport, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(task, name) for name in ("id", *names)) for task in result.imported.tasks]


def problems(text: str, **options: Any) -> list[tuple[int, str]]:
    with pytest.raises(ConfigError) as caught:
        read_text(text, **options)
    return [(problem.line, problem.what) for problem in caught.value.problems]


def test_stories_are_tasks_and_their_checklists_are_acceptance_criteria() -> None:
    result = read_text(examples.STORIES)
    assert (result.format.name, result.why) == ("markdown", "it is Markdown with headings and checklists")
    assert rows(result, "title", "priority", "depends_on", "acceptance", "test_strategy", "status") == [
        (
            "US-001",
            "Store prices",
            "high",
            (),
            ("a price is a whole number of cents", "negative prices are refused\nwith a message"),
            "",
            "pending",
        ),
        (
            "US-002",
            "Show totals",
            "medium",
            ("US-001",),
            ("the total is below the list",),
            "unit tests for empty and full carts",
            "pending",
        ),
        ("8", "Print receipts", "medium", ("US-001", "US-002"), (), "", "pending"),
    ]
    assert result.imported.tasks[0].description == "As a seller, I want prices to stay."
    assert result.imported.counts == {"headings": 5, "boxes": 3}
    assert result.imported.prose == "# Shop\n\nSell things."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "## Requirements\n### Add it\nAcceptance criteria:\n- [ ] a\n- [ ] b\n### Fix that\n",
            ["Add it", "Fix that"],
        ),
        (
            "## Tasks\n### Add kebabize\n- [ ] acronyms\n- [ ] tests\n### Document it\n",
            ["Add kebabize", "Document it"],
        ),
        ("## Tasks\n1. Read it\n2. Write it\n   in two lines\n", ["Read it", "Write it"]),
        ("1. Read it\n2. Write it\n", ["Read it", "Write it"]),
        ("# Shop\n## Phase 1\n- read\n- write\n## Phase 2\n- sell\n", ["read", "write", "sell"]),
        (
            "## Tasks\n### Task #3: More\n### (5) Five\n### Phase 7. Seven\n### Story 8: Eight\n",
            ["More", "Five", "Seven", "Eight"],
        ),
        (
            "| ID | Task | Priority |\n|---|---|---|\n| A-1 | Read it | high |\n| A-2 | Write it | |\n",
            ["Read it", "Write it"],
        ),
        ("# Fix plan\n## High Priority\n- [ ] now\n## Low Priority\n- [x] later\n", ["now", "later"]),
        ("## Tasks\n### Phase 1: Setup\n- [ ] T001 one\n- [ ] T002 two\n", ["one", "two"]),
        (
            "# Tasks\n## 1. Core\n- [ ] 1.1 one\n- [ ] 1.2 two\n## 2. Rest\n- [ ] 2.1 three\n",
            ["one", "two", "three"],
        ),
    ],
)
def test_markdown_in_every_form_that_people_use_gives_the_tasks_that_were_meant(
    text: str, expected: list[str]
) -> None:
    assert [task.title for task in read_text(text).imported.tasks] == expected


def test_priorities_come_from_phases_labels_words_and_numbers() -> None:
    text = (
        "# Fix plan\n## High Priority\n- [ ] 1 a\n- [ ] 2 b [critical]\n## Phase 2 (Priority: P3)\n- [ ] 3 c\n"
        "- [ ] 4 d\n  Priority: must have\n- [ ] 5 e (low priority)\n- [ ] 6 f\n  Priority: 2\n"
    )
    assert rows(read_text(text), "priority", "rank") == [
        ("1", "high", 0),
        ("2", "critical", 0),
        ("3", "low", 0),
        ("4", "high", 0),
        ("5", "low", 0),
        ("6", "low", 2),
    ]


def test_a_table_has_every_field_of_a_task() -> None:
    text = (
        "## Backlog\n| # | Story | Status | Depends on | Complexity | Notes | Acceptance criteria |\n"
        "|---|---|---|---|---|---|---|\n| 1 | Read | Done | - | simple | words | it reads |\n"
        "| 2 | Write [P0] | todo | #1 | | | |\n"
    )
    assert rows(read_text(text), "title", "status", "depends_on", "complexity", "description", "acceptance") == [
        ("1", "Read", "completed", (), "simple", "words", ("it reads",)),
        ("2", "Write", "pending", ("1",), "medium", "", ()),
    ]


@pytest.mark.parametrize(
    "words", ["Depends on: 1", "Blocked by: 1", "After: 1", "Requires: 1", "Dependencies: Task 1"]
)
def test_every_word_for_waiting_is_a_dependency(words: str) -> None:
    assert rows(read_text(f"## Tasks\n### 1 A\n### 2 B\n{words}\n"), "depends_on")[1] == ("2", ("1",))


@pytest.mark.parametrize("words", ["After: 5 minutes", "Requires: Python 3.11", "After lunch"])
def test_prose_about_waiting_stays_in_the_description(words: str) -> None:
    assert rows(read_text(f"## Tasks\n### 1 A\n### 2 B\n{words}\n"), "depends_on", "description")[1][1:] == (
        (),
        words,
    )


def test_a_heading_that_is_nothing_but_its_children_is_no_task_and_others_wait_for_all_of_them() -> None:
    text = (
        "## Tasks\n### 1 Prices (P0)\n#### 1.1 Store\n#### 1.2 Read\n### 2 Totals\nWords.\n#### 2.1 Add\n"
        "### 3 Receipts\nDepends on: 1\n"
    )
    result = read_text(text)
    assert rows(result, "depends_on", "parent_id", "priority", "no_change") == [
        ("1.1", (), "", "critical", False),
        ("1.2", (), "", "critical", False),
        ("2", ("2.1",), "", "medium", True),
        ("2.1", (), "2", "medium", False),
        ("3", ("1.1", "1.2"), "", "medium", False),
    ]


def test_headings_and_boxes_that_could_both_be_the_tasks_need_a_format() -> None:
    text = "## Tasks\n### Pricing engine\n- [ ] store\n- [ ] read\n### Totals page\n- [ ] add\n"
    assert [format.name for format, _ in fitting_formats(TaskSource(text.encode()))] == ["markdown", "checklist"]
    with pytest.raises(UsageError) as caught:
        read_text(text)
    assert "can be read in 2 ways" in caught.value.message
    assert "--format checklist" in caught.value.hint
    assert [task.title for task in read_text(text, format_name="checklist").imported.tasks] == [
        "store",
        "read",
        "add",
    ]
    markdown = read_text(text, format_name="markdown").imported.tasks
    assert [(task.title, task.acceptance) for task in markdown] == [
        ("Pricing engine", ("store", "read")),
        ("Totals page", ("add",)),
    ]
    chosen = read_text(text, choose=lambda fitting: fitting[1].format)
    assert (chosen.format.name, chosen.why) == ("checklist", "you chose it")


def test_openspec_reads_boxes_below_sections_and_the_documents_of_the_change(tmp_path: Path) -> None:
    result = read_file(examples.put(tmp_path, examples.OPENSPEC))
    assert (result.format.name, result.why) == ("openspec", "it is the tasks.md of a change below openspec/")
    assert rows(result, "title", "status", "depends_on", "description") == [
        ("1.1", "Add a table", "completed", ("1.1.1",), "Section: 1. Storage"),
        ("1.1.1", "with an index", "completed", (), ""),
        ("1.2", "Read prices", "pending", ("1.1",), "Section: 1. Storage"),
        ("2.1", "Run them all", "pending", (), "Section: 2. Checks"),
    ]
    names = [document.name for document in result.imported.documents]
    assert names == ["proposal.md", "design.md", "specs/prices/spec.md"]
    assert result.imported.counts == {"headings": 2, "boxes": 4}


def test_openspec_names_an_id_that_is_there_twice_and_keeps_both_tasks() -> None:
    result = read_text("## 1. A\n- [ ] 1.1 One\n- [ ] 1.1 Two\n- [ ] 1.3 Three\n")
    assert rows(result, "title") == [("1.1", "One"), ("1.1-2", "Two"), ("1.3", "Three")]
    assert result.warnings() == ["file:3: the id `1.1` is there twice; this task is `1.1-2`"]


def test_spec_kit_reads_phases_stories_and_the_documents_of_the_feature(tmp_path: Path) -> None:
    result = read_file(examples.put(tmp_path, examples.SPEC_KIT))
    assert result.format.name == "spec-kit"
    assert rows(result, "title", "priority", "status", "depends_on") == [
        ("T001", "Create the project", "critical", "completed", ()),
        ("T002", "Configure the linter in pyproject.toml", "critical", "pending", ()),
        ("T003", "Store money in src/money.py", "critical", "pending", ("T001", "T002")),
        ("T004", "Test prices in tests/test_prices.py", "high", "pending", ("T003",)),
        ("T005", "Store prices in src/prices.py", "high", "pending", ("T004", "T003")),
        ("T006", "Show totals", "low", "pending", ("T003",)),
        ("T007", "Write the docs", "low", "pending", ("T003",)),
    ]
    story = result.imported.tasks[4]
    assert story.description == (
        "Phase 3: User Story 1 - Prices (Priority: P1) MVP\nStory: US1\nGoal: prices stay\n"
        "Independent test: store one, restart, read it"
    )
    assert story.test_strategy == "store one, restart, read it"
    assert [document.name for document in result.imported.documents] == ["spec.md", "plan.md"]


def test_prd_json_reads_stories_in_the_order_of_their_priority_and_offers_checks() -> None:
    result = read_text(examples.PRD_JSON)
    assert result.format.name == "prd.json"
    assert rows(result, "title", "status", "rank", "acceptance", "depends_on", "description") == [
        (
            "US-002",
            "Show totals",
            "pending",
            2,
            ("the total is right", "Typecheck passes"),
            ("US-001",),
            "As a buyer, ...\n\nNotes: ask about taxes",
        ),
        ("US-001", "Store prices", "completed", 1, (), (), ""),
    ]
    assert result.imported.checks == ("make types", "make test")
    assert result.imported.prose == "# Shop\n\nPrices that stay"
    assert result.imported.counts == {"stories": 2}


def test_integer_priorities_decide_the_order_of_work() -> None:
    text = '{"userStories": [{"id": "A", "title": "a", "priority": 10}, {"id": "B", "title": "b", "priority": 9}]}'
    task = next_task(read_text(text).imported.tasks)
    assert task is not None
    assert task.id == "B"


def test_task_master_reads_the_current_tag_with_subtasks_and_both_kinds_of_dependency(tmp_path: Path) -> None:
    file = examples.put(tmp_path, examples.TASK_MASTER)
    result = read_file(file)
    assert (result.format.name, result.why) == ("task-master", "it is below .taskmaster/")
    assert rows(result, "status", "priority", "depends_on", "parent_id") == [
        ("1", "pending", "high", ("1.1", "1.2", "1.3"), ""),
        ("1.1", "completed", "medium", (), "1"),
        ("1.2", "pending", "medium", ("1.1",), "1"),
        ("1.3", "pending", "medium", ("1.2", "1.1"), "1"),
        ("2", "pending", "medium", ("1", "1.3"), ""),
        ("3", "skipped", "low", (), ""),
        ("4", "blocked", "medium", (), ""),
    ]
    first = result.imported.tasks[0]
    assert (first.description, first.test_strategy, first.complexity) == (
        "In cents.\n\nOne table.",
        "Unit tests.",
        "complex",
    )
    assert result.imported.counts == {"tasks": 4, "subtasks": 3}
    assert (
        result.warnings()[0]
        == "these are the tasks of the tag `master`; `--tag` reads another one: `receipts` (1)"
    )
    assert result.warnings()[1].endswith("`2` depends on `99`, which is not in the list")
    assert rows(read_file(file, tag="receipts"), "title") == [("1", "Print them")]
    with pytest.raises(UsageError, match="no tag `receipt`"):
        read_file(file, tag="receipt")


def test_task_master_reads_the_old_form_without_tags() -> None:
    text = '{"tasks": [{"id": 1, "title": "One", "status": "done", "subtasks": [{"id": 1, "title": "Part"}]}]}'
    assert rows(read_text(text), "status") == [("1", "completed"), ("1.1", "completed")]


def test_beads_reads_what_blocks_and_leaves_out_what_is_no_work() -> None:
    result = read_text(examples.BEADS)
    assert result.format.name == "beads"
    assert rows(result, "status", "priority", "rank", "depends_on", "parent_id") == [
        ("bd-1", "pending", "high", 0, ("bd-2",), ""),
        ("bd-2", "pending", "critical", 0, ("bd-3",), "bd-1"),
        ("bd-3", "completed", "medium", 0, (), ""),
        ("bd-4", "blocked", "low", 1, (), ""),
    ]
    task = result.imported.tasks[1]
    assert task.description == "In cents.\n\nDesign:\nOne table.\n\nNotes:\nask about taxes"
    assert task.acceptance == ("they stay", "no floats")
    assert result.imported.counts == {"issues": 9}
    assert result.warnings() == [
        "file:2: `bd-2` is blocked by `bd-77`, which is not in the list; it may be closed",
        "file:5: 1 tombstone left out (line 5)",
        "file:6: 1 pinned issue left out (line 6)",
        "file:7: 1 template left out (line 7)",
        "file:8: 1 issue of the type message left out (line 8)",
        "file:9: 1 memory left out (line 9)",
    ]


def test_beads_reads_the_list_that_bd_prints_as_well() -> None:
    lines = examples.BEADS.splitlines()
    assert rows(read_text(f"[{lines[0]},\n{lines[2]}]")) == [("bd-1",), ("bd-3",)]


def test_github_issues_are_ordered_by_number_and_a_blocker_that_is_not_listed_is_a_warning() -> None:
    result = read_text(examples.GITHUB)
    assert result.format.name == "github"
    assert rows(result, "status", "priority", "depends_on", "parent_id") == [
        ("#7", "pending", "medium", ("#12",), ""),
        ("#10", "completed", "critical", (), ""),
        ("#12", "pending", "high", ("#10",), "#7"),
    ]
    assert "- [ ] a test" in result.imported.tasks[2].description
    assert "Milestone: 1.0\nhttps://github.com/a/b/issues/12" in result.imported.tasks[2].description
    assert [warning for warning in result.warnings() if "may be closed" in warning] == [
        "file:2: `#12` waits for `#8`, which is not in the list; it may be closed",
        "file:2: `#12` waits for `#11`, which is not in the list; it may be closed",
        "file:2: `#12` waits for `#9`, which is not in the list; it may be closed",
    ]


@pytest.mark.parametrize("name", ["planning-artifacts/epics.md", "implementation-artifacts/sprint-status.yaml"])
def test_bmad_reads_stories_with_the_status_of_the_sprint(tmp_path: Path, name: str) -> None:
    examples.put(tmp_path, examples.BMAD)
    result = read_file(tmp_path / "out" / name)
    assert result.format.name == "bmad"
    assert rows(result, "title", "status") == [
        ("1.1", "Store prices", "completed"),
        ("1.2", "Show totals", "pending"),
    ]
    first, second = result.imported.tasks
    assert first.acceptance == (
        "Given a price\nWhen it is stored\nThen it stays\nAnd it is in cents",
        "Given a negative price\nThen it is refused",
    )
    assert first.description.startswith("Epic 1: Prices\n\nAs a seller,")
    assert second.acceptance == ("the total is right", "it is below the list")
    assert "Tasks / Subtasks:\n- [ ] Task 1 (AC: 1)" in second.description
    assert "Dev Notes:\n- use cents" in second.description
    assert [document.name for document in result.imported.documents] == ["architecture.md"]
    assert [left_out.what for left_out in result.imported.left_out] == [
        "`1-3-print-receipts` of sprint-status.yaml is not in epics.md"
    ]


def test_bmad_reads_the_file_of_one_story(tmp_path: Path) -> None:
    examples.put(tmp_path, examples.BMAD)
    result = read_file(tmp_path / "out/implementation-artifacts/1-2-show-totals.md")
    assert rows(result, "title", "status", "acceptance") == [
        ("1.2", "Show totals", "pending", ("the total is right", "it is below the list"))
    ]


CUT_OFF = [
    (examples.PRD_JSON, "prd.json"),
    (examples.TASK_MASTER[".taskmaster/tasks/tasks.json"], "task-master"),
    (examples.BEADS, "beads"),
    (examples.GITHUB, "github"),
]


@pytest.mark.parametrize(("text", "name"), CUT_OFF)
def test_json_that_is_cut_off_names_its_last_line(text: str, name: str) -> None:
    cut = text.rstrip()[: len(text) // 2]
    ((line, what),) = problems(cut, format_name=name)
    assert line == cut.rstrip().count("\n") + 1
    assert "cut off" in what or "not JSON" in what
    with pytest.raises(SamuelError):
        read_text(cut)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("prd.json", '{"userStories": [\n{"id": "A", "title": "a"},\n{"id": "A", "title": "b"}]}', [2, 3]),
        ("task-master", '{"tasks": [\n{"id": 1, "title": "a"},\n{"id": 1, "title": "b"}]}', [2, 3]),
        ("beads", '{"id":"a","title":"a","status":"open"}\n{"id":"a","title":"b","status":"open"}\n', [1, 2]),
        ("github", '[{"number": 1, "title": "a"},\n{"number": 1, "title": "b"}]', [1, 2]),
        ("markdown", "## Tasks\n- [ ] 1 a\n- [ ] 1 b\n", [2, 3]),
        ("spec-kit", "## Phase 1\n- [ ] T001 a\n- [ ] T001 b\n", [2, 3]),
    ],
)
def test_ids_that_are_there_twice_are_named_with_their_lines(name: str, text: str, expected: list[int]) -> None:
    named = problems(text, format_name=name)
    assert [line for line, _ in named] == expected
    assert all("2 times" in what for _, what in named)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (
            "prd.json",
            '{"userStories": [\n{"id": "A", "title": "a", "dependsOn": ["B"]},\n'
            '{"id": "B", "title": "b", "dependsOn": ["A"]}]}',
            2,
        ),
        (
            "task-master",
            '{"tasks": [\n{"id": 1, "title": "a", "dependencies": [2]},\n'
            '{"id": 2, "title": "b", "dependencies": [1]}]}',
            2,
        ),
        (
            "beads",
            '{"id":"a","title":"a","status":"open","dependencies":[{"depends_on_id":"b","type":"blocks"}]}\n'
            '{"id":"b","title":"b","status":"open","dependencies":[{"depends_on_id":"a","type":"blocks"}]}\n',
            1,
        ),
        (
            "github",
            '[{"number": 1, "title": "a", "body": "after #2"},\n{"number": 2, "title": "b", "body": "after #1"}]',
            1,
        ),
        ("markdown", "## Tasks\n- [ ] 1 a (after 2)\n- [ ] 2 b (after 1)\n", 2),
    ],
)
def test_tasks_that_wait_for_each_other_are_named_with_a_line(name: str, text: str, line: int) -> None:
    ((where, what),) = problems(text, format_name=name)
    assert where == line
    assert what.startswith("tasks wait for each other")


def test_boxes_without_a_list_are_not_called_broken_json() -> None:
    for text in ("[ ] Prices\n[x] Totals\n", "[Prices](prices.md)\n"):
        with pytest.raises(UsageError) as caught:
            import_tasks(TaskSource(text.encode(), Path("/nowhere/tasks.txt")))
        assert "JSON" not in f"{caught.value.message} {caught.value.hint}"
    for text in ("", "[", "[ ", "[ ]\n", '[{"a', "{", '\ufeff {"a": 1}', "[-1]"):
        assert TaskSource(text.encode()).looks_like_json == bool(text)


def test_task_that_depends_on_its_own_subtask_waits_for_all_of_them() -> None:
    subtasks = '[{"id": 1, "title": "b"}, {"id": 2, "title": "c", "dependencies": [1]}]'
    text = f'{{"tasks": [{{"id": 1, "title": "a", "dependencies": ["1.2", 2], "subtasks": {subtasks}}},'
    text += '{"id": 2, "title": "d"}]}'
    tasks = import_tasks(TaskSource(text.encode(), Path("/nowhere/tasks.json")), "task-master").imported.tasks
    waits = {task.id: set(task.depends_on) for task in tasks}
    assert waits == {"1": {"1.1", "1.2", "2"}, "1.1": {"2"}, "1.2": {"1.1", "2"}, "2": set()}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "task-master",
            '{"tasks": [\n{"id": 1, "title": "a", "status": "finished"}]}',
            (2, "`finished` is not a valid status"),
        ),
        (
            "beads",
            '{"id":"a","title":"a","status":"opened"}\n',
            (1, "`opened` is not a valid status of issue `a`"),
        ),
        (
            "github",
            '[{"number": 1, "title": "a", "state": "LOCKED"}]',
            (1, "`LOCKED` is not a valid state of issue `1`"),
        ),
        (
            "prd.json",
            '{"userStories": [\n{"title": "a", "passes": "yes"}]}',
            (2, "`passes` of this story must be true or false, not 'yes'"),
        ),
        ("markdown", "## Tasks\n- [?] 1 a\n", (2, "this item cannot be read")),
    ],
)
def test_a_status_that_nobody_knows_is_named_with_its_line(
    name: str, text: str, expected: tuple[int, str]
) -> None:
    assert problems(text, format_name=name) == [expected]


def test_a_status_of_a_sprint_that_nobody_knows_is_named_with_its_file_and_line(tmp_path: Path) -> None:
    files = {**examples.BMAD}
    sprint = "out/implementation-artifacts/sprint-status.yaml"
    files[sprint] = files[sprint].replace("ready-for-dev", "almost")
    examples.put(tmp_path, files)
    with pytest.raises(ConfigError, match=r"sprint-status.yaml:8: `almost` is not a valid status"):
        read_file(tmp_path / sprint)


def test_json_in_no_format_shows_the_json_that_is_accepted() -> None:
    with pytest.raises(UsageError) as caught:
        read_text('{"todo": []}')
    assert caught.value.message == "`file` is JSON in no format that Samuel knows"
    for name in ("prd.json", "task-master", "beads", "github"):
        assert f"  {name}:\n" in caught.value.hint


def test_a_directory_stands_for_the_one_file_with_tasks_in_it(tmp_path: Path) -> None:
    examples.put(tmp_path, examples.OPENSPEC)
    assert read_file(tmp_path).format.name == "openspec"
    examples.put(tmp_path, examples.TASK_MASTER)
    with pytest.raises(UsageError) as caught:
        read_file(tmp_path)
    assert "has 2 files with tasks" in caught.value.message
    assert ".taskmaster/tasks/tasks.json" in caught.value.hint


def test_an_unknown_format_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"there is no format `speckit`\ndid you mean `spec-kit`"):
        read_text("- [ ] a\n", format_name="speckit")


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_the_example_of_a_format_is_of_that_format(format: Any) -> None:
    text = "\n".join(line.removeprefix("    ") for line in format.example.splitlines())
    if format.name == "markdown":
        return  # its example has several parts, which have a test of their own
    tasks: tuple[Task, ...] = format.read(TaskSource(text.encode())).tasks
    assert tasks
