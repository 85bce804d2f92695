"""PromptContext: what the prompt's template sees, and what loop handlers read as `context`.

Handlers read all of it and write only `Plugins["<own name>"]`, by returning `data`. The names are the template's
names, so they are capitalised as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from samuel.version import __version__


class SamuelNames(msgspec.Struct, frozen=True):
    Version: Annotated[str, Meta(description="The version of Samuel.")] = __version__
    Protocol: Annotated[int, Meta(description="The number of the hook contract.")] = 1


class ProjectNames(msgspec.Struct, frozen=True):
    Name: Annotated[str, Meta(description="The name of the project's directory.")]
    Root: Annotated[str, Meta(description="Its absolute path.")]


class MethodologyNames(msgspec.Struct, frozen=True):
    Name: Annotated[str, Meta(description="The methodology in force.")]


class IterationNames(msgspec.Struct, frozen=True):
    Number: Annotated[int, Meta(description="From 1; 0 outside of an iteration.")] = 0
    Max: Annotated[int, Meta(description="The cap.")] = 0


class PathNames(msgspec.Struct, frozen=True):
    Config: Annotated[str, Meta(description="samuel.toml.")]
    Run: Annotated[str, Meta(description="The run's state.")]
    Hooks: Annotated[str, Meta(description="The project's hooks.")]


class PromptContext(msgspec.Struct, frozen=True):
    Samuel: Annotated[SamuelNames, Meta(description="The tool itself.")]
    Project: Annotated[ProjectNames, Meta(description="The project.")]
    Methodology: Annotated[MethodologyNames, Meta(description="How the loop works.")]
    Iteration: Annotated[IterationNames, Meta(description="Where the loop is.")]
    Config: Annotated[Mapping[str, Any], Meta(description="Settings of the methodology.")]
    Guardrails: Annotated[Mapping[str, Any], Meta(description="[guardrails] of samuel.toml.")]
    Paths: Annotated[PathNames, Meta(description="Where things are.")]
    State: Annotated[Mapping[str, Any], Meta(description="The state of the run.")]
    Mode: Annotated[str, Meta(description="implementation or discovery.")]
    Hooks: Annotated[Mapping[str, list[str]], Meta(description="By event, the handlers in their order.")]
    Plugins: Annotated[Mapping[str, Any], Meta(description="By name, what handlers contributed.")]

    def plain(self) -> dict[str, Any]:
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]
