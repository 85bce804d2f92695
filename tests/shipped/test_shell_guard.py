"""`shell_guard`: its rules, by their examples, and what is around a command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.shipped.shell_guard_project import Decide, corpus, decision_in, git, make_places

from samuel.events import PreAbilityCall
from samuel.shipped.shell_guard.catalogue import AREAS, GUARD_RULES
from samuel.shipped.shell_guard.command_pattern import command_pattern, matches
from samuel.testing import SamuelProject


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    make_places(home)
    return home


@pytest.fixture
def decide(places: Path, monkeypatch: pytest.MonkeyPatch) -> Decide:
    """`decide(command)`: the decision about a shell call and the rule that made it; empty if there is none."""
    monkeypatch.setenv("HOME", str(places))
    for name in ("XDG_STATE_HOME", "TMPDIR", "SAMUEL_ENV"):
        monkeypatch.delenv(name, raising=False)

    def decision(
        command: str, ability_id: str = "shell", tool_input: Any = None, **config: Any
    ) -> tuple[str, str]:
        return decision_in(places, ability_id, tool_input or {"command": command}, config)

    return decision


@pytest.mark.parametrize("rule", GUARD_RULES.values(), ids=lambda rule: rule.id)
def test_a_rule_stops_its_example_and_says_why(rule: Any, decide: Decide) -> None:
    others = [other for other in GUARD_RULES if other != rule.id]
    assert decide(rule.example, off=others) == (rule.decision, rule.id)
    assert decide(rule.example, off=list(GUARD_RULES)) == ("", "")


def test_rules_have_ids_of_their_own_and_are_described() -> None:
    rules = [rule for area in AREAS for rule in area.rules]
    assert len(rules) == len(GUARD_RULES)
    assert all(rule.why[0].isupper() and not rule.why.endswith(".") for rule in rules)


@pytest.mark.parametrize("command", corpus("everyday_commands.txt")[""])
def test_everyday_work_is_not_disturbed(command: str, decide: Decide) -> None:
    assert decide(command) == ("", "")


@pytest.mark.parametrize("section", corpus("development_commands.txt"))
def test_no_command_of_development_is_stopped(section: str, decide: Decide) -> None:
    commands = corpus("development_commands.txt")[section]
    assert {command: rule for command in commands if (rule := decide(command)[1])} == {}


@pytest.mark.parametrize("section", corpus("risky_commands.txt"))
def test_commands_that_could_lose_something_are_stopped(section: str, decide: Decide) -> None:
    assert [command for command in corpus("risky_commands.txt")[section] if not decide(command)[0]] == []


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("rm src/app.py", ""),  # committed and unchanged
        ("rm -rf src", ""),
        ("rm README.md", "ask"),  # changed
        ("rm notes.txt", "ask"),  # never added
        ("rm .env", "ask"),  # ignored, and no build output
        ("rm -rf build", ""),
        ("rm -rf .", "deny"),
        ("rm -rf *", "deny"),
        ("rm -rf no-such-file", ""),
        ("rm -rf ../project", "deny"),
        ("rm -rf ../other", "deny"),
        ("rm -rf ..", "deny"),
        ("rm -rf /tmp/named", ""),
        ("rm -rf /tmp", "ask"),
        ("rm -rf /tmp/*", "ask"),
        ("rm -rf /tmp/../etc", "deny"),
        ("cd /tmp && rm -rf *", "ask"),
        ("cd build && rm -rf *", ""),
        ("(cd build); rm -rf *", "deny"),
        ("D=/; rm -rf $D", "deny"),
        ("D=build; rm -rf $D", ""),
        ('T=$(mktemp -d); rm -rf "$T"', ""),
        ('rm -rf "$UNKNOWN"', "ask"),
        ("rm -rf build/$NAME", ""),
        ("rm -rf ~/x", "deny"),
        ("rm -rf $HOME", "deny"),
        ("echo / | xargs rm -rf", "deny"),
        ("cat list | xargs rm -rf", "ask"),
        ("sudo rm -rf /var/lib", "deny"),
        ("bash -c 'rm -rf ~'", "deny"),
        ("python3 -c 'import os; os.system(\"rm -rf ~\")'", "deny"),
        ("find . -name 'README*' -delete", "ask"),
        ("find src -name '*.py' -delete", ""),
    ],
)
def test_deleting_depends_on_what_git_can_bring_back(command: str, decision: str, decide: Decide) -> None:
    assert decide(command)[0] == decision


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git checkout -- README.md", "ask"),
        ("git checkout -- src/app.py", ""),
        ("git restore src", ""),
        ("git restore .", "ask"),
        ("git branch -D merged", ""),
        ("git branch -D feature", ""),  # pushed: the remote-tracking branch has it
        ("git push --force-with-lease origin feature", ""),
        ("git push --force-with-lease origin main", "deny"),
        ("git push --force origin feature", "ask"),
        ("git push --force origin main", "deny"),
        ("git push -f", "ask"),
        ("git push origin +main", "deny"),
        ("git commit --amend --no-edit", "ask"),
        ("git rebase -i HEAD~1", "ask"),
        ("git rebase main", "ask"),
        ("git -C ../other reset --hard", "ask"),
    ],
)
def test_git_commands_depend_on_branches_and_changes(command: str, decision: str, decide: Decide) -> None:
    if command == "git rebase main":  # its own commit was pushed
        assert decide(command)[1] == "git-rewrite-pushed"
    assert decide(command)[0] == decision


def test_a_branch_with_commits_of_others_is_shared(places: Path, decide: Decide) -> None:
    root = places / "work" / "project"
    other = ("-c", "user.name=you", "-c", "user.email=you@example.com")
    git(root, "branch", "together", "feature")
    tree = subprocess.check_output(["git", "write-tree"], cwd=root, text=True).strip()
    commit = subprocess.check_output(
        ["git", *other, "commit-tree", tree, "-p", "together", "-m", "theirs"], cwd=root, text=True
    ).strip()
    git(root, "update-ref", "refs/remotes/origin/together", commit)
    assert decide("git push --force-with-lease origin together") == ("deny", "git-push-force-shared")


def test_an_alias_of_the_repository_is_what_it_stands_for(places: Path, decide: Decide) -> None:
    root = places / "work" / "project"
    git(root, "config", "alias.undo", "reset --hard")
    git(root, "config", "alias.wipe", "!rm -rf ~")
    git(root, "config", "alias.st", "status")
    assert decide("git undo")[1] == "git-reset-hard"
    assert decide("git wipe")[1] == "delete-tree"
    assert decide("git st") == ("", "")


def test_known_packages_run_and_unknown_ones_are_asked_about(places: Path, decide: Decide) -> None:
    assert decide("npx typescript --version") == ("", "")
    assert decide("npx unknown-tool") == ("ask", "run-unknown-package")
    program = places / "work" / "project" / "node_modules" / ".bin" / "jest"
    program.touch()
    assert decide("npx jest") == ("", "")


@pytest.mark.parametrize("name", ["prod", "Production"])
def test_in_production_what_would_be_asked_is_denied(
    name: str, decide: Decide, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert decide("sudo make install")[0] == "ask"
    monkeypatch.setenv("SAMUEL_ENV", name)
    assert decide("sudo make install")[0] == "deny"


def test_own_rules_come_first(decide: Decide) -> None:
    allowed = {"decision": "allow", "program": ["git"], "arguments": ["stash clear"]}
    denied = {"decision": "deny", "program": ["make"], "reason": "no make"}
    assert decide("git stash clear", policy={"rules": [allowed]}) == ("", "")
    assert decide("git stash clear; rm -rf ~", policy={"rules": [allowed]})[0] == "deny"
    assert decide("make", policy={"rules": [denied]})[0] == "deny"


@pytest.mark.parametrize(
    ("ability", "path", "decision"),
    [
        ("edit", "src/app.py", ""),
        ("write", "src/new.py", ""),
        ("write", "samuel.toml", "deny"),
        ("edit", ".system/hooks/shell_guard.yaml", "deny"),
        ("edit", ".claude/settings.json", "deny"),
        ("read", "samuel.toml", ""),
        ("read", ".env", "ask"),
        ("read", ".env.example", ""),
        ("read", "~/.ssh/id_rsa", "deny"),
        ("read", "../../.aws/credentials", "deny"),
        ("write", "~/.bashrc", "deny"),
        ("edit", "/etc/hosts", "deny"),
        ("edit", "../other/notes.txt", "ask"),
        ("search", "~/.ssh", "deny"),
        ("mcp:files/write_file", "samuel.toml", "deny"),
        ("mcp:files/read_file", "samuel.toml", ""),
    ],
)
def test_edits_and_reads_of_files_are_judged_by_their_path(
    ability: str, path: str, decision: str, decide: Decide
) -> None:
    assert decide("", ability, {"path": path})[0] == decision


@pytest.mark.parametrize(
    ("patch", "decision"),
    [
        ("*** Begin Patch\n*** Update File: samuel.toml\n@@\n-a\n+b\n*** End Patch", "deny"),
        ("*** Begin Patch\n*** Add File: src/new.py\n+b\n*** End Patch", ""),
        ("--- a/.system/hooks/x.yaml\n+++ b/.system/hooks/x.yaml\n@@ -1 +1 @@\n-a\n+b\n", "deny"),
    ],
)
def test_a_patch_is_judged_by_the_files_that_it_changes(patch: str, decision: str, decide: Decide) -> None:
    assert decide("", "edit", {"patch": patch})[0] == decision
    assert decide(f"apply_patch <<'EOF'\n{patch}\nEOF")[0] == decision


@pytest.mark.parametrize(
    ("pattern", "command", "is_match"),
    [
        ("kubectl delete ns", "kubectl -n prod delete ns x", True),
        ("kubectl delete ns", "kubectl get delete ns", False),
        ("docker system prune -a|--all", "docker system prune -fa", True),
        ("docker system prune -a|--all", "docker system prune", False),
        ("rclone sync !--dry-run", "rclone sync a b --dry-run", False),
        ("git gc --prune=now", "git gc --prune=2.weeks", False),
    ],
)
def test_a_pattern_finds_subcommands_and_options(pattern: str, command: str, is_match: bool) -> None:
    assert matches(command_pattern(pattern), command.split()[1:]) is is_match


def test_it_guards_through_the_engine_and_fails_closed(
    samuel_project: SamuelProject, enable: Callable[..., None]
) -> None:
    enable("shell_guard", "off: [raise-rights]", "role: guard\nblocking: true\n")
    with samuel_project.open() as app:
        denied = app.fire(PreAbilityCall(ability_id="shell", tool_input={"command": "rm -rf ~"}))
        free = app.fire(PreAbilityCall(ability_id="shell", tool_input={"command": "git status"}))
        off = app.fire(PreAbilityCall(ability_id="shell", tool_input={"command": "sudo true"}))
    assert denied.stopped
    assert "delete-tree" in denied.reason
    assert not free.stopped
    assert not off.stopped


def test_nothing_that_a_reader_can_meet_makes_it_fail(decide: Decide) -> None:
    for text in (
        "",
        " ",
        "\0",
        "rm",
        "git",
        "git -C",
        "find",
        "xargs",
        "dd of=",
        "mv",
        "cp x",
        "curl -X",
        "kill",
        "cd",
    ):
        decide(text)
    decide("", tool_input={"command": "x " * 60_000})
    decide("rm -rf " + "a/" * 3_000)
    assert os.environ["HOME"]
