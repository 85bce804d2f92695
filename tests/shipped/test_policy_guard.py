from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel import hook
from samuel.testing import SamuelProject

RULES = """
rules:
  - decision: allow
    ability_id: lint
  - decision: deny
    reason: Production is written to by the release pipeline alone.
    environment: [prod, production]
    operation_key: ["db.*", deploy]
  - decision: ask
    reason: The infrastructure is not yours.
    path: ["infra/**", "*.tf"]
"""


@pytest.fixture
def guarded(enable: Callable[..., None]) -> None:
    enable("policy_guard", RULES, more="role: guard\nblocking: true\n")


def fire(project: SamuelProject, tool_input: Any = None, environment: str = "", **more: Any) -> Any:
    fields = {"ability_id": "a", "tool_input": tool_input or {}, **more}
    with project.open(environment=environment) as app:
        return app.fire("PreAbilityCall", **fields)


@pytest.mark.usefixtures("guarded")
def test_policy_guard_denies_a_write_in_production(samuel_project: SamuelProject) -> None:
    fired = fire(samuel_project, operation_key="db.write", environment="prod")
    assert fired.denied
    assert fired.result["error"] == "blocked_by_policy"
    assert fired.result["messages_to_user"] == ["Production is written to by the release pipeline alone."]


@pytest.mark.usefixtures("guarded")
def test_policy_guard_takes_the_ability_id_for_a_missing_operation_key(samuel_project: SamuelProject) -> None:
    assert fire(samuel_project, ability_id="db.write", environment="prod").denied
    assert fire(samuel_project, ability_id="db.write", operation_key="report.read", environment="prod").ok


@pytest.mark.usefixtures("guarded")
def test_policy_guard_finds_an_environment_anywhere_in_the_input(samuel_project: SamuelProject) -> None:
    tool_input = {"target": [{"env": "prod"}]}
    assert fire(samuel_project, tool_input, operation_key="db.write").denied


@pytest.mark.usefixtures("guarded")
def test_policy_guard_lets_a_write_pass_in_another_environment(samuel_project: SamuelProject) -> None:
    assert fire(samuel_project, operation_key="db.write", environment="dev").ok
    assert fire(samuel_project, operation_key="report.read", environment="prod").ok


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("key", ["environment", "env", "target_environment"])
def test_policy_guard_reads_the_environment_that_the_input_names(samuel_project: SamuelProject, key: str) -> None:
    assert fire(samuel_project, {key: "Production"}, operation_key="db.write", environment="dev").denied


@pytest.mark.usefixtures("guarded")
def test_policy_guard_reads_the_environment_that_the_caller_sends(samuel_project: SamuelProject) -> None:
    assert fire(samuel_project, operation_key="db.write", extra={"environment": "prod"}).denied


@pytest.mark.usefixtures("guarded")
def test_policy_guard_skips_later_rules_after_one_that_allows(samuel_project: SamuelProject) -> None:
    fired = fire(samuel_project, ability_id="lint", operation_key="db.write", environment="prod")
    assert fired.ok
    assert "decision" not in fired.result


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize(
    "tool_input",
    [
        {"path": "infra/prod.yaml"},
        {"files": ["README.md", {"to": "./infra/../infra/x"}]},
        {"command": "rm -f 'infra/x' && true"},
        {"command": "terraform apply --var-file=deep/down/main.tf"},
        "infra/x",
        {"command": "set -e\nrm infra/x\n"},
    ],
)
@pytest.mark.sampled(every=2)
def test_policy_guard_asks_about_paths_anywhere_in_the_input(
    samuel_project: SamuelProject, tool_input: Any
) -> None:
    questions: list[str] = []

    def yes(question: str) -> bool:
        questions.append(question)
        return True

    with samuel_project.open(ask=yes) as app:
        assert app.fire("PreAbilityCall", ability_id="edit", tool_input=tool_input).ok
    assert len(questions) == 1
    assert "The infrastructure is not yours." in questions[0]
    assert fire(samuel_project, tool_input).denied  # with no person to ask, ask means no


