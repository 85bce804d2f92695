"""Tasks from what people have: `run init --from`, `run enqueue --from`, `run sync`, and write-back."""

from __future__ import annotations

import json

import pytest

GITHUB = json.dumps(
    [
        {"number": 12, "title": "Crash", "body": "Depends on #11", "labels": [{"name": "P1"}], "state": "OPEN"},
        {"number": 9, "title": "Read", "body": "", "labels": [], "state": "OPEN"},
    ]
)
STORIES = json.dumps(
    {
        "verificationCommands": {"test": "make test"},
        "userStories": [{"id": "US-1", "title": "Prices", "priority": 1, "passes": False}],
    },
    indent=2,
)
CHANGE = "## 1. Storage\n- [ ] 1.1 Store prices\n- [ ] 1.2 Read prices\n"


def ids(store) -> list[tuple[str, str]]:
    return [(task.id, task.status) for task in store.load()]


def test_run_init_reads_issues_from_standard_input(samuel, store):
    ran = samuel("run", "init", "--from", "-", stdin=GITHUB)
    assert ran.code == 0
    assert ran.out.startswith(
        "2 tasks from standard input\n"
        "  format: github, because it is JSON with a `number` and a `title` for each issue\n"
        "  counted: 2 issues; read: 2 tasks\n"
    )
    assert ran.err == (
        "warning: nothing is written back: close the issues with `gh issue close`\n"
        "warning: standard input:1: `#12` waits for `#11`, which is not in the list; it may be closed\n"
    )
    assert ids(store) == [("#9", "pending"), ("#12", "pending")]
    assert samuel("run", "done", "#9").out == "task `#9` is completed\n"
    assert samuel("run", "sync").err.startswith("error: these tasks did not come from a file\n")


def test_run_init_reads_a_directory_and_run_done_ticks_the_box(samuel, put, store, project):
    file = put("openspec/changes/prices/tasks.md", CHANGE)
    put("openspec/changes/prices/design.md", "One table.\n")
    ran = samuel("run", "init", "--from", "openspec/changes/prices", "--json")
    data = ran.json["data"]
    assert (data["format"], data["counts"], data["documents"]) == (
        "openspec",
        {"headings": 1, "boxes": 2, "tasks_read": 2},
        ["design.md"],
    )
    assert samuel("run", "done", "1.2").out == "task `1.2` is completed, and marked in `tasks.md`\n"
    assert file.read_text() == CHANGE.replace("[ ] 1.2", "[x] 1.2")
    assert samuel("run", "done", "1.1").code == 0
    assert file.read_text() == CHANGE.replace("[ ]", "[x]")


def test_no_write_back_leaves_the_file_alone(samuel, put):
    file = put("tasks.md", CHANGE)
    samuel("run", "init", "--from", "tasks.md", "--no-write-back")
    assert samuel("run", "done", "1.1").out == "task `1.1` is completed\n"
    assert file.read_text() == CHANGE


def test_checks_of_a_prd_json_are_written_and_not_trusted_without_an_agreement(samuel, put, project):
    put("prd.json", STORIES)
    ran = samuel("run", "init", "--from", "prd.json")
    assert "  wrote quality_checks = ['make test']\n" in ran.out
    assert "the checks that the tasks bring along are not trusted yet: `samuel trust` shows them\n" in ran.out
    assert [item["state"] for item in samuel("trust", "--list", "--json").json["data"]] == ["new"]
    samuel("run", "init", "--from", "prd.json", "--force", "--yes")
    put("samuel.toml", "")
    samuel("run", "init", "--from", "prd.json", "--force", "--yes")
    assert [item["state"] for item in samuel("trust", "--list", "--json").json["data"]] == ["trusted"]


def test_two_formats_that_fit_need_the_option(samuel, put):
    put("plan.md", "## Tasks\n### Pricing engine\n- [ ] store\n### Totals page\n- [ ] add\n")
    ran = samuel("run", "convert", "plan.md")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "error: `plan.md` can be read in 2 ways\nsay which:\n"
        "  --format markdown: a PRD: stories, headings, checklists, lists and tables"
        " (it is Markdown with headings and checklists)\n"
        "  --format checklist: Markdown in which every box is a task, and headings are names of groups"
        " (its boxes may be the tasks)\n"
    )
    answer = samuel("run", "convert", "plan.md", "--format", "checklist", "--json").json
    assert [task["title"] for task in answer["data"]["tasks"]] == ["store", "add"]
    assert answer["data"]["why"] == "you said so"


@pytest.mark.slow
def test_a_person_on_a_terminal_chooses_between_two_formats_that_fit(on_terminal, put, samuel):
    put("plan.md", "## Tasks\n### Pricing engine\n- [ ] store\n### Totals page\n- [ ] add\n")
    code, screen = on_terminal("run", "init", "--from", "plan.md", typed="7\n2\ny\n")
    assert code == 0, screen
    assert "  1  markdown: a PRD: " in screen
    assert "  2  checklist: Markdown in which every box is a task" in screen
    assert screen.count("Which format is it: ") == 2, "asked again after a number that is none of them"
    assert "7 is not in the range 1<=x<=2" in screen
    assert "format: checklist, because you chose it" in screen
    assert [task["title"] for task in samuel("run", "tasks", "--json").json["data"]] == ["store", "add"]


