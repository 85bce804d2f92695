"""Formats of tasks that hooks and plugins bring: the event `tasks.read`."""

from __future__ import annotations

import json

import pytest

NOTES = "What we talked about\n\nTODO: Store prices\nTODO: Show prices\n"
PYTHON_HOOK = """import samuel

@samuel.hook("tasks.read")
def todo(event):
    lines = list(enumerate(event.text.splitlines(), start=1))
    todo = [(line, text.removeprefix("TODO: ")) for line, text in lines if text.startswith("TODO: ")]
    if event.format not in ("", "{format}") or not todo:
        return None
    return {{
        "format": "{format}",
        "tasks": [{{"id": f"T{{at}}", "title": title, "line": line}} for at, (line, title) in enumerate(todo, 1)],
        "left_out": [{{"line": 1, "what": "it is not a TODO"}}],
    }}
"""
MANIFEST = 'name = "mine"\nversion = "1.0.0"\nkind = "skill"\n[hooks]\n"tasks.read" = "scripts/read.sh"\n'


def answer_of(**result) -> str:
    """The body of a script that keeps its payload and returns this result."""
    return f"cat > payload.json\ncat <<'END'\n{json.dumps(result)}\nEND"


def tasks_of(*tasks, **more) -> str:
    return answer_of(format="todo", tasks=list(tasks), **more)


@pytest.fixture
def hook(put, samuel, sh):
    """Put a trusted executable hook for `tasks.read` with this body into the project."""

    def write(body: str, name: str = "todo") -> None:
        put(f".samuel/hooks/{name}", sh("tasks.read", body), 0o755)
        assert samuel("trust", "--yes").code == 0

    return write


@pytest.fixture
def notes(put):
    return put("notes.txt", NOTES)


def test_an_executable_hook_gets_the_source_and_its_tasks_are_read(samuel, hook, notes, project):
    task = {
        "id": 7,
        "title": " Store  prices ",
        "line": 3,
        "description": "In cents.",
        "status": "done",
        "priority": "high",
        "complexity": "simple",
        "acceptance": ["a table"],
        "test_strategy": "look",
        "files_to_create": ["a.py"],
        "files_to_modify": ["b.py"],
        "guardrails": ["no floats"],
        "checks": ["make test"],
    }
    other = {"id": "8", "title": "Show", "depends_on": ["7"], "status": "blocked"}
    hook(tasks_of(task, other, left_out=[{"line": 1, "what": "not a TODO"}]))
    ran = samuel("run", "convert", "notes.txt", "--json")
    data = ran.json["data"]
    assert (data["format"], data["why"]) == ("todo", "the hook `todo` reads it")
    assert (data["counts"], data["written_back"]) == ({"lines": 3, "tasks_read": 2}, "")
    first, second = data["tasks"]
    expected = {**task, "id": "7", "title": "Store prices", "status": "completed"}
    del expected["line"]
    assert {name: first[name] for name in expected} == expected
    assert (second["depends_on"], second["status"]) == (["7"], "blocked")
    assert second["last_failure"] == "it is blocked in its source"
    assert ran.json["warnings"] == [
        "nothing is written back: the hook `todo` only reads",
        "notes.txt:1: not a TODO",
    ]
    payload = json.loads((project / "payload.json").read_text())
    assert (payload["event"], payload["format"], payload["text"]) == ("tasks.read", "", NOTES)
    assert payload["path"] == str(project / "notes.txt")


@pytest.mark.slow
def test_a_python_hook_reads_tasks_for_init_and_sync(samuel, put, notes, store):
    put(".samuel/hooks/todo.py", PYTHON_HOOK.format(format="todo"))
    assert samuel("trust", "--yes").code == 0
    ran = samuel("run", "init", "--from", "notes.txt", "--agent", "scripted")
    assert ran.code == 0
    assert ran.out.startswith(
        "2 tasks from notes.txt\n  format: todo, because the hook `todo` reads it\n"
        "  counted: 3 lines; read: 2 tasks\n"
    )
    assert [(task.id, task.title) for task in store.load()] == [("T1", "Store prices"), ("T2", "Show prices")]
    assert samuel("run", "done", "T1").out == "task `T1` is completed\n"
    assert notes.read_text() == NOTES
    notes.write_text(NOTES.replace("TODO: Store prices\n", "") + "TODO: Sort prices\n")
    assert samuel("run", "sync") == (
        0,
        "notes.txt: 1 new, 0 changed, 0 skipped, 0 completed\n  new `T2-2` Sort prices\n",
        "",
    )


