"""HOME and parent directories as checks see them where an agent can write there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.evidence.check_directory import RoomFailed
from samuel.evidence.surroundings.host_settings import HostSettings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "user"
    for name in (".cargo/registry", ".m2/repository", ".config/git", ".config/browser", "src"):
        (home / name).mkdir(parents=True)
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n")
    (home / ".cargo/config.toml").write_text("[net]\noffline = true\n")
    (home / ".m2/settings.xml").write_text("<settings/>")
    (home / ".config/git/ignore").write_text("*.tmp\n")
    (home / ".netrc").write_text("secret")
    return home


@pytest.fixture
def make(tmp_path: Path, home: Path) -> Callable[[], HostSettings]:
    shared = tmp_path / "state"
    variables = {"HOME": str(home), "CARGO_HOME": f"{home}/.cargo", "PATH": f"{home}/.local/bin:/usr/bin:/bin"}
    (shared / "room").mkdir(parents=True)
    return lambda: HostSettings(shared, shared, shared / "room/shop", variables)


def test_home_of_checks_is_that_of_before_the_first_agent(make: Callable[[], HostSettings], home: Path) -> None:
    settings = make()
    settings.begin("run-1")
    (home / ".gitconfig").write_text("[core]\n\thooksPath = /tmp/evil\n")
    (home / ".cargo/config.toml").write_text('[build]\nrustc-wrapper = "/tmp/evil"\n')
    (home / ".npmrc").write_text("script-shell=/tmp/evil\n")
    (home / ".config/git/config").write_text("[core]\n\tfsmonitor = /tmp/evil\n")
    (home / ".local/lib/python3.11/site-packages").mkdir(parents=True)
    (home / ".local/lib/python3.11/site-packages/usercustomize.py").write_text("import os; os._exit(0)\n")
    variables = settings.variables()
    own = Path(variables["HOME"])
    assert own != home
    assert (own / ".gitconfig").read_text() == "[user]\n\tname = Ada\n"
    assert (own / ".cargo/config.toml").read_text() == "[net]\noffline = true\n"
    assert variables["CARGO_HOME"] == f"{own}/.cargo"
    assert "PATH" not in variables
    assert variables["MAVEN_OPTS"] == f"-Duser.home={own}"
    assert not (own / ".npmrc").exists()
    assert not (own / ".config/git/config").exists()
    assert not (own / ".local").exists()


def test_stores_and_other_directories_of_home_are_the_users_own(
    make: Callable[[], HostSettings], home: Path
) -> None:
    settings = make()
    settings.begin("run-1")
    own = Path(settings.variables()["HOME"])
    for name in (".cargo/registry", ".m2/repository", ".config/browser", "src", ".netrc"):
        assert os.readlink(own / name) == str(home / name)
    (own / ".cargo/registry/new").touch()
    assert (home / ".cargo/registry/new").exists()


def test_what_a_check_wrote_into_home_is_gone_for_the_next_one(make: Callable[[], HostSettings]) -> None:
    settings = make()
    settings.begin("run-1")
    own = Path(settings.variables()["HOME"])
    (own / ".npmrc").write_text("script-shell=/tmp/evil\n")
    (own / ".gitconfig").write_text("forged")
    settings.variables()
    assert not (own / ".npmrc").exists()
    assert (own / ".gitconfig").read_text() == "[user]\n\tname = Ada\n"


def test_run_that_goes_on_in_another_process_has_the_same_home(
    make: Callable[[], HostSettings], home: Path
) -> None:
    make().begin("run-1")
    (home / ".gitconfig").write_text("forged")
    resumed, later = make(), make()
    resumed.begin("run-1")
    assert (Path(resumed.variables()["HOME"]) / ".gitconfig").read_text() == "[user]\n\tname = Ada\n"
    later.begin("run-2")
    assert (Path(later.variables()["HOME"]) / ".gitconfig").read_text() == "forged"


@pytest.mark.parametrize(
    "name",
    ["pytest.ini", "package.json", "Cargo.toml", ".cargo/config.toml", "node_modules/jest.js", ".eslintrc.json"],
)
@pytest.mark.parametrize("place", [".", "state", "state/room"])
def test_setting_above_the_room_that_appeared_since_is_refused_by_name(
    make: Callable[[], HostSettings], tmp_path: Path, name: str, place: str
) -> None:
    (tmp_path / "tox.ini").write_text("of the person")
    settings = make()
    settings.begin("run-1")
    settings.variables()
    file = tmp_path / place / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("of the agent")
    with pytest.raises(RoomFailed, match="changed since the run began") as raised:
        settings.variables()
    named = file.parent if name.startswith("node_modules") else file
    assert f"`{named}`" in raised.value.message
    file.unlink()
    if not name.startswith((".cargo", "node_modules")):
        settings.variables()


def test_git_in_the_home_of_checks_does_not_read_what_an_agent_configured(
    make: Callable[[], HostSettings], home: Path
) -> None:
    settings = make()
    settings.begin("run-1")
    (home / ".gitconfig").write_text('[alias]\n\tstatus-of = "!echo forged"\n[user]\n\tname = Mallory\n')
    env = {**os.environ, **settings.variables()}
    command = ["git", "config", "--global", "user.name"]
    assert subprocess.run(command, env=env, capture_output=True, text=True).stdout == "Ada\n"