TWO_READERS = """import samuel

@samuel.hook("tasks.read")
def {name}(event):
    if "== tasks ==" in event.text:
        return {{"format": "{name}", "tasks": [{{"id": "1", "title": "{name} task"}}]}}
"""


@pytest.mark.slow
def test_a_person_on_a_terminal_chooses_between_the_formats_of_two_hooks(on_terminal, put, samuel):
    for name in ("minutes", "protocol"):
        put(f".samuel/hooks/{name}.py", TWO_READERS.format(name=name))
    samuel("trust", "--yes")
    put("notes.txt", "== tasks ==\nSomething was said.\n")
    refused = samuel("run", "init", "--from", "notes.txt")
    assert (refused.code, refused.err.splitlines()[0]) == (2, "error: `notes.txt` can be read in 2 ways")
    code, screen = on_terminal("run", "init", "--from", "notes.txt", typed="2\ny\n")
    assert code == 0, screen
    assert "  1  minutes: " in screen
    assert "format: protocol, because you chose it" in screen
    assert [task["title"] for task in samuel("run", "tasks", "--json").json["data"]] == ["protocol task"]


def test_tasks_that_the_file_has_no_place_to_mark_are_named(samuel, put):
    put("prd.md", "## Tasks\n\n### 1 Prices\n\nWords.\n\n### 2 Totals\n\nWords.\n\n### [ ] 3 Taxes\n")
    hint = "a box (`- [ ] `) is a place for that, and a heading without one is not"
    note = f"prd.md: `1`, `2` are not marked there when completed: {hint}"
    assert note in samuel("run", "init", "--from", "prd.md", "--json").json["warnings"]
    first, second = samuel("run", "done", "1"), samuel("run", "done", "2")
    assert f"`1` is completed, but `prd.md` has no place to mark it: {hint}; this is not said again" in first.err
    assert "no place" not in second.err
    put("prd.md", "## Tasks\n\n- [ ] 1 Prices\n- [ ] 2 Totals\n")
    assert samuel("run", "init", "--from", "prd.md", "--force", "--json").json["warnings"] == []


def test_a_json_file_without_a_place_for_the_mark_is_told_of_its_field_and_of_no_box(samuel, put):
    stories = [{"id": "1", "title": "Prices", "passes": False}, {"id": "2", "title": "Totals"}]
    put("prd.json", json.dumps({"userStories": stories}))
    why = "`passes` of the story becomes true, and there is no such field"
    note = f"prd.json: `2` is not marked there when completed: {why}"
    assert samuel("run", "init", "--from", "prd.json", "--json").json["warnings"] == [note]
    done = samuel("run", "done", "2")
    assert f"`2` is completed, but `prd.json` has no place to mark it: {why}; this is not said again" in done.err


def test_an_empty_source_is_called_empty(samuel, put):
    put("plan.md", "\n \n")
    ran = samuel("run", "init", "--from", "plan.md")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: `plan.md` is empty")


def test_a_record_of_a_file_with_one_line_is_named(samuel, put):
    put(
        "prd.json",
        '{"userStories": [{"id": "US-1", "title": "A"}, {"id": "US-2", "title": "B", "passes": "yes"}]}',
    )
    ran = samuel("run", "init", "--from", "prd.json")
    assert ran.err.startswith("error: prd.json:1: `passes` of story `US-2` must be true or false, not 'yes'")


def test_broken_json_is_named_with_its_line_also_in_json(samuel, put):
    put("prd.json", STORIES[:60])
    ran = samuel("run", "init", "--from", "prd.json", "--json")
    assert ran.code == 2
    (problem,) = ran.json["error"]["problems"]
    assert (problem["file"], problem["line"], problem["what"]) == (
        "prd.json",
        4,
        "the JSON ends too early; the file may be cut off",
    )


@pytest.mark.slow
def test_run_init_shows_the_tasks_and_asks_on_a_terminal(on_terminal, put, project):
    put("tasks.md", CHANGE)
    code, screen = on_terminal("run", "init", "--from", "tasks.md", typed="n\n")
    assert code == 1
    assert "Store prices" in screen
    assert "counted: 1 heading, 2 boxes; read: 2 tasks" in screen
    assert "Write these tasks?" in screen
    assert "nothing was written" in screen
    assert not (project / ".samuel").exists()


