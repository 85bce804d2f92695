"""Making a task list from a program, without the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from samuel.base.errors import SamuelError
from samuel.config import load
from samuel.setup.consent import Consent
from samuel.setup.run_state import state_directory, task_store
from samuel.setup.task_list import TaskListRequest, make_task_list
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.importing import TaskImport, import_tasks
from samuel.testing import SamuelProject
from samuel.trust.items import TrustItem

PRD = "# Shop\n\n## Tasks\n- [ ] 1 One\n- [ ] 2 Two\n"


def read(project: SamuelProject, text: str = PRD, name: str = "prd.md") -> TaskImport:
    file = project.root / name
    file.write_text(text)
    return import_tasks(TaskSource.of_file(file))


def ids(root: Path) -> list[str]:
    return [task.id for task in task_store(state_directory(root)).load()]


def test_a_program_makes_a_task_list_and_reads_what_was_written(samuel_project: SamuelProject) -> None:
    root = samuel_project.root
    request = TaskListRequest(agent="codex", max_iterations=7)
    task_list = make_task_list(root, read(samuel_project), request)
    assert ids(root) == ["1", "2"]
    assert task_list.new_settings == {"agent": "codex", "max_iterations": 7}
    settings = load(root / "samuel.toml").chosen("ralph")
    assert (settings.agent, settings.max_iterations) == ("codex", 7)
    assert (list(task_list.checks), task_list.untrusted, list(task_list.warnings)) == ([], False, [])


def test_tasks_that_exist_are_replaced_only_by_force(samuel_project: SamuelProject) -> None:
    root = samuel_project.root
    make_task_list(root, read(samuel_project), TaskListRequest())
    other = read(samuel_project, "# Shop\n\n## Tasks\n- [ ] 3 Three\n", "other.md")
    with pytest.raises(SamuelError, match="has tasks already"):
        make_task_list(root, other, TaskListRequest())
    assert ids(root) == ["1", "2"]
    make_task_list(root, other, TaskListRequest(force=True))
    assert ids(root) == ["3"]


def test_an_unknown_agent_is_refused_before_anything_is_written(samuel_project: SamuelProject) -> None:
    task_import = read(samuel_project)
    with pytest.raises(SamuelError, match="nonesuch"):
        make_task_list(samuel_project.root, task_import, TaskListRequest(agent="nonesuch"))
    assert not (samuel_project.root / ".samuel/run").exists()


def test_a_task_list_is_not_replaced_inside_a_run(
    samuel_project: SamuelProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_import = read(samuel_project)
    monkeypatch.setenv("SAMUEL_RUN_ID", "run-7")
    with pytest.raises(SamuelError, match="inside the run `run-7`"):
        make_task_list(samuel_project.root, task_import, TaskListRequest())


WITH_CHECKS = """\
# Shop

## Tasks
- [ ] 1 One
      check: grep -q shop shop.txt
"""


def test_the_program_chooses_which_checks_of_the_tasks_are_trusted(samuel_project: SamuelProject) -> None:
    offered: list[str] = []

    def choose(consent: Consent, items: Sequence[TrustItem]) -> Sequence[TrustItem]:
        offered.extend(item.name for item in items)
        return items

    root = samuel_project.root
    task_import = read(samuel_project, WITH_CHECKS)
    assert [task.checks for task in task_import.imported.tasks] == [("grep -q shop shop.txt",)]
    assert make_task_list(root, task_import, TaskListRequest()).untrusted
    assert not make_task_list(root, task_import, TaskListRequest(force=True), choose).untrusted
    assert offered == ["checks:ralph:tasks"]
