"""A guard that stops working closes what it guards, wherever it lies and whatever happened to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.length import sample

from samuel.sources import declarations

REAL = (sys.executable, "-m", "samuel")
CALL = '{"ability_id": "shell", "tool_input": {"command": "git push --force"}}'
GUARD = '#!/bin/sh\n[ "$1" = hook ] && { echo PreAbilityCall; exit; }\ncat > /dev/null\necho "{}"\n'
MODULE = "import samuel\n\n@samuel.hook('PreAbilityCall')\ndef guard(event):\n    return {}\n"
PLACES = [".samuel/hooks", ".kodelet/hooks", "~/.samuel/hooks", "~/.kodelet/hooks"]


@pytest.fixture
def write(project: Path, machine: Path) -> Callable[..., Path]:
    """Put a file into a directory of the project, or of the home for `~/`."""

    def write(place: str, name: str, text: str | bytes, mode: int = 0o755) -> Path:
        directory = machine / place[2:] if place.startswith("~/") else project / place
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        file.chmod(mode)
        return file

    return write


def emit(samuel, event: str = "PreAbilityCall", context: str = CALL, *options: str):
    return samuel("emit", event, *options, stdin=context)


@pytest.mark.parametrize("place", PLACES)
class TestHookFiles:
    def test_guard_that_never_was_executable_closes_all_deniable_events(self, samuel, write, place: str) -> None:
        file = write(place, "guard", GUARD, 0o644)
        samuel("trust", "--yes")
        for event, context in (("PreAbilityCall", CALL), ("UserPromptSubmit", '{"user_message": "hi"}')):
            ran = emit(samuel, event, context)
            assert (ran.code, ran.json["decision"]) == (2, "deny")
            assert "`guard` not_started: it is not executable; `chmod +x " in ran.json["reason"]
        assert samuel("emit", "PostAbilityCall", stdin='{"ability_id": "a", "status": "success"}').code == 0
        file.chmod(0o755)
        samuel("trust", "--yes")
        assert emit(samuel) == (0, "{}\n", "")

    def test_guard_that_lost_its_execute_bit_closes_its_own_event_only(self, samuel, write, place: str) -> None:
        file = write(place, "guard", GUARD)
        samuel("trust", "--yes")
        assert emit(samuel).code == 0
        file.chmod(0o644)
        ran = emit(samuel)
        assert ran.code == 2
        assert "it is not executable; `chmod +x " in ran.json["reason"]
        assert emit(samuel, "UserPromptSubmit", '{"user_message": "hi"}').code == 0
        file.chmod(0o755)
        assert emit(samuel).code == 0

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("#!/no/such/interpreter\n", "names the interpreter `/no/such/interpreter`, which does not exist"),
            ("#!/usr/bin/env no-such-program\n", "needs `no-such-program`, which was not found"),
            ("#!/bin/sh\nexec sleep 60\n", "; it has to print the names of its events and exit"),
            ("#!/bin/sh\nexit 3\n", "failed: exit code 3"),
            ("#!/bin/sh\necho PreAbilityCal\n", "did you mean `PreAbilityCall`?"),
        ],
        ids=["no interpreter", "no program", "hangs", "fails", "misspelt"],
    )
    def test_file_that_cannot_be_asked_closes_deniable_events(
        self, samuel, write, monkeypatch: pytest.MonkeyPatch, place: str, text: str, says: str
    ) -> None:
        if "sleep" in text:
            monkeypatch.setattr(declarations, "ASK_SECONDS", 0.5)  # nothing else is asked here
        write(place, "guard", text)
        samuel("trust", "--yes")
        ran = emit(samuel)
        assert ran.code == 2
        assert says in ran.json["reason"]

    def test_guard_whose_interpreter_was_deleted_since_denies(
        self, samuel, write, place: str, tmp_path: Path
    ) -> None:
        shell = tmp_path / "my-shell"
        shutil.copy("/bin/sh", shell)
        write(place, "guard", GUARD.replace("/bin/sh", str(shell)))
        samuel("trust", "--yes")
        assert emit(samuel).code == 0
        shell.unlink()
        ran = emit(samuel)
        assert ran.code == 2
        assert f"names the interpreter `{shell}`, which does not exist" in ran.json["reason"]

    def test_program_that_lost_its_execute_bit_denies(self, samuel, write, place: str) -> None:
        """No `#!` tells that it was meant to be run."""
        write(place, "guard", Path("/bin/true").read_bytes(), 0o644)
        samuel("trust", "--yes")
        assert emit(samuel).code == 2

    def test_documentation_and_helpers_close_nothing(self, samuel, write, place: str) -> None:
        write(place, "README.md", "# Our hooks\n", 0o644)
        write(place, "words.txt", "a\n", 0o644)
        write(place, "common.py", "import os\n", 0o644)
        write(f"{place}/lib", "common.sh", "#!/bin/sh\n", 0o644)
        assert emit(samuel) == (0, "{}\n", "")
        samuel("trust", "--yes")
        assert emit(samuel) == (0, "{}\n", "")

    def test_disabled_hook_closes_nothing(self, samuel, write, place: str) -> None:
        write(place, "guard.disable", GUARD, 0o644)
        samuel("trust", "--yes")
        assert emit(samuel) == (0, "{}\n", "")


class TestWhatWasAgreedTo:
    """The owner's word is about what lies there: anything else is refused in the place that the guard had."""

    @pytest.fixture(params=[("guard", GUARD, 0o755), ("guard.py", MODULE, 0o644)], ids=["script", "module"])
    def file(self, samuel, write, request: pytest.FixtureRequest) -> Path:
        file = write(".samuel/hooks", *request.param)
        samuel("trust", "--yes")
        assert emit(samuel).code == 0
        return file

    @pytest.mark.parametrize(
        "change",
        [
            lambda file: file.write_text("# nothing here\n"),
            lambda file: (file.write_text("# nothing here\n"), file.chmod(0o644)),
            lambda file: (file.unlink(), file.mkdir()),
            lambda file: (file.unlink(), os.mkfifo(file)),
            lambda file: (file.unlink(), file.symlink_to("nowhere")),
            lambda file: file.rename(file.with_name(".hidden")),
            lambda file: (shutil.rmtree(file.parent), file.parent.write_text("")),
            lambda file: shutil.rmtree(file.parent),
            lambda file: (file.unlink(), file.with_name(f"{file.name}.disable").mkdir()),
            lambda file: (file.unlink(), os.mkfifo(file.with_name(f"{file.name}.disable"))),
        ],
        ids=[
            *("emptied", "a text", "a directory", "a pipe", "a dead link", "hidden", "no directory", "all gone"),
            *("disabled by a directory", "disabled by a pipe"),
        ],
    )
    def test_guard_replaced_by_something_else_denies(
        self, samuel, file: Path, change: Callable[[Path], object]
    ) -> None:
        change(file)
        assert emit(samuel).code == 2

    def test_helper_that_was_a_hook_is_one_no_more_once_that_is_agreed_to(self, samuel, write) -> None:
        file = write(".samuel/hooks", "guard.py", MODULE, 0o644)
        samuel("trust", "--yes")
        assert emit(samuel).code == 0
        file.write_text("# nothing here\n")
        assert emit(samuel).code == 2
        samuel("trust", "--yes")
        assert emit(samuel) == (0, "{}\n", "")


