"""Where Samuel runs (dev, prod, …): who says so, who is told, and that guards hold where it is not known."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import samuel as library

REAL = (sys.executable, "-m", "samuel")
CALL = '{"ability_id": "deploy"}'
DENY = """echo '{"decision": "deny", "reason": "not here"}'"""
ABILITY = """\
operation_key: billing.check
version: 1
summary: Looks at the bills.
scope:
  environments: [{environment}]
implementation:
  kind: script
  script: {{path: scripts/check.sh}}
"""


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SAMUEL_ENV", raising=False)


@pytest.fixture
def hook(yaml_hook: Callable[..., None]) -> Callable[..., None]:
    """A hook that runs a line of shell, in some environments only."""

    def write(id: str, environments: str, more: str = "", event: str = "PreAbilityCall", line: str = DENY) -> None:
        yaml_hook(id, event, line, f"environments: [{environments}]\n{more}")

    return write


def code(samuel, *options: str) -> int:
    return samuel("emit", "PreAbilityCall", *options, stdin=CALL).code


class TestGuardsHoldWhereItIsNotKnown:
    @pytest.mark.parametrize("name", ["prod", "PROD", "Prod"])
    def test_names_compare_without_case(self, samuel, hook, name: str) -> None:
        hook("guard", "prod")
        hook("other", "dev", event="TurnEnd", line="true")
        assert code(samuel, "--env", name) == 2
        assert code(samuel, "--env", "DEV") == 0

    def test_no_environment_keeps_a_guard_in_force(self, samuel, hook) -> None:
        hook("guard", "prod")
        assert code(samuel) == 2

    @pytest.mark.parametrize("name", ["production", "prd", "de v"])
    def test_name_that_nothing_here_knows_keeps_a_guard_in_force(self, samuel, hook, name: str) -> None:
        hook("guard", "prod")
        hook("other", "dev", event="TurnEnd", line="true")
        assert code(samuel, "--env", name) == 2

    def test_a_hook_that_is_not_a_guard_runs_only_in_its_environment(self, samuel, hook) -> None:
        hook("observer", "prod", "role: observe\n")
        hook("later", "prod", event="TurnEnd", line="touch ran")
        assert code(samuel) == 0
        samuel("emit", "TurnEnd", stdin='{"response": "x", "turn_number": 1}')
        assert not Path("ran").exists()

    def test_blocking_hook_of_any_event_is_a_guard(self, samuel, hook) -> None:
        hook("guard", "prod", "blocking: true\n", event="SessionStop", line="exit 1")
        assert samuel("emit", "SessionStop", stdin="{}").code == 2

    def test_ability_can_name_the_environment(self, samuel, hook, put) -> None:
        hook("guard", "prod")
        put("scripts/check.sh", "#!/bin/sh\n", 0o755)
        samuel("trust", "--yes")
        assert code(samuel, "--env", "staging") == 2
        file = put(".system/registry/low-level/billing.check.yaml", ABILITY.format(environment="Staging"))
        assert code(samuel, "--env", "staging") == 0
        file.unlink()
        assert code(samuel, "--env", "staging") == 2

    @pytest.mark.parametrize("where", ["project", "machine"])
    def test_setting_can_name_the_environment(self, samuel, hook, put, machine: Path, where: str) -> None:
        hook("guard", "prod")
        _say(put, machine, where, "staging")
        assert code(samuel) == 0

    @pytest.mark.slow
    def test_the_fast_path_of_emit_knows_the_environment(self, samuel, hook, put) -> None:
        hook("guard", "prod", "match: {ability_id: deploy}\n")
        hook("filtered", "dev", "match: {ability_id: other}\n")

        def real() -> int:
            ran = subprocess.run(
                [*REAL, "emit", "PreAbilityCall", "--env", "dev"], input=CALL, capture_output=True, text=True
            )
            return ran.returncode

        assert [real(), real()] == [0, 0]
        hook("filtered", "test", "match: {ability_id: other}\n")  # now nothing names `dev` any more
        assert [real(), real()] == [2, 2]


def _say(put, machine: Path, where: str, name: str) -> None:
    if where == "project":
        put("samuel.toml", f'environment = "{name}"\n')
    else:
        (machine / ".samuel").mkdir(exist_ok=True)
        (machine / ".samuel/config.toml").write_text(f'environment = "{name}"\n')


def test_the_nearest_setting_of_the_environment_wins(
    samuel, hook, put, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call, then the variable, then the machine, then the project."""
    hook("tell", "a, b, c, d", event="TurnEnd", line='echo "{\\"seen\\": \\"$SAMUEL_ENV\\"}"')

    def environment_in(*options: str) -> str:
        ran = samuel("emit", "TurnEnd", *options, stdin='{"response": "x", "turn_number": 1}')
        return str(ran.json.get("seen"))

    _say(put, machine, "project", "a")
    assert environment_in() == "a"
    _say(put, machine, "machine", "b")
    assert environment_in() == "b"
    monkeypatch.setenv("SAMUEL_ENV", "c")
    assert environment_in() == "c"
    assert environment_in("--env", "d") == "d"


