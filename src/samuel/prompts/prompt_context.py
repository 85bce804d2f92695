"""PromptContext: what the prompt's template sees, and what loop handlers read as `context`.

Handlers read all of it and write only `Plugins["<own name>"]`, by returning `data`. The names are the template's
names, so they are capitalised as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from samuel.events.event import field
from samuel.version import __version__


class SamuelNames(msgspec.Struct, frozen=True):
    Version: Annotated[str, field("The version of Samuel.")] = __version__
    Protocol: Annotated[int, field("The number of the hook contract.")] = 1
    Command: Annotated[str, field("How an agent calls `samuel`: its absolute path, quoted for a shell.")] = (
        "samuel"
    )


class ProjectNames(msgspec.Struct, frozen=True):
    Name: Annotated[str, field("The name of the project's directory.")]
    Root: Annotated[str, field("Its absolute path.")]


class MethodologyNames(msgspec.Struct, frozen=True):
    Name: Annotated[str, field("The methodology in force.")]


class IterationNames(msgspec.Struct, frozen=True):
    Number: Annotated[int, field("From 1; 0 outside of an iteration.")] = 0
    Max: Annotated[int, field("The cap.")] = 0


class ConfigNames(msgspec.Struct, frozen=True, kw_only=True):
    agent: Annotated[str, field("The agent of the methodology.")]
    quality_checks: Annotated[list[str], field("The checks.")]
    max_iterations: Annotated[int, field("The limit in samuel.toml; the limit of this run is `Iteration.Max`.")]
    max_task_attempts: Annotated[int, field("After this many failed attempts a task is blocked.")]
    commit: Annotated[bool, field("True if each completed task gets a commit.")]
    pilot: Annotated[bool, field("True if the agent looks for tasks, too.")]
    focus: Annotated[str, field("What discovery looks for first; empty if it is not set.")]
    max_discovery_tasks: Annotated[int, field("How many tasks one discovery may add.")]


class PathNames(msgspec.Struct, frozen=True):
    Config: Annotated[str, field("samuel.toml.")]
    Run: Annotated[str, field("The run's state.")]
    Hooks: Annotated[str, field("The project's hooks.")]


class StateNames(msgspec.Struct, frozen=True, kw_only=True):
    Task: Annotated[
        str,
        field("TOON: the current task, or in discovery an overview of all tasks. Result of `context.task`."),
    ] = ""
    Progress: Annotated[str, field("Markdown: learnings, completions, areas. Result of `context.progress`.")] = ""
    Snapshot: Annotated[str, field("TOON: an overview of the project. Result of `context.snapshot`.")] = ""
    Background: Annotated[
        str,
        field("Markdown: what the PRD says besides its tasks, and its path; empty if that is nothing."),
    ] = ""
    Documents: Annotated[
        list[dict[str, str]],
        field("`{Name, Path, Text}` of each document beside the tasks, such as a design or a plan."),
    ] = msgspec.field(default_factory=list)
    TaskId: Annotated[str, field("The id of the current task; empty in discovery.")] = ""
    Attempt: Annotated[int, field("The number of this attempt at the task, from 1; 0 where there is no task.")] = 0
    LastFailure: Annotated[
        str, field("Why the attempt before this one failed, in one line; empty in the first attempt.")
    ] = ""
    Guidance: Annotated[
        list[dict[str, str]],
        field("`{Who, At, Text}` of what people said to this attempt with `samuel run say`."),
    ] = msgspec.field(default_factory=list)
    Restarted: Annotated[
        bool,
        field("True if `samuel run say --now` ended the attempt before, and this one goes on with it."),
    ] = False
    Continues: Annotated[bool, field("True if the files of the last attempt are still in the work tree.")] = True
    LastDiff: Annotated[
        str, field("The path of the last attempt's diff, if its files are not in the work tree.")
    ] = ""
    LastFiles: Annotated[list[str], field("The files in that diff, at most 20.")] = msgspec.field(
        default_factory=list
    )
    NeedsChange: Annotated[
        bool, field("True if a claim counts only with a changed file; false for `Changes: none`.")
    ] = True
    ClaimsByExit: Annotated[
        bool, field("True if the agent cannot run `samuel run done`, and its clean exit is the claim.")
    ] = False
    AcceptanceTests: Annotated[
        list[str], field("The files with acceptance tests of the task that the agent sees; it cannot change them.")
    ] = msgspec.field(default_factory=list)
    HiddenTests: Annotated[int, field("How many acceptance tests the agent does not see.")] = 0
    AcceptanceFailure: Annotated[
        str, field("Why the acceptance tests that were written last are not used; empty if they are.")
    ] = ""
    Extras: Annotated[list[dict[str, str]], field("`{name, content}`, from `context.extra`.")] = msgspec.field(
        default_factory=list
    )
    Skills: Annotated[
        list[dict[str, str]],
        field("`{Name, Description, Path}` of each [skill](../how-to/skills.md)."),
    ] = msgspec.field(default_factory=list)
    RunId: Annotated[str | UnsetType, field("The id of the run.")] = UNSET
    Agent: Annotated[str | UnsetType, field("The agent of this run.")] = UNSET
    ConsecutiveFailures: Annotated[int | UnsetType, field("Failed iterations in a row so far.")] = UNSET
    EmptyDiscoveries: Annotated[int | UnsetType, field("Discoveries in a row that added nothing.")] = UNSET
    Usage: Annotated[
        Mapping[str, Any] | UnsetType,
        field("Tokens and cost of the run so far, for agents that report them."),
    ] = UNSET


class PromptContext(msgspec.Struct, frozen=True):
    Samuel: Annotated[SamuelNames, field("The tool itself.")]
    Project: Annotated[ProjectNames, field("The project.")]
    Methodology: Annotated[MethodologyNames, field("How the loop works.")]
    Iteration: Annotated[IterationNames, field("Where the loop is.")]
    Config: Annotated[ConfigNames, field("Settings of the methodology.")]
    Guardrails: Annotated[Mapping[str, Any], field("[guardrails] of samuel.toml.")]
    Paths: Annotated[PathNames, field("Where things are.")]
    State: Annotated[StateNames, field("The state of the run.")]
    Mode: Annotated[str, field("implementation, discovery or acceptance.")]
    Hooks: Annotated[Mapping[str, list[str]], field("By event, the handlers in their order.")]
    Plugins: Annotated[Mapping[str, Any], field("By name, what handlers contributed.")]

    def plain(self) -> dict[str, Any]:
        """The context as handlers and templates get it: new dicts, lists and plain values throughout."""
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]
