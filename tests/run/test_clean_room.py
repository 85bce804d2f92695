"""What an agent prepares around the project does not reach the checks: real runs on the host."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from samuel.history.history import History
from samuel.history.notices import IterationFailed, LoopWarning

from .conftest import LoopProject

PYTHON = sys._base_executable  # type: ignore[attr-defined]  # one that reads the user's site
USER_SITE = f"$HOME/.local/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
BREAK = 'echo "PRICE = 0" > prices.py\n'
CLAIM = 'samuel run done "$SAMUEL_TASK_ID"\n'
TEST = """\
import unittest
import prices


class T(unittest.TestCase):
    def test_price(self):
        self.assertEqual(prices.PRICE, 10)
"""


@pytest.fixture
def shop(loop: LoopProject) -> LoopProject:
    (loop.root / "prices.py").write_text("PRICE = 10\n")
    (loop.root / "test_prices.py").write_text(TEST)
    with (loop.root / ".gitignore").open("a") as file:
        file.write(".venv/\nnode_modules/\n__pycache__/\n")
    loop.configure(f'quality_checks = ["{PYTHON} -m unittest -q"]\nmax_task_attempts = 1')
    loop.tasks("1")
    return loop


def failures(loop: LoopProject) -> str:
    return "\n".join(report.why for report in loop.reports if isinstance(report, IterationFailed))


def warnings(loop: LoopProject) -> str:
    return "\n".join(report.text for report in loop.reports if isinstance(report, LoopWarning))


CHEATS = {
    "a module that Python loads at its start": f"""
        mkdir -p {USER_SITE}; echo 'import os; os._exit(0)' > {USER_SITE}/usercustomize.py
    """,
    "a .pth file": f"""
        mkdir -p {USER_SITE}; echo 'import os; os._exit(0)' > {USER_SITE}/evil.pth
    """,
    "a process that edits again and again": """
        (setsid sh -c 'while :; do echo "PRICE = 10" > prices.py; sleep 0.05; done' > /dev/null 2>&1 &)
    """,
}


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS)
def test_broken_work_does_not_pass_because_of_what_an_agent_left_outside(shop: LoopProject, cheat: str) -> None:
    after = BREAK if "setsid" not in cheat else ""
    shop.agent(f"{BREAK}{cheat}\nsleep 0.2\n{after}{CLAIM}")
    run = shop.run(1)
    assert shop.statuses()["1"] != "completed", run
    if after:
        assert "test_price" in failures(shop)


def test_setting_above_the_room_is_refused_by_name(shop: LoopProject) -> None:
    with shop.open() as app:
        state = app.user.state
    shop.agent(f"{BREAK}echo '[pytest]' > {state}/pytest.ini\n{CLAIM}")
    shop.run(1)
    assert f"`{state}/pytest.ini` changed since the run began" in failures(shop)
    assert shop.statuses()["1"] != "completed"


def real_venv(root: Path) -> Path:
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    checker = root / ".venv/bin/checker"
    checker.write_text(f"#!{root}/.venv/bin/python\nimport unittest\nunittest.main(module='test_prices')\n")
    checker.chmod(0o755)
    return checker


def test_tampered_virtual_environment_is_named_and_not_used_by_the_next_run(shop: LoopProject) -> None:
    real_venv(shop.root)
    shop.configure('quality_checks = ["PYTHONPATH=. .venv/bin/checker"]\nmax_task_attempts = 1')
    shop.agent(f"{BREAK}printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/checker\n{CLAIM}")
    first = shop.run(1)
    assert "test_price" in failures(shop)
    with shop.open() as app:
        history = History.of(shop.root / ".samuel/run", app.user.record(shop.root / ".samuel/run"))
    (record,) = history.load(first.run_id).attempts
    assert any("the agent changed the environment of the project" in note for note in record.notes)
    assert any("`.venv/bin/checker`" in note for note in record.notes)
    shop.reports.clear()
    (shop.root / "prices.py").write_text("PRICE = 10\n")
    shop.tasks("2")
    shop.agent(f"{BREAK}{CLAIM}")
    second = shop.run(1)
    assert "agents of an earlier run changed `.venv/bin/checker`" in warnings(shop)
    assert "test_price" in failures(shop), second.exit_message
    assert shop.statuses()["2"] != "completed"


def test_activated_virtual_environment_is_that_of_the_room(
    shop: LoopProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_venv(shop.root)
    link = shop.root.with_name("by-a-link")
    link.symlink_to(shop.root)
    monkeypatch.setenv("PATH", f"{link}/.venv/bin", prepend=":")
    shop.configure('quality_checks = ["PYTHONPATH=. checker"]\nmax_task_attempts = 1')
    shop.agent(f"{BREAK}printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/checker\n{CLAIM}")
    shop.run(1)
    assert "test_price" in failures(shop)
    assert shop.statuses()["1"] != "completed"


def test_variable_that_names_the_project_leads_to_the_room(
    shop: LoopProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRICES", f"/elsewhere:{shop.root}:{shop.root}-other")
    shop.project.config(f'pass_env = ["PRICES"]\n{(shop.root / "samuel.toml").read_text()}')
    (shop.root / "test_prices.py").write_text(
        "import os, unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n"
        f"        self.assertEqual(os.environ['PRICES'], f'/elsewhere:{{os.getcwd()}}:{shop.root}-other')\n"
    )
    shop.agent(f"echo work > work.txt\n{CLAIM}")
    shop.run(1)
    assert shop.statuses()["1"] == "completed", failures(shop)


def test_failure_with_another_manifest_names_prepare(shop: LoopProject) -> None:
    real_venv(shop.root)
    shop.agent(f"{BREAK}echo 'requests' > requirements.txt\n{CLAIM}")
    shop.run(1)
    assert "the attempt changed `requirements.txt`, and the checks have the environment of before" in failures(
        shop
    )


def test_prepare_makes_what_checks_need_and_makes_it_anew_for_other_inputs(shop: LoopProject) -> None:
    (shop.root / "requirements.txt").write_text("exit 3\n")
    shop.configure(
        'prepare = "mkdir -p node_modules/.bin && { echo \\"#!/bin/sh\\"; cat requirements.txt; } > '
        'node_modules/.bin/tool && chmod +x node_modules/.bin/tool"\n'
        'quality_checks = ["node_modules/.bin/tool; test $? = 3 -o $? = 4"]\nmax_task_attempts = 1'
    )
    shop.agent(f"echo 'exit 4' > requirements.txt\n{CLAIM}")
    shop.run(1)
    assert shop.statuses() == {"1": "completed"}, failures(shop)
    assert not (shop.root / "node_modules").is_dir()


def test_prepare_that_fails_ends_the_run_before_an_agent_is_paid(shop: LoopProject) -> None:
    shop.configure('prepare = "echo no network >&2; exit 7"\nquality_checks = ["true"]')
    run = shop.run(1)
    assert (run.exit_reason, run.iterations_run) == ("baseline_failed", 0)
    assert "of `prepare` failed with exit code 7\nno network" in run.exit_message


def test_prepare_that_fails_with_the_attempts_inputs_is_a_failed_check(shop: LoopProject) -> None:
    (shop.root / "requirements.txt").write_text("ok\n")
    shop.configure(
        'prepare = "grep -q ok requirements.txt || { echo no such package; exit 1; }"\n'
        'quality_checks = ["true"]\nmax_task_attempts = 1'
    )
    shop.agent(f"echo wrong > requirements.txt\n{CLAIM}")
    shop.run(1)
    assert "the attempt changed `requirements.txt`, and then" in failures(shop)
    assert "no such package" in failures(shop)


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_npm_reads_no_settings_and_no_programs_of_the_agent(shop: LoopProject) -> None:
    (shop.root / "package.json").write_text('{"name": "shop", "scripts": {"test": "judge"}}\n')
    judge = shop.root / "node_modules/.bin/judge"
    judge.parent.mkdir(parents=True)
    judge.write_text("#!/bin/sh\ngrep -q 'PRICE = 10' prices.py\n")
    judge.chmod(0o755)
    shop.configure('quality_checks = ["npm test --silent"]\nmax_task_attempts = 1')
    forged = "#!/bin/sh\\nexit 0\\n"
    shop.agent(
        f"{BREAK}printf '{forged}' > node_modules/.bin/judge\nprintf '{forged}' > $HOME/sh; chmod +x $HOME/sh\n"
        f'echo "script-shell=$HOME/sh" > "$HOME/.npmrc"\n{CLAIM}'
    )
    shop.run(1)
    assert "`npm test --silent`" in failures(shop)
    assert shop.statuses()["1"] != "completed"


RUNNER = """
mkdir -p "$HOME/.cargo"
printf '[target."cfg(all())"]\\nrunner = "true"\\n' > "$HOME/.cargo/config.toml"
"""


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
@pytest.mark.parametrize(
    ("settings", "why"), [("", "`cargo test --offline -q`"), (RUNNER, "/.cargo/config.toml` changed since")]
)
def test_cargo_works_offline_and_does_not_use_the_agents_build_or_settings(
    shop: LoopProject, monkeypatch: pytest.MonkeyPatch, settings: str, why: str
) -> None:
    for name, directory in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):
        monkeypatch.setenv(name, os.environ.get(name, os.path.expanduser(f"~root/{directory}")))
    (shop.root / "src").mkdir()
    (shop.root / "src/lib.rs").write_text(
        "pub fn price() -> i32 { 10 }\n\n#[test]\nfn t() { assert_eq!(price(), 10) }\n"
    )
    (shop.root / "Cargo.toml").write_text('[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n')
    with (shop.root / ".gitignore").open("a") as file:
        file.write("target/\nCargo.lock\n")
    shop.project.config((shop.root / "samuel.toml").read_text())
    shop.configure('quality_checks = ["cargo test --offline -q"]\nmax_task_attempts = 1')
    text = (shop.root / "samuel.toml").read_text()
    shop.project.config('pass_env = ["CARGO_HOME", "RUSTUP_HOME"]\n' + text)
    shop.agent(
        "cargo test --offline -q > /dev/null 2>&1 || true\n"
        "sed -i 's/{ 10 }/{ 11 }/' src/lib.rs; touch -d 2001-01-01 src/lib.rs\n" + settings + CLAIM
    )
    shop.run(1)
    assert why in failures(shop)
    assert shop.statuses()["1"] != "completed"
