"""Where a loop works and what it works with: one project, one methodology, its state and its tools.

The built-in handlers and the loop are given this; they look nothing up themselves.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from samuel.agents.early_ends import EarlyEnds
from samuel.agents.find_agent import find
from samuel.attempt.turn.tool_hooks import NO_TOOL_HOOKS, ToolHooks
from samuel.attempt.workers import Workers
from samuel.base.clock import Clock
from samuel.base.errors import UsageError
from samuel.bridges.guards import STAND_IN
from samuel.checks.repeat import BuiltInChecks
from samuel.config.model import AgentSettings, LaneSettings, Methodology
from samuel.confine import sandbox as sandboxes
from samuel.dispatch.record import Fired
from samuel.events import Sandbox
from samuel.evidence.check_directory import CheckDirectory
from samuel.evidence.room import ROOM
from samuel.evidence.sealed import SealedCheck
from samuel.files.atomic import DISK, Disk, errors_naming
from samuel.files.inside import make_dirs_inside, open_inside
from samuel.git.git import Git
from samuel.history.budgets import BudgetMeter
from samuel.history.notices import LoopWarning, Watch, ignore_reports
from samuel.prompts.suggestions import SuggestionSection
from samuel.receipts.environment import ToolVersions
from samuel.tasks.store import TaskStore
from samuel.trust import commands
from samuel.trust.store import Agreement, TrustStore

NO_LANES = LaneSettings()
SEALED_OUTPUT = "sealed"
"""The directory in the user's state that has the output of sealed checks, for a person to read."""


def permit_everything(name: str, digest: str) -> str:
    """The `permit` of a workplace that refuses no command."""
    return ""


def no_suggestions(results: Sequence[Fired], can_call: bool) -> SuggestionSection:
    """The `suggest` of a workplace without suggestions of hooks."""
    return SuggestionSection()


