"""Which agents are installed: found on PATH, and asked for their version at the same time."""

from __future__ import annotations

from typing import Any

from samuel.agents.check import installed_agents
from samuel.clients.adapter.agent import Agent
from samuel.clients.table import AGENTS


def agent(name: str) -> Agent:
    return Agent(name=name, command=(name,), version=(name, "--version"), install=f"get {name}", checked="1.0")


def test_an_installed_agent_has_its_path_and_the_version_that_it_prints(desk: Any) -> None:
    program = desk.program("robot", '#!/bin/sh\necho\necho "robot 1.2"\necho "and more"\n')
    (robot,) = installed_agents([agent("robot")], desk.host, desk.root)
    assert robot == ("robot", "robot", str(program), "robot 1.2", "1.0", "get robot", "")


def test_an_agent_that_is_missing_has_no_path_and_is_not_asked(desk: Any) -> None:
    (robot,) = installed_agents([agent("robot")], desk.host, desk.root)
    assert (robot.path, robot.version, robot.problem) == ("", "", "")


def test_a_program_of_the_project_is_found_at_its_place(desk: Any) -> None:
    file = desk.root / "agent.sh"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    (mine,) = installed_agents([Agent(name="mine", command=("./agent.sh",))], desk.host, desk.root)
    assert (mine.path, mine.version, mine.problem) == (str(file), "", "")


def test_a_program_that_hangs_is_ended_and_the_others_are_asked_all_the_same(desk: Any) -> None:
    desk.program("stuck", "#!/bin/sh\nexec sleep 1000\n")
    desk.program("broken", "#!/bin/sh\nexit 7\n")
    desk.program("mute", "#!/bin/sh\n")
    programs = [agent(name) for name in ("stuck", "broken", "mute")]
    stuck, *others = installed_agents(programs, desk.host, desk.root, deadline=5)
    assert stuck.problem == "`stuck --version` did not end within 5s"
    assert [other.problem for other in others] == [
        "`broken --version` failed: exit code 7",
        "`mute --version` printed nothing",
    ]


def test_the_scripted_agent_comes_with_samuel(desk: Any) -> None:
    (scripted,) = installed_agents([AGENTS["scripted"]], desk.host, desk.root)
    assert (scripted.program, scripted.problem) == ("", "")
    assert scripted.path