def test_the_tasks_of_a_hook_are_added_to_a_list(samuel, hook, notes, three):
    hook(tasks_of({"id": "T1", "title": "Store"}))
    assert samuel("run", "enqueue", "--from", "notes.txt", "--format", "todo").code == 0
    assert [task.id for task in three.load()] == ["1", "1.10", "2", "T1"]


def test_standard_input_is_named_by_a_dash(samuel, hook, project):
    hook(tasks_of({"id": "1", "title": "Store"}))
    assert samuel("run", "convert", "-", "--format", "todo", stdin="store\n").code == 0
    payload = json.loads((project / "payload.json").read_text())
    assert (payload["path"], payload["format"], payload["text"]) == ("-", "todo", "store\n")


def test_a_plugin_brings_a_format(samuel, put, notes):
    put("mine/samuel-plugin.toml", MANIFEST)
    put("mine/scripts/read.sh", "#!/bin/sh\n" + tasks_of({"id": "1", "title": "Store"}).partition("\n")[2], 0o755)
    assert samuel("plugin", "add", "./mine", "--yes").code == 0
    data = samuel("run", "convert", "notes.txt", "--json").json["data"]
    assert (data["format"], data["why"]) == ("todo", "the hook `mine/scripts/read.sh` reads it")
    assert [task["title"] for task in data["tasks"]] == ["Store"]


@pytest.mark.parametrize("arguments", [("plan.md",), ("plan.md", "--format", "checklist")])
def test_no_handler_is_asked_where_a_built_in_format_fits_or_is_named(samuel, put, hook, project, arguments):
    hook(tasks_of({"id": "1", "title": "Store"}))
    put("plan.md", "- [ ] 1 Store prices\n")
    assert samuel("run", "convert", *arguments, "--json").json["data"]["format"] in ("markdown", "checklist")
    assert not (project / "payload.json").exists()
    assert "tasks.read" not in samuel("hooks", "log").out


def test_nothing_is_written_and_nothing_fired_without_a_handler(samuel, notes, project):
    ran = samuel("run", "convert", "notes.txt", "--format", "todo")
    assert ran == (
        2,
        "",
        "error: there is no format `todo`\n"
        "one of markdown, checklist, openspec, spec-kit, bmad, prd.json, task-master, beads, github\n",
    )
    assert samuel("run", "convert", "notes.txt").err.startswith("error: `notes.txt` has no task\n")
    assert sorted(path.name for path in project.iterdir()) == ["notes.txt"]


def test_two_handlers_with_two_formats_need_a_choice(samuel, hook, notes):
    hook(answer_of(format="aa", tasks=[{"id": "1", "title": "Of a"}]), "first")
    hook(answer_of(format="bb", tasks=[{"id": "1", "title": "Of b"}]), "second")
    assert samuel("run", "convert", "notes.txt") == (
        2,
        "",
        "error: `notes.txt` can be read in 2 ways\n"
        "say which:\n"
        "  --format aa: read by the hook `first` (the hook `first` reads it)\n"
        "  --format bb: read by the hook `second` (the hook `second` reads it)\n",
    )
    ran = samuel("run", "convert", "notes.txt", "--format", "bb", "--json")
    assert [task["title"] for task in ran.json["data"]["tasks"]] == ["Of b"]
    assert samuel("run", "convert", "notes.txt", "--format", "cc").err.endswith(
        "the hook `first` would read it as `aa`\nthe hook `second` would read it as `bb`\n"
    )


def test_of_two_handlers_with_the_same_format_the_first_is_used_and_the_other_named(samuel, hook, notes):
    hook(tasks_of({"id": "1", "title": "Of a"}), "first")
    hook(tasks_of({"id": "1", "title": "Of b"}), "second")
    ran = samuel("run", "convert", "notes.txt", "--json")
    assert [task["title"] for task in ran.json["data"]["tasks"]] == ["Of a"]
    assert ran.json["warnings"][0] == "the hook `second` reads `todo`, too; the first one, `first`, is used"


def test_a_handler_that_does_not_know_the_source_changes_nothing(samuel, hook, notes):
    hook(answer_of())
    assert samuel("run", "convert", "notes.txt").err.startswith("error: `notes.txt` has no task\n")


def test_an_untrusted_hook_is_not_asked_and_the_command_says_so(samuel, put, sh, notes, project):
    put(".samuel/hooks/todo", sh("tasks.read", tasks_of({"id": "1", "title": "Store"})), 0o755)
    put(".samuel/hooks/other.py", PYTHON_HOOK.format(format="other"))
    for arguments in ((), ("--format", "todo")):
        ran = samuel("run", "convert", "notes.txt", *arguments)
        assert ran.code == 2
        assert "`todo` was not asked: not trusted: `.samuel/hooks/todo` has not been agreed to yet;" in ran.err
        assert "`.samuel/hooks/other.py` has not been agreed to yet;" in ran.err
    assert not (project / "payload.json").exists()