class TestNobodyAgreedYet:
    """In a fresh clone: what could be a guard closes the door until a person has looked."""

    def test_hook_file_of_a_clone_denies_and_says_how_to_go_on(self, samuel, write) -> None:
        write(".samuel/hooks", "guard", GUARD)
        ran = emit(samuel)
        assert ran.code == 2
        assert "`.samuel/hooks/guard` has not been agreed to yet; run `samuel trust`" in ran.json["reason"]

    def test_file_that_is_not_executable_says_both(self, samuel, write) -> None:
        write(".samuel/hooks", "guard", GUARD, 0o644)
        reason = emit(samuel).json["reason"]
        assert "run `samuel trust`" in reason
        assert "`chmod +x PROJECT/.samuel/hooks/guard`" in reason

    def test_yaml_observer_of_a_clone_lets_calls_through(self, samuel, write) -> None:
        text = "id: watch\nevent_type: PreAbilityCall\nrole: observe\nhandler: {kind: script, command: 'true'}\n"
        write(".system/hooks", "watch.yaml", text, 0o644)
        ran = emit(samuel)
        assert (ran.code, ran.out) == (0, "{}\n")
        assert "warning: `watch` refused: not trusted" in ran.err

    def test_handlers_in_samuel_toml_decide(self, samuel, write) -> None:
        write(".samuel/hooks", "guard", GUARD)
        write(".", "samuel.toml", "[hooks.PreAbilityCall]\nhandlers = []\n", 0o644)
        assert emit(samuel).code == 0