@pytest.mark.slow
@pytest.mark.usefixtures("guarded")
def test_policy_guard_resolves_absolute_paths_and_links(samuel_project: SamuelProject) -> None:
    root = samuel_project.root
    (root / "infra").mkdir()
    os.symlink(root / "infra", root / "harmless")
    (root / "src").mkdir()
    os.symlink("../infra/x", root / "src" / "file")
    os.symlink(root, root.parent / "same")
    assert fire(samuel_project, {"path": str(root / "infra" / "x")}).denied
    assert fire(samuel_project, {"path": "harmless/x"}).denied
    assert fire(samuel_project, {"path": "src/file"}).denied
    assert fire(samuel_project, {"path": str(root.parent / "same" / "infra" / "x")}).denied
    assert fire(samuel_project, {"path": "src/infrastructure/x"}).ok


@pytest.mark.slow
@pytest.mark.usefixtures("guarded")
def test_policy_guard_takes_a_directory_for_every_file_in_it(samuel_project: SamuelProject) -> None:
    (samuel_project.root / "infra").mkdir()
    os.symlink("infra", samuel_project.root / "harmless")
    (samuel_project.root / "src").mkdir()
    for command in ("rm -rf infra", "rm -rf infra/", "cp -r ./infra /tmp", "tar c harmless"):
        assert fire(samuel_project, {"command": command}).denied
    assert fire(samuel_project, {"command": "ls src"}).ok


@pytest.mark.usefixtures("guarded")
def test_policy_guard_does_not_take_content_of_a_file_for_paths(samuel_project: SamuelProject) -> None:
    content = "See infra/x\n" * 100_000
    assert fire(samuel_project, {"path": "docs/x.md", "content": content}).ok


@pytest.mark.slow
@pytest.mark.usefixtures("guarded")
def test_policy_guard_searches_a_long_command_to_its_end(samuel_project: SamuelProject) -> None:
    words = " ".join(f"src/{number}.py" for number in range(100_000))
    assert fire(samuel_project, {"command": words}).ok
    assert fire(samuel_project, {"command": f"{words} infra/x"}).denied


@pytest.mark.usefixtures("guarded")
def test_policy_guard_sees_the_input_as_other_hooks_rewrote_it(samuel_project: SamuelProject) -> None:
    @hook("PreAbilityCall", role="rewrite")
    def redirect(event: Any) -> dict[str, Any]:
        return {"tool_input": {**event.tool_input, "path": "infra/x"}}

    with samuel_project.open(handlers=[redirect]) as app:
        assert app.fire("PreAbilityCall", ability_id="edit", tool_input={"path": "src/x"}).denied


@pytest.mark.usefixtures("guarded")
def test_policy_guard_denies_while_its_changed_rules_are_not_trusted(samuel_project: SamuelProject) -> None:
    assert fire(samuel_project).ok
    file = samuel_project.root / ".system/hooks/policy_guard.yaml"
    file.write_text(file.read_text().replace("decision: deny", "decision: allow"))
    assert fire(samuel_project).denied
    assert fire(samuel_project, operation_key="db.write", environment="prod").denied


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("broken", ["rules: 1", "rules: [{decision: maybe}]", "rules: [\n", "rule: []"])
def test_policy_guard_denies_if_its_rules_are_broken(samuel_project: SamuelProject, broken: str) -> None:
    assert fire(samuel_project).ok
    file = samuel_project.root / ".system/hooks/policy_guard.yaml"
    head, _, _ = file.read_text().partition("config:")
    file.write_text(f"{head}config:\n  {broken}\n")
    samuel_project.trust()
    fired = fire(samuel_project)
    assert fired.denied
    assert "policy_guard" in fired.reason


@pytest.mark.usefixtures("guarded")
def test_policy_guard_denies_after_its_file_was_deleted(samuel_project: SamuelProject) -> None:
    assert fire(samuel_project).ok
    Path(samuel_project.root, ".system/hooks/policy_guard.yaml").unlink()
    assert fire(samuel_project).denied


def test_policy_guard_without_rules_returns_nothing(
    samuel_project: SamuelProject, enable: Callable[..., None]
) -> None:
    enable("policy_guard")
    assert fire(samuel_project).result == {}


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("odd", ["\0", "a" * 100_000, "\ud7ff/..", "~/x", "//", "😀/infra/x"])
@pytest.mark.sampled(every=3)
def test_policy_guard_handles_odd_texts_in_the_input(samuel_project: SamuelProject, odd: str) -> None:
    assert fire(samuel_project, {"x": odd}).ok
