"""PromptContext: what the prompt's template sees, and what loop handlers read as `context`.

Handlers read all of it and write only `Plugins["<own name>"]`, by returning `data`. The names are the template's
names, so they are capitalised as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from samuel.version import __version__


class SamuelNames(msgspec.Struct, frozen=True):
    Version: Annotated[str, Meta(description="The version of Samuel.")] = __version__
    Protocol: Annotated[int, Meta(description="The number of the hook contract.")] = 1
    Command: Annotated[
        str, Meta(description="How an agent calls `samuel`: its absolute path, quoted for a shell.")
    ] = "samuel"


class ProjectNames(msgspec.Struct, frozen=True):
    Name: Annotated[str, Meta(description="The name of the project's directory.")]
    Root: Annotated[str, Meta(description="Its absolute path.")]


class MethodologyNames(msgspec.Struct, frozen=True):
    Name: Annotated[str, Meta(description="The methodology in force.")]


class IterationNames(msgspec.Struct, frozen=True):
    Number: Annotated[int, Meta(description="From 1; 0 outside of an iteration.")] = 0
    Max: Annotated[int, Meta(description="The cap.")] = 0


class ConfigNames(msgspec.Struct, frozen=True, kw_only=True):
    agent: Annotated[str, Meta(description="The agent of the methodology.")]
    quality_checks: Annotated[list[str], Meta(description="The checks.")]
    max_iterations: Annotated[
        int, Meta(description="The limit in samuel.toml; the limit of this run is `Iteration.Max`.")
    ]
    max_task_attempts: Annotated[int, Meta(description="After this many failed attempts a task is blocked.")]
    commit: Annotated[bool, Meta(description="True if each completed task gets a commit.")]
    pilot: Annotated[bool, Meta(description="True if the agent looks for tasks, too.")]
    focus: Annotated[str, Meta(description="What discovery looks for first; empty if it is not set.")]
    max_discovery_tasks: Annotated[int, Meta(description="How many tasks one discovery may add.")]


class PathNames(msgspec.Struct, frozen=True):
    Config: Annotated[str, Meta(description="samuel.toml.")]
    Run: Annotated[str, Meta(description="The run's state.")]
    Hooks: Annotated[str, Meta(description="The project's hooks.")]


class StateNames(msgspec.Struct, frozen=True, kw_only=True):
    Task: Annotated[
        str,
        Meta(
            description="TOON: the current task, or in discovery an overview of all tasks. "
            "Result of `context.task`."
        ),
    ] = ""
    Progress: Annotated[
        str, Meta(description="Markdown: learnings, completions, areas. Result of `context.progress`.")
    ] = ""
    Snapshot: Annotated[
        str, Meta(description="TOON: an overview of the project. Result of `context.snapshot`.")
    ] = ""
    Background: Annotated[
        str,
        Meta(description="Markdown: what the PRD says besides its tasks, and its path; empty if that is nothing."),
    ] = ""
    Documents: Annotated[
        list[dict[str, str]],
        Meta(description="`{Name, Path, Text}` of each document beside the tasks, such as a design or a plan."),
    ] = msgspec.field(default_factory=list)
    TaskId: Annotated[str, Meta(description="The id of the current task; empty in discovery.")] = ""
    Attempt: Annotated[
        int, Meta(description="The number of this attempt at the task, from 1; 0 where there is no task.")
    ] = 0
    LastFailure: Annotated[
        str, Meta(description="Why the attempt before this one failed, in one line; empty in the first attempt.")
    ] = ""
    Continues: Annotated[
        bool, Meta(description="True if the files of the last attempt are still in the work tree.")
    ] = True
    LastDiff: Annotated[
        str, Meta(description="The path of the last attempt's diff, if its files are not in the work tree.")
    ] = ""
    LastFiles: Annotated[list[str], Meta(description="The files in that diff, at most 20.")] = msgspec.field(
        default_factory=list
    )
    NeedsChange: Annotated[
        bool, Meta(description="True if a claim counts only with a changed file; false for `Changes: none`.")
    ] = True
    ClaimsByExit: Annotated[
        bool, Meta(description="True if the agent cannot run `samuel run done`, and its clean exit is the claim.")
    ] = False
    Extras: Annotated[list[dict[str, str]], Meta(description="`{name, content}`, from `context.extra`.")] = (
        msgspec.field(default_factory=list)
    )
    Skills: Annotated[
        list[dict[str, str]],
        Meta(description="`{Name, Description, Path}` of each [skill](../how-to/skills.md)."),
    ] = msgspec.field(default_factory=list)
    RunId: Annotated[str | UnsetType, Meta(description="The id of the run.")] = UNSET
    Agent: Annotated[str | UnsetType, Meta(description="The agent of this run.")] = UNSET
    ConsecutiveFailures: Annotated[int | UnsetType, Meta(description="Failed iterations in a row so far.")] = UNSET
    EmptyDiscoveries: Annotated[int | UnsetType, Meta(description="Discoveries in a row that added nothing.")] = (
        UNSET
    )
    Usage: Annotated[
        Mapping[str, Any] | UnsetType,
        Meta(description="Tokens and cost of the run so far, for agents that report them."),
    ] = UNSET


class PromptContext(msgspec.Struct, frozen=True):
    Samuel: Annotated[SamuelNames, Meta(description="The tool itself.")]
    Project: Annotated[ProjectNames, Meta(description="The project.")]
    Methodology: Annotated[MethodologyNames, Meta(description="How the loop works.")]
    Iteration: Annotated[IterationNames, Meta(description="Where the loop is.")]
    Config: Annotated[ConfigNames, Meta(description="Settings of the methodology.")]
    Guardrails: Annotated[Mapping[str, Any], Meta(description="[guardrails] of samuel.toml.")]
    Paths: Annotated[PathNames, Meta(description="Where things are.")]
    State: Annotated[StateNames, Meta(description="The state of the run.")]
    Mode: Annotated[str, Meta(description="implementation or discovery.")]
    Hooks: Annotated[Mapping[str, list[str]], Meta(description="By event, the handlers in their order.")]
    Plugins: Annotated[Mapping[str, Any], Meta(description="By name, what handlers contributed.")]

    def plain(self) -> dict[str, Any]:
        """The context as handlers and templates get it: new dicts, lists and plain values throughout."""
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]