class TestYamlHooks:
    @pytest.fixture
    def script(self, samuel, write) -> Path:
        text = "id: guard\nevent_type: PreAbilityCall\nrole: guard\n"
        handler = "handler: {kind: script, command: ./scripts/guard.sh}\n"
        write(".system/hooks", "guard.yaml", text + handler, 0o644)
        script = write("scripts", "guard.sh", "#!/bin/sh\necho '{}'\n")
        samuel("trust", "--yes")
        assert emit(samuel).code == 0
        return script

    def test_script_that_lost_its_execute_bit_denies(self, samuel, script: Path) -> None:
        script.chmod(0o644)
        assert "`chmod +x PROJECT/scripts/guard.sh`" in emit(samuel).json["reason"]
        samuel("trust", "--yes")  # also where a person agreed to it as it is
        ran = emit(samuel)
        assert ran.code == 2
        assert "`chmod +x PROJECT/scripts/guard.sh`" in ran.json["reason"]

    def test_file_that_cannot_be_read_any_more_denies(self, samuel, script: Path, project: Path) -> None:
        (project / ".system/hooks/guard.yaml").write_text("id: [")
        assert emit(samuel).code == 2

    def test_file_that_never_could_be_read_denies(self, samuel, write) -> None:
        write(".system/hooks", "guard.yaml", "id: guard\nevnt_type: PreAbilityCall\n", 0o644)
        ran = emit(samuel)
        assert ran.code == 2
        assert ".system/hooks/guard.yaml:2" in ran.json["reason"]


SUGGESTER = """\
id: skill_activation_prompt
event_type: UserPromptSubmit
enabled: true
summary: >
  Read the incoming user message, cross-check it against the ability
  pool, and suggest a small set of abilities that are likely useful.
handler:
  kind: script
  command: ./scripts/hooks/skill_activation_prompt.sh
effects:
  - suggest_abilities
"""


class TestSuggester:
    """A hook that only suggests must not close a session: it is no guard, and never was one."""

    SCRIPT = "PROJECT/scripts/hooks/skill_activation_prompt.sh"

    def emit(self, samuel):
        return samuel("emit", "UserPromptSubmit", stdin='{"user_message": "run the tests"}')

    @pytest.fixture
    def script(self, write) -> Path:
        write(".system/hooks", "skill_activation_prompt.yaml", SUGGESTER, 0o644)
        return write("scripts/hooks", "skill_activation_prompt.sh", "#!/bin/sh\necho '{}'\n")

    def test_suggester_that_is_not_trusted_lets_prompts_through_with_a_warning(self, samuel, script: Path) -> None:
        assert self.emit(samuel) == (
            0,
            "{}\n",
            "warning: `skill_activation_prompt` refused: not trusted: "
            "`.system/hooks/skill_activation_prompt.yaml` has not been agreed to yet; run `samuel trust` to look "
            "at it and agree; the prompt is sent, because "
            "`skill_activation_prompt` is not a guard\n",
        )

    def test_suggester_that_lost_its_execute_bit_lets_prompts_through_with_a_warning(
        self, samuel, script: Path
    ) -> None:
        script.chmod(0o644)
        samuel("trust", "--yes")
        assert self.emit(samuel) == (
            0,
            "{}\n",
            f"warning: `skill_activation_prompt` not_started: `{self.SCRIPT}` is not executable; "
            f"`chmod +x {self.SCRIPT}`; the prompt is sent, because `skill_activation_prompt` is not a guard\n",
        )


class TestQuickAnswers:
    """`emit` may answer without the engine. What closes an event is seen there as well."""

    FILTERED = "id: f\nevent_type: PreAbilityCall\nmatch: {ability_id: other}\nrole: observe\n"

    def real(self) -> int:
        done = subprocess.run([*REAL, "emit", "PreAbilityCall"], input=CALL, capture_output=True, text=True)
        return done.returncode

    @pytest.mark.slow
    @pytest.mark.parametrize("place", sample(PLACES, every=2))
    def test_guard_that_lost_its_execute_bit_denies(self, samuel, write, place: str) -> None:
        write(".system/hooks", "f.yaml", f"{self.FILTERED}handler: {{kind: script, command: 'true'}}\n", 0o644)
        file = write(place, "guard", GUARD.replace("PreAbilityCall", "TurnEnd"))
        samuel("trust", "--yes")
        assert [self.real(), self.real()] == [0, 0]
        file.write_text("#!/no/such/interpreter\n")
        samuel("trust", "--yes")
        assert [self.real(), self.real()] == [0, 0]  # it is known to be for TurnEnd
        write(place, "new", GUARD, 0o644)
        samuel("trust", "--yes")
        assert [self.real(), self.real()] == [2, 2]
