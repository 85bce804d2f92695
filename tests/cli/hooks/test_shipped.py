"""`samuel hooks enable` brings a hook that comes with Samuel into the project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.shipped.table import SHIPPED_HOOKS, definition

FILE = ".system/hooks/policy_guard.yaml"
WRITE = '{"ability_id": "a", "operation_key": "db.write", "environment": "prod"}'


@pytest.mark.parametrize("name", SHIPPED_HOOKS)
def test_it_is_written_agreed_to_and_active(samuel: Callable[..., Any], project: Path, name: str) -> None:
    ran = samuel("hooks", "enable", name)
    assert (ran.code, ran.out) == (0, f"enabled `{name}` in .system/hooks/{name}.yaml\n")
    (row,) = samuel("hooks", "validate", "--json").json["data"]
    status = "disabled" if SHIPPED_HOOKS[name].required_key else "active"  # it has to be told what to do first
    assert (row["id"], row["status"], row["problems"]) == (name, status, [])
    yaml_text = (project / f".system/hooks/{name}.yaml").read_bytes()
    assert yaml_text == definition(name).replace(b"\nenabled: false\n", b"\nenabled: true\n")


def test_it_works_from_then_on_until_it_is_disabled(samuel: Callable[..., Any]) -> None:
    assert samuel("emit", "PreAbilityCall", stdin=WRITE).code == 0
    samuel("hooks", "enable", "policy_guard")
    denied = samuel("emit", "PreAbilityCall", stdin=WRITE)
    assert denied.code == 2
    assert "This would change production." in denied.err
    samuel("hooks", "disable", "policy_guard")
    assert samuel("emit", "PreAbilityCall", stdin=WRITE).code == 0


def test_what_the_project_made_of_it_stays(samuel: Callable[..., Any], project: Path) -> None:
    samuel("hooks", "enable", "policy_guard")
    file = project / FILE
    file.write_text(
        file.read_text().replace("enabled: true", "enabled: false").replace("[prod, production]", "[live]")
    )
    ran = samuel("hooks", "enable", "policy_guard")
    assert "is not trusted yet" in ran.err
    assert "environment: [live]" in file.read_text()


def test_a_hook_of_that_id_in_another_file_is_that_hook(
    samuel: Callable[..., Any], project: Path, put: Callable[..., Path]
) -> None:
    put(".system/hooks/mine.yaml", definition("policy_guard").decode())
    assert "in .system/hooks/mine.yaml" in samuel("hooks", "enable", "policy_guard").out
    assert not (project / FILE).exists()


def test_a_broken_file_in_its_place_stays(samuel: Callable[..., Any], put: Callable[..., Path]) -> None:
    file = put(FILE, "id: [\n")
    ran = samuel("hooks", "enable", "policy_guard")
    assert ran.code == 2
    assert file.read_text() == "id: [\n"


def test_a_misspelled_shipped_hook_gets_a_suggestion(samuel: Callable[..., Any]) -> None:
    ran = samuel("hooks", "enable", "policy_gard")
    assert ran.code == 2
    assert "did you mean `policy_guard`?" in ran.err


@pytest.mark.parametrize("name", ["", "nothing", "../shipped/policy_guard", "policy_guard.yaml"])
def test_enabling_a_shipped_hook_writes_no_other_hook(
    samuel: Callable[..., Any], project: Path, name: str
) -> None:
    ran = samuel("hooks", "enable", name)
    assert ran.code == 2
    assert f"there is no YAML hook `{name}`" in ran.err
    assert not (project / ".system").exists()


def test_a_link_in_its_place_leads_nowhere(samuel: Callable[..., Any], project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / ".system").symlink_to(tmp_path / "elsewhere")
    assert samuel("hooks", "enable", "policy_guard").code == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_shipped_hook_cannot_be_enabled_inside_a_run(
    samuel: Callable[..., Any], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMUEL_RUN_ID", "run-1")
    assert samuel("hooks", "enable", "policy_guard").code == 1
    assert not (project / FILE).exists()


def test_they_are_listed_with_how_they_stand(samuel: Callable[..., Any], put: Callable[..., Path]) -> None:
    samuel("hooks", "enable", "policy_guard")
    put(".system/hooks/mine.yaml", definition("knowledge_trigger").decode().replace("id: ", "id: my_"))
    rows = samuel("hooks", "list", "--shipped", "--json").json["data"]
    assert {row["name"]: row["status"] for row in rows} == {
        **dict.fromkeys(SHIPPED_HOOKS, "not here yet"),
        "policy_guard": "enabled",
        "knowledge_trigger": "disabled",
    }
    assert all(row["event"] == ", ".join(SHIPPED_HOOKS[row["name"]].events) and row["summary"] for row in rows)
    lines = samuel("hooks", "list", "--shipped", "--event", "PreAbilityCall").out.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [
        ["policy_guard", "PreAbilityCall", "enabled"],
        ["shell_guard", "PreAbilityCall", "not"],
    ]


def test_hooks_list_shipped_lists_the_hooks_that_can_be_enabled(samuel: Callable[..., Any]) -> None:
    assert "samuel hooks list --shipped" in samuel("hooks", "validate").out
    assert "samuel hooks list --shipped" in samuel("hooks", "enable", "wishful").err


def test_a_file_that_cannot_be_understood_says_why(samuel: Callable[..., Any], put: Callable[..., Path]) -> None:
    samuel("hooks", "enable", "policy_guard")
    put(FILE, "id: policy_guard\nevnt_type: PreAbilityCall\n")
    for command in ("enable", "disable"):
        ran = samuel("hooks", command, "policy_guard")
        assert ran.code == 2
        assert f"{FILE}:2: unknown key `evnt_type`" in ran.err


class TestAGuardThatSomebodyEnabled:
    @pytest.fixture
    def file(self, samuel, project):
        assert samuel("hooks", "enable", "policy_guard").code == 0
        return project / ".system/hooks/policy_guard.yaml"

    def test_is_not_switched_off_by_an_edit(self, samuel, file):
        file.write_text(file.read_text().replace("enabled: true", "enabled: false"))
        assert samuel("emit", "PreAbilityCall", stdin='{"ability_id": "x"}').code == 2

    def test_an_enabled_shipped_guard_denies_when_its_file_is_gone(self, samuel, file):
        file.unlink()
        assert samuel("emit", "PreAbilityCall", stdin='{"ability_id": "x"}').code == 2
        assert samuel("trust", "--yes").out == "confirmed as removed: .system/hooks/policy_guard.yaml\n"
        assert samuel("emit", "PreAbilityCall", stdin='{"ability_id": "x"}').code == 0

    def test_is_switched_off_by_its_owner(self, samuel, file):
        assert samuel("hooks", "disable", "policy_guard").code == 0
        assert samuel("emit", "PreAbilityCall", stdin='{"ability_id": "x"}').code == 0


def test_a_guard_holds_in_subdirectories_without_git_or_samuel_toml(samuel, project, monkeypatch):
    assert samuel("hooks", "enable", "policy_guard").code == 0
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    assert samuel("emit", "PreAbilityCall", stdin=WRITE).code == 2