@dataclass(frozen=True)
class Workplace:
    root: Path
    state: Path  # .samuel/run/, or .samuel/run/<methodology>/
    templates: Path
    cache: Path
    settings: Methodology
    agents: Mapping[str, AgentSettings]
    environment: Mapping[str, str]  # what quality commands see
    host: Mapping[str, str]  # where `$NAME` references are looked up
    clock: Clock
    git: Git
    tasks: TaskStore
    meter: BudgetMeter = field(default_factory=BudgetMeter)
    """What the agents may still use."""
    early_ends: EarlyEnds = field(default_factory=EarlyEnds)
    """The agents that a person wants to end."""
    prd_prompt_bytes: int = 8 * 1024  # of the PRD's text outside of its tasks
    preferred_agent: str = ""  # the user's own, for projects that name none
    disk: Disk = DISK
    watch: Watch = ignore_reports
    record: Path | None = None
    """The directory in the user's state for the record of a run of this state directory; None keeps no record."""
    live: Path | None = None
    """The directory that names the runs in progress."""
    trust: TrustStore | None = None
    permit: Callable[[str, str], str] = permit_everything
    """Why a command of samuel.toml may not run, by its name and digest; "" if it may."""
    in_background: Callable[[], Sequence[str]] = tuple
    """The names of the background hooks that are at work."""
    tool_hooks: ToolHooks = NO_TOOL_HOOKS
    """The hooks that judge the tool calls of agents."""
    lane: int | None = None
    """The number of the lane that this is, in a run with several agents at once."""
    machine: str = ""
    """The machine that this is, in a run with several of them; "" at the coordinator."""
    lanes: LaneSettings = NO_LANES
    built_in_checks: BuiltInChecks = field(default_factory=BuiltInChecks)
    """How a single check is run again."""
    check_directory: CheckDirectory = field(default_factory=CheckDirectory)
    """Where check commands run now."""
    out_of_sight: tuple[str, ...] = ()
    """Directories that are empty for an agent in a sandbox."""
    reviews_work: bool = False
    """Whether the handler of `quality.check` takes part by which another agent reviews a claim."""
    sealed_checks: tuple[SealedCheck, ...] = ()
    check_seconds: float = 600.0
    """How long a sealed check may take: as long as any other."""
    suggest: Callable[[Sequence[Fired], bool], SuggestionSection] = no_suggestions
    """What hooks suggested, as a section for the prompt; the flag says whether the agent can call abilities."""

    @cached_property
    def tool_versions(self) -> ToolVersions:
        return ToolVersions(self.root, self.environment)

    def at_work(self, who: str) -> Workers:
        """Who may change something from now on: `who`, and hooks in the background."""
        return Workers(who, self.in_background)

    @property
    def agent(self) -> str:
        return self.chosen_agents[0]

    @property
    def chosen_agents(self) -> tuple[str, ...]:
        """The agents to work with, in order of preference."""
        return self.settings.agents_for(self.preferred_agent)

    def refusal(self, text: commands.CommandText | None) -> str:
        """Why a command line that came with the project may not run; "" if it may."""
        return self.permit(text[0], text[1]) if text else ""

    def agreements(self) -> Mapping[str, Agreement]:
        """What the user agreed to, as it is stored now."""
        return self.trust.load() if self.trust else {}

    def restore_agreements(self, before: Mapping[str, Agreement], names: Iterable[str]) -> None:
        """Make these agreements what they were before."""
        if self.trust:
            self.trust.restore(before, names)

    def append(self, path: Path, text: str | bytes) -> None:
        """Append to a file of the state. Links are not followed: they may have come with a clone."""
        parts = path.relative_to(self.state).parts
        if parts[:-1]:
            os.close(make_dirs_inside(self.state, *parts[:-1], mode=0o755))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        fd = open_inside(self.state, *parts, flags=flags, mode=0o644)
        with errors_naming(path), open(fd, "ab") as file:
            file.write(text if isinstance(text, bytes) else text.encode(errors="replace"))

    def own_files(self, name: str) -> tuple[str, ...]:
        """Patterns of the files at the root that the agent keeps for itself."""
        return find(name, self.agents).own_files

    def claims_by_exit(self, name: str) -> bool:
        """Whether a clean exit with changed files is the agent's claim."""
        with suppress(UsageError):  # a run that goes on may have had an agent that samuel.toml names no more
            return find(name, self.agents).claim == "exit"
        return False

    def agent_env(self, name: str) -> dict[str, str]:
        """The host's variables that the agent gets: by name, so that no handler and no journal sees a value."""
        return {variable: f"${variable}" for variable in find(name, self.agents).env if variable in self.host}

    def is_stand_in(self, name: str) -> bool:
        """Whether this agent only stands in for others, and calls no tools."""
        return STAND_IN in find(name, self.agents).command

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox of samuel.toml as the payload of before:agent.invoke has it."""
        settings = self.settings.sandbox
        return Sandbox(
            kind=settings.kind,
            image=settings.image or None,
            network=settings.network,
            volumes=list(settings.volumes),
        )

    @property
    def confinement(self) -> sandboxes.Workspace:
        """The project as a sandbox sees it."""
        return sandboxes.Workspace(
            self.root, self.state, self.host, self.cache, private=self.hidden, report=self.warn
        )

    @property
    def check_confinement(self) -> sandboxes.Workspace:
        """What checks see in a sandbox: the clean room, and nothing of what the agent could write.

        Both the work tree of the agent and what Samuel keeps around the room are empty, so that code which is
        judged finds there neither what the agent left nor other rooms. Only git's objects can be read.
        """
        room = self.check_directory.path
        if room is None or self.check_directory.state is None:
            return self.confinement
        shared = self.git.location().shared
        directories = [self.root, shared, self.check_directory.state.parent]
        if self.record is not None:
            directories.append(self.record.parent)  # those of other projects lie beside it
        if self.lane is not None:
            directories.append(self.git.top.parent)
        home = Path(os.path.realpath(self.environment.get("HOME", "/")))
        emptied = [path for path in map(Path, map(os.path.realpath, directories)) if not home.is_relative_to(path)]
        return dataclasses.replace(
            self.confinement,
            root=room,
            state=self.check_directory.state,
            private=(*(sandboxes.Private(str(path), ()) for path in emptied), *self.hidden),
            readable=(os.path.realpath(shared / "objects"),),
        )

    @property
    def hidden(self) -> tuple[sandboxes.Private, ...]:
        """What an agent and its checks must not read: sealed checks, and rooms in which these ran.

        A program that is judged could copy a sealed check into its room, where an agent would find it.
        """
        own = tuple(sandboxes.Private(path, ()) for path in self.out_of_sight)
        if not self.sealed_checks:
            return own
        rooms = []
        if self.record is not None:
            names = (ROOM, SEALED_OUTPUT)
            rooms = [self.record / name for name in names]
            rooms += (path for name in names for path in self.record.parent.glob(f"*/{name}"))
        if self.lane is not None:
            rooms += (lane / ROOM for lane in self.git.top.parent.glob("*.samuel"))
        directories = [*(check.directory for check in self.sealed_checks), *map(str, rooms)]
        return (*own, *(sandboxes.Private(path, ()) for path in dict.fromkeys(directories)))

    def warn(self, text: str) -> None:
        """Report a warning to the user."""
        self.watch(LoopWarning(text))

    @property
    def prd(self) -> Path:
        return self.state / "prd.toon"

    @property
    def progress(self) -> Path:
        return self.state / "progress.md"

    @property
    def logs(self) -> Path:
        return self.state / "logs"