class TestPayload:
    @pytest.mark.slow
    def test_the_environment_is_a_field_of_events(self, samuel, hook) -> None:
        hook("tell", "prod", event="TurnEnd", line="cat > seen.json")
        samuel("emit", "TurnEnd", "--env", "PROD", stdin='{"response": "x", "turn_number": 1}')
        assert '"environment":"PROD"' in Path("seen.json").read_text()

    def test_handler_in_this_process_sees_it(self, project: Path) -> None:
        environments = []

        @library.hook("SessionStart")
        def tell(event) -> None:
            environments.append(event.environment)

        with library.open(project, handlers=[tell], overrides=library.Overrides(environment="prod")) as app:
            app.fire("SessionStart")
        assert environments == ["prod"]

    @pytest.mark.slow
    def test_policy_rule_still_hears_the_environment_that_the_caller_names(self, samuel, put) -> None:
        samuel("hooks", "enable", "policy_guard")
        file = Path(".system/hooks/policy_guard.yaml")
        rules = "config:\n  rules:\n    - {ability_id: deploy, environment: prod, decision: deny}\n"
        head = file.read_text().split("config:")[0]
        file.write_text(head + rules)
        samuel("trust", "--yes")
        assert code(samuel) == 0
        ran = samuel("emit", "PreAbilityCall", stdin='{"ability_id": "deploy", "environment": "prod"}')
        assert ran.code == 2


@pytest.mark.parametrize(
    "command",
    [
        ("hooks", "list"),
        ("hooks", "explain", "PreAbilityCall"),
        ("hooks", "validate"),
        ("hooks", "fire", "SessionStart"),
        ("doctor",),
    ],
    ids=lambda command: " ".join(command),
)
def test_option_exists_where_a_message_recommends_it(samuel, hook, command: tuple[str, ...]) -> None:
    hook("later", "dev", event="TurnEnd", line="true")
    assert samuel(*command, "--env", "dev").code == 0


@pytest.mark.parametrize("command", ["recipe run", "run start", "run pilot"])
def test_commands_that_fire_events_take_env(samuel, command: str) -> None:
    assert "--env NAME" in samuel(*command.split(), "--help").out


class TestDoctor:
    def test_says_how_many_wait_for_an_environment(self, samuel, hook, put) -> None:
        hook("later", "dev", event="TurnEnd", line="true")
        hook("guard", "prod")
        put(".system/registry/low-level/billing.check.yaml", ABILITY.format(environment="dev"))
        text = samuel("doctor").out
        assert "2 hooks and 1 ability are for some environments only, and none is set" in text

    def test_names_an_environment_that_nothing_knows(self, samuel, hook) -> None:
        hook("guard", "prod")
        text = samuel("doctor", "--env", "production").out
        assert "no hook, ability or setting names the environment `production`" in text


def test_init_writes_the_commented_line(samuel) -> None:
    samuel("init")
    assert '# environment = "dev"\n' in Path("samuel.toml").read_text()