def test_run_enqueue_adds_the_tasks_of_a_file(samuel, put, store):
    put("prd.md", "## Tasks\n- [ ] 1 One\n")
    samuel("run", "init", "--from", "prd.md")
    more = put("more.md", "- [ ] A-7: Seven\n- [ ] A-8: Eight\n")
    assert samuel("run", "enqueue", "--from", "more.md").out == (
        "2 tasks from more.md\n  format: markdown, because it is Markdown with checklists\n"
        "  counted: 2 boxes; read: 2 tasks\n"
    )
    assert ids(store) == [("1", "pending"), ("A-7", "pending"), ("A-8", "pending")]
    samuel("run", "done", "A-8")
    assert more.read_text() == "- [ ] A-7: Seven\n- [x] A-8: Eight\n"
    again = samuel("run", "enqueue", "--from", "more.md")
    assert (again.code, again.err.splitlines()[0]) == (
        2,
        "error: there are tasks with these ids already: `A-7`, `A-8`",
    )
    assert samuel("run", "enqueue").code == 2
    assert samuel("run", "enqueue", "x", "--from", "more.md").code == 2


def test_run_sync_merges_edits_and_asks_for_what_is_gone_or_ticked(samuel, put, store, project):
    put("tasks.md", CHANGE + "- [ ] 1.3 Sort prices\n")
    samuel("run", "init", "--from", "tasks.md")
    samuel("run", "done", "1.1")
    put("tasks.md", "## 1. Storage\n- [x] 1.1 Store prices\n- [x] 1.2 Read prices\n- [ ] 1.4 Round prices\n")
    before = store.load()
    dry = samuel("run", "sync", "--dry-run")
    assert dry.out == "tasks.md: 1 new, 0 changed, 0 skipped, 0 completed\n  new `1.4` Round prices\n"
    assert dry.err == (
        "warning: not in `tasks.md` any more, and kept: `1.3`; `--removed skip` skips them\n"
        "warning: marked as done in `tasks.md`, but not completed here: `1.2`; `--done complete` completes them\n"
    )
    assert store.load() == before
    answer = samuel("run", "sync", "--removed", "skip", "--done", "complete", "--json").json
    (report,) = answer["data"]["sources"]
    assert [row["id"] for row in report["added"]] == ["1.4"]
    assert ids(store) == [("1.1", "completed"), ("1.2", "completed"), ("1.3", "skipped"), ("1.4", "pending")]
    assert samuel("run", "sync").out == "tasks.md: 0 new, 0 changed, 0 skipped, 0 completed\n"


def test_run_sync_is_refused_inside_a_run(samuel, put, monkeypatch):
    put("tasks.md", CHANGE)
    samuel("run", "init", "--from", "tasks.md")
    monkeypatch.setenv("SAMUEL_RUN_ID", "run-7")
    for command in (("sync",), ("enqueue", "--from", "tasks.md"), ("init", "--from", "tasks.md")):
        assert "inside the run `run-7`" in samuel("run", *command).err


def test_the_checks_of_a_prd_json_are_added_to_those_of_the_project(samuel, put, project):
    put("samuel.toml", '[methodology.ralph]\nquality_checks = ["pytest -q"]\n')
    put("prd.json", STORIES)
    ran = samuel("run", "init", "--from", "prd.json")
    assert "  checks for all tasks: `make test`\n" in ran.out
    assert "  wrote quality_checks = ['pytest -q', 'make test']\n" in ran.out
    assert "the checks that the tasks bring along are not trusted yet: `samuel trust` shows them" in ran.out
    assert 'quality_checks = ["pytest -q", "make test"]' in (project / "samuel.toml").read_text()


def test_checks_that_the_project_has_are_not_added_again(samuel, put, project):
    config = put("samuel.toml", '[methodology.ralph]\nquality_checks = ["make test"]\n')
    before = config.read_text()
    put("prd.json", STORIES)
    assert "wrote" not in samuel("run", "init", "--from", "prd.json").out
    assert config.read_text() == before


def test_run_convert_names_the_checks_and_what_is_none_with_its_line(samuel, put):
    commands = '{\n    "test": "make test",\n    "lint": {"run": "ruff"},\n    "types": ""\n  }'
    put("prd.json", STORIES.replace(json.dumps({"test": "make test"}, indent=2).replace("\n", "\n  "), commands))
    ran = samuel("run", "convert", "prd.json")
    assert "  checks for all tasks: `make test`\n" in ran.out
    assert [line.removeprefix("warning: ") for line in ran.err.splitlines()] == [
        "prd.json:4: `lint` of `verificationCommands` is not a command, and is not checked",
        "prd.json:5: `types` of `verificationCommands` is not a command, and is not checked",
    ]


def test_a_named_format_decides_between_the_files_of_a_directory(samuel, put):
    put("prd.json", STORIES)
    put("tasks.json", json.dumps({"tasks": [{"id": 1, "title": "Other", "status": "pending"}]}))
    for name, title in (("prd.json", "Prices"), ("task-master", "Other")):
        ran = samuel("run", "convert", "--format", name, ".", "--json")
        assert [task["title"] for task in ran.json["data"]["tasks"]] == [title]
    for arguments in ((), ("--format", "beads")):
        refused = samuel("run", "convert", *arguments, ".")
        assert (refused.code, "has 2 files with tasks" in refused.err) == (2, True)
