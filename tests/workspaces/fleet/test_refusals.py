"""What a machine may lack: it is named, nothing is claimed on that machine, and the others go on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import py_guard
from tests.workspaces.fleet.project import FleetProject

GUARD = py_guard('return {"decision": "deny", "reason": "not on my machine"}')


def checked(fleet: FleetProject, *names: str) -> dict[str, Any]:
    code = 1 if names else 0
    answers = fleet.samuel("fleet", "check", *fleet.places(names=("m1", "m2")), "--json", code=code).data
    refused = {entry["place"].removeprefix("ssh:"): entry for entry in answers if not entry["ok"]}
    assert sorted(refused) == sorted(names), answers
    return refused


def assert_refused(fleet: FleetProject, code: str, words: str, *, lasting: bool = True) -> dict[str, Any]:
    """The first machine refuses with this code; the second one does all of the work."""
    (entry,) = checked(fleet, "m1").values()
    assert (entry["code"], words in entry["why"]) == (code, True), entry

    ran = fleet.start(*fleet.places(names=("m1",)), "--json", lanes=0, code=1)

    if lasting:
        assert ran.data["exit_reason"] == "no_place"
    assert fleet.calls() == [], "no agent began"
    assert set(fleet.statuses().values()) == {"pending"}
    assert {row["iteration"] for row in fleet.samuel("run", "tasks", "--json").data} == {0}, "nothing was claimed"

    ran = fleet.start(*fleet.places(names=("m1", "m2")), lanes=0)

    fleet.assert_sound(1)
    assert words in ran.screen
    machines = (fleet.outside / "machines").read_text().split()
    assert machines == ["m2"]
    return entry


@pytest.fixture
def shop(fleet: FleetProject) -> FleetProject:
    fleet.task("any", f'echo "$SAMUEL_MACHINE" >> {fleet.outside}/machines; echo x > "work-$SAMUEL_TASK_ID.txt"')
    return fleet


def programs_without(fleet: FleetProject, name: str, *missing: str) -> None:
    """Let a machine have all programs but these on its PATH."""
    directory = fleet.machines.home(name) / "programs"
    directory.mkdir()
    for place in fleet.machines.environment(name)["PATH"].split(":"):
        for program in Path(place).iterdir() if os.path.isdir(place) else ():
            if program.name not in missing and not (directory / program.name).exists():
                (directory / program.name).symlink_to(program)
    fleet.machines.set_variable(name, "PATH", str(directory))


@pytest.mark.slow
def test_machine_without_an_identity_for_commits(shop: FleetProject) -> None:
    shop.prepare_fleet(1, machines=("m1", "m2"))
    (shop.machines.home("m1") / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    entry = assert_refused(shop, "identity", "git has no name and e-mail address to commit with")
    assert "git config --global user.name" in entry["hint"]


@pytest.mark.slow
def test_machine_without_the_program_of_the_agent(shop: FleetProject) -> None:
    shop.prepare_fleet(1, machines=())
    text = (shop.root / "samuel.toml").read_text().replace('["./agent.sh", ', '["shop-agent", ')
    shop.write("samuel.toml", text)
    shop.git("commit", "-qam", "Another agent")
    shop.git("push", "-q", "origin", "main")
    for name in ("m1", "m2"):
        shop.clone(name)
    own = shop.home / "bin"
    own.mkdir()
    for place in (own, shop.machines.home("m2") / "bin"):
        (place / "shop-agent").symlink_to(shop.root / "agent.sh")
    shop.env["PATH"] = f"{own}:{shop.env['PATH']}"
    assert_refused(shop, "agent", "`shop-agent`")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_machine_without_the_sandbox_that_the_project_demands(shop: FleetProject) -> None:
    shop.prepare_fleet(1, machines=())
    table = "[methodology.ralph]\n"
    settings = (shop.root / "samuel.toml").read_text().replace(table, f'{table}sandbox = "bwrap"\n')
    shop.write("samuel.toml", settings)
    # In the sandbox the agent sees nothing beside the project.
    shop.write("agent.sh", '#!/bin/sh\necho "$SAMUEL_MACHINE" > machine.txt\n')
    shop.git("commit", "-qam", "An agent for the sandbox")
    shop.git("push", "-q", "origin", "main")
    for name in ("m1", "m2"):
        shop.clone(name)
    programs_without(shop, "m1", "bwrap")
    (entry,) = checked(shop, "m1").values()
    assert (entry["code"], "bwrap" in entry["why"]) == ("sandbox", True), entry

    ran = shop.start(*shop.places(names=("m1",)), "--json", lanes=0, code=1)
    assert ran.data["exit_reason"] == "no_place"
    assert shop.statuses() == {"1": "pending"}
    shop.start(*shop.places(names=("m1", "m2")), lanes=0)

    shop.assert_sound(1)
    assert shop.git("show", "main:machine.txt") == "m2\n"


@pytest.mark.slow
def test_machine_without_a_plugin_of_the_lock_file(shop: FleetProject) -> None:
    shop.prepare_fleet(1, machines=())
    plugin = shop.outside / "stamp"
    (plugin / "scripts").mkdir(parents=True)
    hooks = '[hooks]\n"after:iteration" = "scripts/stamp"\n'
    (plugin / "samuel-plugin.toml").write_text(f'name = "stamp"\nversion = "1.0.0"\nkind = "skill"\n{hooks}')
    (plugin / "scripts/stamp").write_text("#!/bin/sh\nexit 0\n")
    (plugin / "scripts/stamp").chmod(0o755)
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*person, "commit", "-q", "-m", "stamp")):
        shop.git(*words, cwd=plugin)
    shop.samuel("plugin", "add", f"file://{plugin}", "--yes")
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "A plugin")
    shop.git("push", "-q", "origin", "main")
    for name in ("m1", "m2"):
        shop.clone(name)
    for name in ("m1", "m2"):
        present = shop.machines.home(name) / "clone/.samuel/plugins"
        shutil.rmtree(present, ignore_errors=True)
    shop.on_machine("m2", "samuel", "-C", str(shop.machines.home("m2") / "clone"), "plugin", "install", "--yes")
    entry = assert_refused(shop, "plugins", "samuel.lock names `outside/stamp`, not installed on this machine")
    assert "plugin install` installs them" in entry["hint"]


@pytest.mark.slow
def test_machine_whose_owner_has_a_guard_that_the_agent_cannot_honour(shop: FleetProject) -> None:
    shop.prepare_fleet(1, machines=("m1", "m2"))
    guard = shop.machines.home("m1") / ".samuel/hooks/guard.py"
    guard.parent.mkdir(parents=True)
    guard.write_text(GUARD)
    shop.on_machine("m1", "samuel", "-C", str(shop.machines.home("m1") / "clone"), "trust", "--yes")
    entry = assert_refused(shop, "guards", "guard")
    assert "`--accept-unguarded` starts the run all the same" in entry["hint"]


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[None]:
    """A file system of this size at a directory."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"NOT TESTED: no file system can be mounted here: {mounted.stderr.decode()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.slow
def test_machine_without_room_on_its_disk(shop: FleetProject) -> None:
    shop.prepare_fleet(1, machines=("m2",))
    state = shop.machines.home("m1") / "state"
    state.mkdir(exist_ok=True)
    with small_disk(state, 100_000):
        shop.clone("m1")
        entry = assert_refused(shop, "disk", "MB are free below", lasting=False)
        assert entry["hint"] == "make room: 256 MB are needed"


@pytest.mark.slow
def test_machine_without_trust_for_the_checks_of_tasks_shows_them_when_its_owner_looks(shop: FleetProject) -> None:
    shop.prepare_fleet({"1": "Check: `sh own.sh`\n"}, machines=("m1", "m2"), files={"own.sh": "exit 0\n"})
    shop.samuel("trust", "--yes")
    refused = checked(shop, "m1", "m2")
    assert {entry["code"] for entry in refused.values()} == {"trust"}
    clone = shop.machines.home("m2") / "clone"
    listing = shop.on_machine("m2", "samuel", "-C", str(clone), "trust", "--show")
    assert "checks:ralph:tasks" in listing
    assert "task 1: sh own.sh" in listing
    shop.on_machine("m2", "samuel", "-C", str(clone), "trust", "--yes")

    assert_refused(shop, "trust", "`checks:ralph:tasks` of")
