"""A PRD in Markdown: every form that is documented, what is left alone, and what is refused."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.base.errors import ConfigError, SamuelError, UsageError
from samuel.tasks.annotations import title
from samuel.tasks.formats.markdown import ACCEPTED
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.importing import TaskImport, import_tasks, open_source
from samuel.tasks.task import Task


def parse(text: str, name: str) -> tuple[tuple[Task, ...], tuple[str, ...]]:
    read_tasks = import_tasks(TaskSource(text.encode(errors="surrogatepass"), name=name), "markdown")
    return read_tasks.imported.tasks, tuple(read_tasks.warnings())


def read(path: Path) -> TaskImport:
    source, notes = open_source(str(path), path.parent, lambda: b"")
    return import_tasks(source, "markdown", notes=notes)


def tasks(text: str) -> list[Task]:
    return list(parse(textwrap.dedent(text), "prd.md")[0])


def fields_of(text: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(task, name) for name in ("id", *names)) for task in tasks(text)]


def problems(text: str) -> list[tuple[int, str]]:
    with pytest.raises(ConfigError) as caught:
        tasks(text)
    return [(problem.line, problem.what) for problem in caught.value.problems]


@pytest.mark.parametrize(
    "section",
    [
        "# Tasks",
        "## tasks",
        "## Implementation Plan",
        "### 4. Steps",
        "## WORK ITEMS",
        "## Tasks: x ##",
        "###### Step",
    ],
)
def test_tasks_are_read_below_every_accepted_section_heading(section: str) -> None:
    level = section.index(" ")
    if level < 6:
        assert fields_of(f"# PRD\n{section}\n{'#' * (level + 1)} 1.1 Do it\n", "title") == [("1.1", "Do it")]
    assert fields_of(f"# PRD\n{section}\n- [ ] 1.1 Do it\n", "title") == [("1.1", "Do it")]


def test_headings_and_what_is_below_them() -> None:
    parsed_tasks = tasks("""
        # A PRD
        ## 1. Overview
        ### 1.1 This is prose
        ## Implementation
        Words before the first.

        ### 1.1 Write the parser
        It reads.

        It also writes.
        - a point
        - [ ] a criterion
        #### Notes
        More of it.

        ### 1.2. Use it [~2,500 tokens - Complex]
        ### Task 1.10: Sell it
        ### [x] T7: Done already
        ## Risks
        ### 2.1 This is prose again
    """)
    assert [(task.id, task.title, task.status, task.complexity) for task in parsed_tasks] == [
        ("1.1", "Write the parser", "pending", "medium"),
        ("1.2", "Use it", "pending", "complex"),
        ("1.10", "Sell it", "pending", "medium"),
        ("T7", "Done already", "completed", "medium"),
    ]
    assert parsed_tasks[0].description == ("It reads.\n\nIt also writes.\n- a point\n#### Notes\nMore of it.")
    assert parsed_tasks[0].acceptance == ("a criterion",)
    assert [task.description for task in parsed_tasks[1:]] == ["", "", ""]
    assert {task.source for task in parsed_tasks} == {"prd"}


def test_checklists_and_their_children() -> None:
    parsed_tasks = fields_of(
        """
        ## Tasks
        - [x] 1.0 Set it up [~3,000 tokens - Medium]
          - [x] 1.1 A child [~1k tokens - Simple]
            - [ ] 1.1.1 A grandchild
          - [ ] 1.2 Another [Complex]
        * [X] T001: With a letter
        1. [ ] **T002** In bold [P0]
        - [ ] 3 Just a number (depends on 1.2 and T001)
        """,
        "title",
        "status",
        "complexity",
        "parent_id",
        "depends_on",
    )
    assert parsed_tasks == [
        ("1.0", "Set it up", "completed", "medium", "", ("1.1", "1.2")),
        ("1.1", "A child", "completed", "simple", "1.0", ("1.1.1",)),
        ("1.1.1", "A grandchild", "pending", "medium", "1.1", ()),
        ("1.2", "Another", "pending", "complex", "1.0", ()),
        ("T001", "With a letter", "completed", "medium", "", ()),
        ("T002", "In bold", "pending", "medium", "", ()),
        ("3", "Just a number", "pending", "medium", "", ("1.2", "T001")),
    ]


def test_those_without_a_number_get_one() -> None:
    parsed_tasks = fields_of(
        """
        - [ ] First
          - [ ] Child
          - [ ] 1.2 Numbered
          - [ ] Child again
        - [ ] 2 Numbered
        - [ ] Third
        """,
        "title",
        "parent_id",
    )
    assert parsed_tasks == [
        ("1", "First", ""),
        ("1.1", "Child", "1"),
        ("1.2", "Numbered", "1"),
        ("1.3", "Child again", "1"),
        ("2", "Numbered", ""),
        ("3", "Third", ""),
    ]


def test_tabs_windows_and_words_below_an_item() -> None:
    text = "## Tasks\n- [ ] 1 One\n\tits words\n\tgo on\n\n\t- [ ] 2 Two\n\n\t  - a point\n\nNot its words.\n"
    parsed_tasks = tasks(text.replace("\n", "\r\n"))
    assert [(task.id, task.description, task.parent_id) for task in parsed_tasks] == [
        ("1", "its words\ngo on", ""),
        ("2", "- a point", "1"),
    ]
    lazy = tasks("## Tasks\n- [ ] 1 One\nwhich goes on\n\nNot its words.\n- not a task\n- [ ] 2 Two")
    assert [task.description for task in lazy] == ["which goes on", ""]


def test_numbered_items_below_a_numbered_heading_are_its_children() -> None:
    text = (
        "## Steps\n### 1.0 Begin\nWords.\n- [ ] 1.1 A step\n  - [ ] part of it\n- [ ] no number\n#### 1.2 Deeper\n"
    )
    assert fields_of(text, "parent_id", "description", "acceptance", "depends_on", "no_change") == [
        ("1.0", "", "Words.", ("no number",), ("1.1", "1.2"), True),
        ("1.1", "1.0", "", (), ("1.1.1",), True),
        ("1.1.1", "1.1", "", (), (), False),
        ("1.2", "1.0", "", (), (), False),
    ]


def test_code_and_comments_are_not_parsed() -> None:
    parsed_tasks = tasks("""
        ```
        ## Tasks
        - [ ] 9 no
        ```
        <!-- - [ ] 8 no -->
        ## Tasks
        <!--
        ### 7 no
        -->
        ### 1 One
        ~~~~python
        ### 6 no
        ~~~
        Priority: low
        ~~~~
          ```
          - [ ] 5 no
          ```
        - [ ] 2 Two
          ```
          - [ ] 4 no
          ```
    """)
    assert [task.id for task in parsed_tasks] == ["1", "2"]
    assert parsed_tasks[0].description.startswith("~~~~python\n### 6 no\n~~~\nPriority: low\n~~~~\n")
    assert parsed_tasks[1].description == "```\n- [ ] 4 no\n```"
    assert parsed_tasks[0].priority == "medium"


def test_lines_below_a_task_set_its_priority_dependencies_and_files() -> None:
    (_, _, task) = tasks("""
        ## Tasks
        ### 1.1 One
        ### 1.2 Two
        ### 1.3 Three
        It is hard.
        **Depends on:** Task 1.1, `1.2`
        - **Priority**: P1
        Complexity: Simple.
        Files: `src/a.py`, tests/b.py (new)
        Files to create: c.py
        Guardrails: keep it small; no new dependency
        Depends on how you see it.
        Depends on: the weather
    """)
    assert task == Task(
        id="1.3",
        title="Three",
        description="It is hard.\nDepends on how you see it.\nDepends on: the weather",
        priority="high",
        complexity="simple",
        depends_on=("1.1", "1.2"),
        files_to_create=("tests/b.py", "c.py"),
        files_to_modify=("src/a.py",),
        guardrails=("keep it small", "no new dependency"),
    )
    assert fields_of(
        "## Tasks\n### 1 One\nDependencies: none\nPriority: critical\n", "depends_on", "priority"
    ) == [("1", (), "critical")]


@pytest.mark.parametrize(
    ("words", "id", "text"),
    [
        ("1 One", "1", "One"),
        ("1. One", "1", "One"),
        ("1) One", "1", "One"),
        ("1.10: One", "1.10", "One"),
        ("1.1 - One", "1.1", "One"),
        ("Step 3 — One", "3", "One"),
        ("T001 One", "T001", "One"),
        ("AUTH-12: One", "AUTH-12", "One"),
        ("UTF-8 everywhere", "", "UTF-8 everywhere"),
        ("2x faster", "", "2x faster"),
        ("404", "", "404"),
        ("Add **kwargs and __init__", "", "Add **kwargs and __init__"),
        ("Use [x](y) and a[0]", "", "Use [x](y) and a[0]"),
        ("Task force", "", "Task force"),
        ("1 Go out (depends on the weather)", "1", "Go out (depends on the weather)"),
    ],
)
def test_ids_in_titles(words: str, id: str, text: str) -> None:
    assert title(words) == (id, text, {})


def test_a_checklist_anywhere_where_no_section_has_tasks() -> None:
    text = "# PRD\n## Implementation strategy\nWords.\n## Phase 1\n- [ ] T001 One\n## 2 Phase\n- [ ] T002 Two\n"
    assert fields_of(text) == [("T001",), ("T002",)]


def test_what_may_have_been_meant() -> None:
    text = (
        "## Tasks\n- words\n- more words\n### 1 One\n### Two\n## Later\n- [ ] 3 Three\n- [ ] a criterion\n"
        "### US-7: A story\n"
    )
    parsed_tasks, notes = parse(text, "prd.md")
    assert [task.id for task in parsed_tasks] == ["1", "2"]
    assert notes == (
        "prd.md:2: 2 items without a box are not read as tasks (lines 2, 3)",
        "prd.md:7: `- [ ] 3 Three` is in no section for tasks",
        "prd.md:9: `### US-7: A story` is in no section for tasks",
    )


def test_what_commonmark_takes_for_text_or_code_is_no_task_and_a_note_says_so() -> None:
    text = """\
        ## Tasks
        - [ ] 1 One
              - [ ] 2 Indented by six: Markdown goes on with the words of One

        Words.
        3. [ ] 3 A list that begins with another number than 1 cannot interrupt a paragraph

            - [ ] 4 Code

        <details>
        - [ ] 5 HTML
        </details>
        """
    tasks_read, notes = parse(textwrap.dedent(text), "prd.md")
    assert [(task.id, task.description) for task in tasks_read] == [
        ("1", "- [ ] 2 Indented by six: Markdown goes on with the words of One")
    ]
    assert [note.split(":")[1:2] + note.split(" is part of ")[1:] for note in notes] == [
        [line, f"{block} in Markdown, so it is not read as a task: {hint}"]
        for line, block, hint in [
            ("3", "the paragraph above", "indent it like the items around it, or put an empty line above it"),
            ("6", "the paragraph above", "indent it like the items around it, or put an empty line above it"),
            ("8", "indented code", "indent it less"),
            ("11", "a block of HTML", "put an empty line above it"),
        ]
    ]


def test_dashes_below_text_that_end_the_section_for_tasks_are_noted() -> None:
    tasks_read, notes = parse("## Tasks\n### 1 One\nWords.\n---\n### 2 Two\n", "prd.md")
    assert [task.id for task in tasks_read] == ["1"]
    assert notes == (
        "prd.md:3: `Words.` is a heading by the line below it, and ends the section for tasks:"
        " put an empty line between the two",
    )


def test_an_item_is_a_child_only_below_the_words_of_its_parent() -> None:
    text = "- [ ] 1 One\n - [ ] 2 By one\n1. [ ] 3 Three\n  - [ ] 4 By two\n9. [ ] 5 Five\n   - [ ] 6 By three\n"
    assert fields_of(text, "parent_id") == [("1", ""), ("2", ""), ("3", ""), ("4", ""), ("5", ""), ("6", "5")]


def test_quoted_tasks_and_tasks_in_html_are_no_tasks() -> None:
    text = (
        "> ## Tasks\n> - [ ] 7 no\n\n## Tasks\n> - [ ] 8 no\n\n"
        "<details>\n- [ ] 9 no\n</details>\n\n- [ ] 1 One\n  > - [ ] 2 no\n"
    )
    assert fields_of(text, "description") == [("1", "> - [ ] 2 no")]


def test_underlined_headings_and_indented_ones_are_headings() -> None:
    text = (
        "Tasks\n=====\n\n1 One\n-----\nWords.\n\n ## 2 Write C#\n\n---\n"
        "### [x] 2.1 Three ###\nRest\n====\n## 4 no\n"
    )
    assert parse(text, "prd.md")[1] == ()
    assert fields_of(text, "title", "status", "parent_id", "description") == [
        ("1", "One", "pending", "", "Words."),
        ("2", "Write C#", "pending", "", "---"),
        ("2.1", "Three", "completed", "2", ""),
    ]


def test_a_comment_in_an_item_is_left_out_with_its_empty_lines() -> None:
    text = "## Tasks\n- [ ] 1 One\n  <!-- not\n\n  - [ ] 2 now\n  -->\n  Its words.\n"
    assert fields_of(text, "description") == [("1", "Its words.")]


def test_the_text_of_a_task_is_cut_out_as_it_is() -> None:
    text = "## Tasks\n- [ ] 1 One\n\n\t```make\n\tall:\n\t\tcc a\t b\n\t```\n\n\tPriority: low\n"
    (task,) = tasks(text)
    assert (task.description, task.priority) == ("```make\nall:\n\tcc a\t b\n```", "low")
    text = "## Tasks\n### 1 One\n\n    Priority: low\n\n| a | b |\n|---|---|\n| [ ] | 2 |\n"
    (task,) = tasks(text)
    assert (task.description, task.priority) == (
        "    Priority: low\n\n| a | b |\n|---|---|\n| [ ] | 2 |",
        "medium",
    )


def test_front_matter_is_passed_over() -> None:
    text = "---\ntitle: Tasks\n---\n### 7 no\n## Tasks\n### 1 One\n"
    assert fields_of(text) == [("1",)]


def test_brackets_in_a_title_that_name_a_field() -> None:
    names = "(depends on 1 (the parser)) [P0] (P1) [simple] and [ ~2k  tokens - hard ] [c]"
    assert fields_of(f"## Tasks\n- [ ] 1 A\n- [ ] 2 B {names}\n", "title", "depends_on", "priority", "complexity")[
        1:
    ] == [("2", "B (P1) and [ ~2k  tokens - hard ] [c]", ("1",), "critical", "simple")]


@pytest.mark.parametrize(
    "text", ["", "# PRD\nWords.\n", "## Tasks\nfirst, then second\n", "# Shop\n- a point\n- another\n"]
)
def test_no_task_is_an_error_that_shows_what_would_have_been_accepted(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        tasks(text)
    assert "has no task" in caught.value.message
    assert ("in line 1" in caught.value.message) == text.startswith("##")
    assert caught.value.hint == ACCEPTED


def test_what_is_shown_as_accepted_is_accepted() -> None:
    plain, headings, checklist = ("\n".join(part.split("\n\n")[1:2]) for part in ACCEPTED.split("\n\nor")[:3])
    assert [task.id for task in tasks(textwrap.dedent(plain))] == ["1", "2"]
    assert [task.id for task in tasks(headings.replace("Depends on: 1.0", ""))] == ["1.1"]
    assert [task.id for task in tasks(checklist)] == ["1.0", "1.1", "T002", "1"]


def test_all_that_is_wrong_is_named() -> None:
    assert problems("## Tasks\n- [-] 1 One\n- [ ] 2 Two\n- [ ]\n") == [
        (2, "this item cannot be read"),
        (4, "this item cannot be read"),
    ]
    assert problems("## Tasks\n### 1 One\nPriority: soonish\n") == [(2, "`soonish` is not a valid priority")]
    assert problems("## Tasks\n### 1 One\nDepends on: 1.5\n### 2 Two\n### 2 Three\n") == [
        (2, "task `1` depends on `1.5`, which does not exist"),
        (4, "the id `2` is there 2 times"),
        (5, "the id `2` is there 2 times"),
    ]
    assert problems("## Tasks\n### 1 One\nDepends on: 2\n### 2 Two\nDepends on: 1\n") == [
        (2, "tasks wait for each other: `1` -> `2` -> `1`")
    ]


def test_the_companion_is_used_when_it_is_there(tmp_path: Path) -> None:
    prd = tmp_path / "login.md"
    prd.write_text("## Tasks\n- [ ] 1 From the PRD\n")
    assert read(prd).imported.tasks[0].title == "From the PRD"
    (tmp_path / "tasks-login.md").write_text("\ufeff- [ ] 1 From the companion\n")
    companion = read(prd)
    assert (companion.imported.tasks[0].title, companion.source.path) == (
        "From the companion",
        tmp_path / "tasks-login.md",
    )
    assert companion.warnings() == ["these are the tasks of `tasks-login.md`, which is beside `login.md`"]
    assert read(tmp_path / "tasks-login.md").imported == companion.imported


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.md", "cannot read `.*missing.md`: No such file"),
        ("binary.md", "binary.md:2: this is not UTF-8"),
        ("directory", "has no tasks that Samuel knows"),
    ],
)
def test_prd_that_is_missing_binary_or_a_directory_is_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "binary.md").write_bytes(b"# PRD\n\xff\xfe")
    (tmp_path / "directory").mkdir()
    with pytest.raises(SamuelError, match=message):
        read(tmp_path / name)


PIECES = st.sampled_from(
    [
        *(
            "## Tasks\n",
            "### 1.1 A\n",
            "### B\n",
            "- [ ] 1 C\n",
            "- [x] D\n",
            "  - [ ] E\n",
            "    F\n",
            "- [?] G\n",
        ),
        *("```\n", "\n", "<!--\n", "-->\n", "Depends on: 1\n", "Priority: P9\n", "\t", "#", "- [ ] "),
        *(
            "> ",
            "1. ",
            "---\n",
            "===\n",
            "| a | b |\n",
            "|---|---|\n",
            "<div>\n",
            "      ",
            "\r",
            "\0",
            "[P0] ",
            "(",
        ),
    ]
)


@given(st.lists(PIECES | st.text(), max_size=30).map("".join))
def test_any_text_gives_tasks_that_fit_together_or_a_proper_error(text: str) -> None:
    try:
        parsed_tasks, _ = parse(text, "prd.md")
    except SamuelError:
        return
    assert parsed_tasks
    assert len({task.id for task in parsed_tasks}) == len(parsed_tasks)


@pytest.mark.parametrize(
    ("lines", "checks"),
    [
        ("Check: make e2e", ("make e2e",)),
        ("**Check:** `npm run e2e -- --grep 'a b'`", ("npm run e2e -- --grep 'a b'",)),
        ("- **Check**: ``echo `date` ``", ("echo `date`",)),
        ("Check: `make a`, then `make b`", ("make a", "make b")),
        ("Check: make a | grep -q ok\n    check: `make b`", ("make a | grep -q ok", "make b")),
        ("Check: CI=1 make test", ("CI=1 make test",)),
        ("Check: none", ()),
        ("Check: The output is sorted", ()),
        ("Check: that it still works", ()),
    ],
)
def test_check_lines_are_the_commands_of_a_task(lines: str, checks: tuple[str, ...]) -> None:
    (task,) = parse(f"## Tasks\n- [ ] 1 Do it\n    {lines}\n", "prd.md")[0]
    assert task.checks == checks
    assert (task.description == "") == bool(checks)


def test_changes_none_says_that_a_task_needs_no_change() -> None:
    assert fields_of("## Tasks\n- [ ] 1 A\n  Changes: none\n- [ ] 2 B\n  Changes: the parser\n", "no_change") == [
        ("1", True),
        ("2", False),
    ]


def test_a_number_that_ends_or_goes_on_is_part_of_the_title() -> None:
    tasks_read, _ = parse("- [ ] 2.2\n- [ ] 1.5x faster start\n- [ ] 1.3. Prices\n", "prd.md")
    assert [(task.id, task.title) for task in tasks_read] == [
        ("1", "2.2"),
        ("2", "1.5x faster start"),
        ("1.3", "Prices"),
    ]


def test_a_box_without_a_space_before_it_and_a_row_without_a_title_are_named() -> None:
    _, notes = parse("## Tasks\n- [ ] Prices\n-[ ] Totals\n\n-[x] Taxes\n", "prd.md")
    why = (
        "is no item of a list in Markdown, so it is not read as a task: put a space between the bullet and the box"
    )
    assert [str(note) for note in notes] == [f"prd.md:3: `-[ ] Totals` {why}", f"prd.md:5: `-[x] Taxes` {why}"]
    _, notes = parse("| ID | Task |\n|---|---|\n| A-1 | Prices |\n| A-2 | |\n", "prd.md")
    assert [str(note) for note in notes] == ["prd.md:4: `| A-2 | |` has no title, so it is not read as a task"]


class TestParentsAndTheirChildren:
    """A parent waits for its children, unless one of them is written to wait for it."""

    def test_a_child_that_waits_for_its_parent_comes_after_it(self) -> None:
        text = """
            ## User Stories
            ### US-1: Store prices
            - [ ] the table exists
            #### US-2: Show prices
            Blocked by: US-1
            #### US-3: Import prices
        """
        assert fields_of(text, "depends_on", "parent_id") == [
            ("US-1", ("US-3",), ""),
            ("US-2", ("US-1",), "US-1"),
            ("US-3", (), "US-1"),
        ]

    def test_a_parent_whose_children_all_come_after_it_has_work_of_its_own(self) -> None:
        text = "## Tasks\n### 1 A\nWords.\n#### 2 B\nDepends on: 1\n"
        assert fields_of(text, "depends_on", "no_change") == [("1", (), False), ("2", ("1",), False)]

    def test_it_may_wait_by_way_of_others(self) -> None:
        text = """
            ## Tasks
            ### 1 A
            Words.
            #### 2 B
            Depends on: 3
            ### 3 C
            Depends on: 1
        """
        assert fields_of(text, "depends_on") == [("1", ()), ("2", ("3",)), ("3", ("1",))]

    def test_a_grandchild_may_wait_for_it_as_well(self) -> None:
        text = "## Tasks\n### 1 A\nx\n#### 2 B\nx\n##### 3 C\nDepends on: 1\n"
        assert fields_of(text, "depends_on") == [("1", ()), ("2", ("3",)), ("3", ("1",))]

    def test_two_parents_whose_children_wait_for_the_other_one_are_no_cycle(self) -> None:
        text = "## Tasks\n### 1 A\nx\n#### 2 B\nDepends on: 3\n### 3 C\nx\n#### 4 D\nDepends on: 1\n"
        assert fields_of(text, "depends_on") == [("1", ()), ("2", ("3",)), ("3", ()), ("4", ("1",))]

    def test_children_that_wait_for_a_heading_which_only_holds_them_wait_for_nothing(self) -> None:
        text = "## Tasks\n### 1 A\n#### 2 B\nDepends on: 1\n#### 3 C\nDepends on: 1\n### 4 D\nDepends on: 1\n"
        assert fields_of(text, "depends_on") == [("2", ()), ("3", ()), ("4", ("2", "3"))]

    def test_an_item_below_another_one_may_wait_for_it(self) -> None:
        text = "## Tasks\n- [ ] 1 A\n  - [ ] 2 B (depends on: 1)\n"
        assert fields_of(text, "depends_on")[1] == ("2", ("1",))

    def test_a_cycle_that_somebody_wrote_is_refused(self) -> None:
        text = "## Tasks\n### 1 A\nDepends on: 2\nx\n#### 2 B\nDepends on: 1\n"
        assert problems(text) == [(2, "tasks wait for each other: `1` -> `2` -> `1`")]
