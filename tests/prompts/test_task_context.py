from __future__ import annotations

from typing import Any

import toons

from samuel.prompts.task_context import BUDGET, discovery, implementation


def make(id: str, status: str = "pending", **more: Any) -> dict[str, Any]:
    return {"id": id, "title": f"Task {id}", "status": status, **more}


def test_a_task_with_all_that_is_around_it() -> None:
    tasks = [
        make("1", "in_progress"),
        make(
            "1.1", "completed", parent_id="1", completed_at="2025-01-02T00:00:00Z", commit_sha="abcdef0123456789"
        ),
        make("1.9", parent_id="1"),
        make(
            "1.10",
            "in_progress",
            parent_id="1",
            description="Do it,\nwell.",
            priority="high",
            complexity="medium",
            depends_on=["1.1", "7"],
            files_to_create=["src/a.py"],
            files_to_modify=[],
            guardrails=["no new dependency"],
            acceptance=["it works", "it is fast"],
            test_strategy="unit tests",
            attempts=2,
            last_failure="x" * 2000 + "\nFAILED test_a",
        ),
        make("2", "completed", completed_at="2025-01-03T00:00:00Z"),
    ]
    data = toons.loads(implementation(tasks[3], tasks, {"max_file_lines": 300}))
    assert data["mode"] == "implementation"
    assert data["task"] == {
        "id": "1.10",
        "title": "Task 1.10",
        "description": "Do it,\nwell.",
        "test_strategy": "unit tests",
        "priority": "high",
        "complexity": "medium",
        "acceptance": ["it works", "it is fast"],
        "files_to_create": ["src/a.py"],
        "guardrails": ["no new dependency"],
        "attempt": 3,
    }
    assert data["last_failure"].endswith("\nFAILED test_a")
    assert len(data["last_failure"]) == 801
    assert data["guardrails"] == {"max_file_lines": 300}
    assert data["depends_on"] == [
        {"id": "1.1", "title": "Task 1.1", "status": "completed"},
        {"id": "7", "title": "", "status": "unknown"},
    ]
    assert [row["id"] for row in data["siblings"]] == ["1.1", "1.9"]
    assert data["recent_completions"] == [
        {"id": "2", "title": "Task 2", "commit": ""},
        {"id": "1.1", "title": "Task 1.1", "commit": "abcdef0123"},
    ]


def test_task_context_of_a_single_task_has_its_id_and_title() -> None:
    assert implementation(make("1"), [make("1")]) == 'mode: implementation\ntask:\n  id: "1"\n  title: Task 1'


def test_lists_may_be_the_text_of_a_cell() -> None:
    task = make("3", depends_on="1, 2", files_to_modify="a.py,b.py")
    data = toons.loads(implementation(task, [make("1"), make("2"), task]))
    assert data["task"]["files_to_modify"] == ["a.py", "b.py"]
    assert [row["id"] for row in data["depends_on"]] == ["1", "2"]


def test_the_last_five_completions() -> None:
    tasks = [make(str(number), "completed", completed_at=f"2025-01-{number:02}") for number in range(1, 9)]
    data = toons.loads(implementation(make("x"), tasks))
    assert [row["id"] for row in data["recent_completions"]] == ["8", "7", "6", "5", "4"]
    assert data["left_out"] == {"recent_completions": 3}


def test_a_long_description_leaves_room_for_the_rest() -> None:
    tasks = [make(str(number), "completed") for number in range(9)]
    task = make("x", description="word " * 700, depends_on=["1"])
    data = toons.loads(implementation(task, tasks))
    assert data["task"]["description"] == "word " * 700
    assert data["depends_on"]
    assert data["recent_completions"]


def test_discovery_is_told_what_is_open_already() -> None:
    tasks = [make("1", "completed"), make("2", "blocked"), make("3"), make("4", "skipped"), make("5")]
    data = toons.loads(discovery(tasks, "error handling", 10))
    assert data == {
        "mode": "discovery",
        "max_new_tasks": 10,
        "focus": "error handling",
        "tasks": {"total": 5, "blocked": 1, "completed": 1, "pending": 2, "skipped": 1},
        "open_tasks": [
            {"id": "2", "title": "Task 2", "status": "blocked"},
            {"id": "3", "title": "Task 3", "status": "pending"},
            {"id": "5", "title": "Task 5", "status": "pending"},
        ],
        "recent_completions": [{"id": "1", "title": "Task 1", "commit": ""}],
    }


def test_discovery_of_very_many_stays_small() -> None:
    tasks = [make(str(number), title=f"Something to do {number}") for number in range(1000)]
    text = discovery(tasks, "", 5)
    assert len(text.encode()) <= BUDGET
    data = toons.loads(text)
    assert len(data["open_tasks"]) + data["left_out"]["open_tasks"] == 1000


def test_the_answers_of_a_person_are_in_the_context_of_the_next_attempt() -> None:
    questions = [
        {"id": "q1", "text": "Which format?", "options": ["json", "toon"], "answer": "toon"},
        {"id": "q2", "text": "Which name?", "options": [], "answer": ""},
    ]
    blob = implementation({"id": "1", "title": "One", "questions": questions}, [])
    assert toons.loads(blob)["answers_from_a_person"] == [{"question": "Which format?", "answer": "toon"}]
    assert "answers_from_a_person" not in implementation({"id": "1", "title": "One", "questions": []}, [])