def test_sync_says_why_its_hook_is_not_asked_any_more(samuel, hook, notes, store, project):
    hook(tasks_of({"id": "1", "title": "Store"}))
    assert samuel("run", "init", "--from", "notes.txt", "--agent", "scripted").code == 0
    file = project / ".samuel/hooks/todo"
    file.write_text(file.read_text() + "# changed\n")
    ran = samuel("run", "sync")
    assert ran.code == 2
    assert ran.err.startswith("error: there is no format `todo`\n")
    expected = "`todo` refused: not trusted: `.samuel/hooks/todo` is not what was agreed to;"
    assert ran.err.splitlines()[-1].startswith(expected)
    assert "refused" in samuel("hooks", "log").out
    assert [task.title for task in store.load()] == ["Store"]


WRONG = "the hook `todo` returned a wrong task: "


@pytest.mark.parametrize(
    ("tasks", "problems"),
    [
        (
            [{"id": "1", "title": "A", "line": 3}, {"id": "1", "title": "B", "line": 4}],
            [
                f"notes.txt:3: {WRONG}the id `1` is there 2 times (give each task an id of its own)",
                f"notes.txt:4: {WRONG}the id `1` is there 2 times (give each task an id of its own)",
            ],
        ),
        (
            [{"id": "1", "title": "A", "status": "finished", "line": 3}, {"id": "2"}],
            [
                f"notes.txt:3: {WRONG}`finished` is not a valid status "
                "(one of pending, in_progress, completed, done, skipped, blocked)",
                f"notes.txt: {WRONG}this task has no `title`",
            ],
        ),
        (
            [{"id": "1", "title": "A", "depends_on": ["2"]}, {"id": "2", "title": "B", "depends_on": ["1"]}],
            [
                f"notes.txt: {WRONG}tasks wait for each other: `1` -> `2` -> `1` "
                "(let one of them not wait: change its `depends_on`, or its line `Depends on:` or `Blocked by:`)"
            ],
        ),
        (
            [{"id": "1", "title": "A", "depends": ["2"], "priority": "soonish", "line": "x"}],
            [
                f"notes.txt: {WRONG}`depends` is not a field of a task (did you mean `depends_on`?)",
                f"notes.txt: {WRONG}`line` of this task must be a whole number, not 'x'",
                f"notes.txt: {WRONG}`soonish` is not a valid priority "
                "(a whole number, where 1 is first, or a word like `high`)",
            ],
        ),
    ],
    ids=["duplicate ids", "status and title", "cycle", "fields"],
)
def test_wrong_tasks_of_a_hook_get_the_messages_of_a_file(samuel, hook, notes, project, tasks, problems):
    hook(tasks_of(*tasks))
    assert samuel("run", "init", "--from", "notes.txt") == (2, "", "error: " + "\n".join(problems) + "\n")
    assert not (project / ".samuel/run/prd.toon").exists()


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ({"tasks": [{"id": "1", "title": "A"}]}, "returned tasks without a `format` (name what it read)"),
        ({"format": "beads", "tasks": []}, "uses the built-in name `beads` (use another name)"),
    ],
    ids=["no name", "a built-in name"],
)
def test_a_format_needs_a_name_of_its_own(samuel, hook, notes, result, problem):
    hook(answer_of(**result))
    assert samuel("run", "convert", "notes.txt") == (2, "", f"error: the hook `todo` {problem}\n")


def test_a_hook_that_finds_no_task_in_its_format_is_an_error(samuel, hook, notes):
    hook(tasks_of())
    ran = samuel("run", "convert", "notes.txt")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: `notes.txt` has no task in the format todo")


@pytest.mark.parametrize("body", ["echo '{\"tasks\": 7}'", "echo nonsense", "exit 3"])
def test_a_broken_answer_is_named_beside_what_is_accepted(samuel, hook, notes, body):
    hook(f"cat > /dev/null\n{body}")
    ran = samuel("run", "convert", "notes.txt")
    assert ran.code == 2
    assert ran.err.startswith("error: `notes.txt` has no task\n")
    assert ran.err.splitlines()[-1].startswith("`todo` ")


def test_a_strict_hook_that_fails_stops_the_command(samuel, hook, put, notes):
    hook("cat > /dev/null\nexit 3")
    put("samuel.toml", '[hooks."tasks.read"]\nstrict = true\n')
    ran = samuel("run", "convert", "notes.txt")
    assert (ran.code, ran.err.partition(":")[0]) == (1, "error")
    assert ran.err.startswith("error: a hook of `tasks.read` failed: `todo` ")
