"""The workflow of the page about receipts: its steps, run as CI would run them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator

from tests.verify.conftest import Shop
from tests.verify.guide import blocks, workflow

STEPS = [step["run"] for step in workflow()["steps"] if "run" in step]
INSTALL = "pip install samuel-loop"
ONLY_AGENTS = blocks("Refuse a pull request without receipts")[0]


def checked_out(shop: Shop, base: str, head: str) -> Shop:
    """What the first steps of the workflow make: a clone at the base of the request, with what checks need."""
    runner = Shop(shop.directory, shop.directory / "runner")
    shutil.rmtree(runner.root, ignore_errors=True)
    fork = shop.directory / "fork"
    shutil.rmtree(fork, ignore_errors=True)
    shop.git("branch", "-f", "proposed", head)
    shop.git("clone", "-q", "--mirror", str(shop.root), str(fork))
    shop.git("clone", "-q", "--no-checkout", "--branch=main", str(shop.root), str(runner.root))
    runner.git("checkout", "-q", "--detach", base)
    shutil.copytree(shop.root / ".venv", runner.root / ".venv")
    program = shop.directory / "bin/samuel"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m samuel "$@"\n')
    program.chmod(0o755)
    runner.variables |= {"BASE": base, "HEAD": head, "FROM": str(fork), "SAMUEL_TRUST": ""}
    return runner


def outcomes(shop: Shop, base: str, head: str, steps: list[str] = STEPS) -> Iterator[tuple[str, int, str]]:
    """Each step with its exit code and what it printed; a step that fails is the last one."""
    base, head = shop.git("rev-parse", base, head).split()
    runner = checked_out(shop, base, head)
    for step in steps:
        if step == INSTALL:  # it is installed here
            continue
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step]
        done = subprocess.run(command, cwd=runner.root, env=runner.variables, capture_output=True, text=True)
        yield step, done.returncode, done.stdout + done.stderr
        if done.returncode:
            return


def verdict(shop: Shop, base: str, head: str, steps: list[str] = STEPS) -> tuple[str, int, str]:
    """The last step that ran."""
    return list(outcomes(shop, base, head, steps))[-1]


def test_workflow_has_the_steps_that_these_tests_run() -> None:
    assert STEPS[0] == INSTALL
    assert [step.split()[0] for step in STEPS[1:]] == ["git", "samuel", "samuel"]
    assert set(workflow()["env"]) == {"BASE", "HEAD", "FROM"}


def test_pull_request_with_a_receipt_for_each_commit_passes(shop: Shop) -> None:
    step, code, text = verdict(shop, "HEAD~1", "HEAD")
    assert (step, code) == (STEPS[-1], 0), text
    assert text.startswith("same "), text


def test_pull_request_with_a_commit_without_a_receipt_is_refused(shop: Shop) -> None:
    (shop.root / "prices.py").write_text("def price(amount):\n    return 1\n")
    shop.git("commit", "-q", "-a", "-m", "by hand")
    step, code, text = verdict(shop, "HEAD~2", "HEAD")
    assert (step, code) == (STEPS[-1], 1)
    assert "the commit has no receipt" in text


def test_pull_request_with_a_forged_receipt_is_refused(shop: Shop) -> None:
    text = shop.git("notes", "--ref=samuel", "show", "HEAD")
    shop.git("notes", "--ref=samuel", "add", "--force", "-m", text.replace('"proven"', '"checked"'), "HEAD")
    step, code, text = verdict(shop, "HEAD~1", "HEAD")
    assert (step, code) == (STEPS[-1], 1)
    assert "is not the one that the `Samuel-Receipt` trailer of the commit names" in text


def test_pull_request_without_notes_is_refused(shop: Shop) -> None:
    shop.git("update-ref", "-d", "refs/notes/samuel")
    step, code, _ = verdict(shop, "HEAD~1", "HEAD")
    assert (step, code) == (STEPS[1], 128), "there is nothing to fetch"


def test_pull_request_cannot_choose_the_commands_that_run(shop: Shop) -> None:
    mark = shop.directory / "mark"
    config = shop.root / "samuel.toml"
    config.write_text(config.read_text().replace("quality_checks = [", f'quality_checks = ["touch {mark}", '))
    shop.git("commit", "-q", "-a", "--amend", "--no-edit")
    step, code, _ = verdict(shop, "HEAD~1", "HEAD")
    assert (step, code) == (STEPS[-1], 1)
    assert not mark.exists()


def test_commits_of_agents_alone_can_be_asked_for(shop: Shop) -> None:
    (shop.root / "more.txt").write_text("by hand\n")
    shop.git("add", "more.txt")
    shop.git("commit", "-q", "-m", "by hand")
    steps = [*STEPS[:-1], ONLY_AGENTS]
    assert verdict(shop, "HEAD~2", "HEAD", steps)[:2] == (ONLY_AGENTS, 0)
    shop.git("notes", "--ref=samuel", "remove", "HEAD~1")
    assert verdict(shop, "HEAD~2", "HEAD", steps)[:2] == (ONLY_AGENTS, 1)
