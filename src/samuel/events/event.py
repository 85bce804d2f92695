"""What an event is: the fields every payload has, and the record that describes one kind of event.

A payload is a frozen value object of plain data. It encodes to one flat JSON object: the common fields
below beside the event's own. Nothing in it refers to the engine, so it can cross any process boundary.
"""

# Annotations are not postponed here: msgspec would evaluate the text of each when a type is first used.

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from samuel.events import names
from samuel.events.compose import Composition

PROTOCOL = 1

Stage = Literal["understand", "plan", "act", "review"]


def field(description: str, *, secret: bool = False, bulk: bool = False) -> Meta:
    """Describe a field. `secret` values never reach the journal; `bulk` ones are cut short there."""
    marks: dict[str, Any] = {}
    if secret:
        marks["x-secret"] = True
    if bulk:
        marks["x-bulk"] = True
    return Meta(description=description, extra_json_schema=marks or None)


class Plugin(msgspec.Struct, frozen=True):
    """The plugin that the handler belongs to, as the handler itself sees it."""

    name: Annotated[str, field("The plugin's name; a hook of the project or the user has its own name here.")]
    config: Annotated[Mapping[str, Any], field("The plugin's settings: its defaults with samuel.toml's on top.")]
    data_dir: Annotated[str, field("The only directory of the project the plugin may write to.")]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """The fields of all 31 events. The dispatcher sets them; the caller gives only the event's own fields."""

    protocol: Annotated[int, field("The version of this protocol.")] = PROTOCOL
    event_id: Annotated[str, field("Unique to this firing of the event.")] = ""
    idempotency_key: Annotated[
        str, field("The same when the same step of the same run is fired again after a crash.")
    ] = ""
    timestamp: Annotated[str, field("When the event was fired, UTC, ISO 8601.")] = ""
    project_root: Annotated[str, field("The absolute path of the project.")] = ""
    deadline_ms: Annotated[int, field("How long this handler has before it is killed.")] = 0
    run_id: Annotated[str | UnsetType, field("The run this event belongs to, if any.")] = UNSET
    session_id: Annotated[str | UnsetType, field("The agent session this event belongs to, if any.")] = UNSET
    methodology: Annotated[str, field("The methodology in use.")] = ""
    environment: Annotated[
        str | UnsetType, field("The environment: dev, prod, …; left out where none is set.")
    ] = UNSET
    stage: Annotated[Stage | UnsetType, field("The stage of the work, if the caller gives it.")] = UNSET
    recipe_name: Annotated[
        str | UnsetType,
        field("The recipe that is running; a plugin's own hooks see its short name. Left out when there is none."),
    ] = UNSET
    recipe_full_name: Annotated[
        str | UnsetType,
        field("The recipe, always with its plugin's name in front: `plugin/recipe`. Left out when there is none."),
    ] = UNSET
    dry_run: Annotated[bool, field("True when nothing may be changed.")] = False
    lane: Annotated[
        int | UnsetType,
        field(
            "The lane of a run with several agents at once, from 1; 0 where work lands. Left out without lanes."
        ),
    ] = UNSET
    machine: Annotated[
        str | UnsetType,
        field("The machine on which this happens, in a run with several of them. Left out at the coordinator."),
    ] = UNSET
    phase: Annotated[
        str | UnsetType, field("`guard` when a handler is called again with the final input of a rewritten call.")
    ] = UNSET
    previous: Annotated[
        Mapping[str, Any] | UnsetType,
        field("The composed result of the handlers before this one; left out for the first.", bulk=True),
    ] = UNSET
    plugin: Annotated[Plugin | UnsetType, field("The plugin that the handler belongs to.")] = UNSET
    extra: Annotated[
        Mapping[str, Any] | UnsetType,
        field("Further fields of the caller, under names that this protocol does not define.", bulk=True),
    ] = UNSET

    @property
    def event(self) -> str:
        """The event's name. In JSON it is the tag of the payload, which is no field of the class."""
        return str(self.__struct_config__.tag)

    @property
    def event_type(self) -> str:
        """The same under its name in the context of a YAML hook."""
        return self.event

    @property
    def repository_root(self) -> str:
        """`project_root` under its name in the context of a YAML hook."""
        return self.project_root


class LoopEvent(Event, frozen=True, kw_only=True):
    """The fields that only the 15 loop events have."""

    iteration: Annotated[int, field("The number of the iteration, from 1; 0 outside of one.")] = 0
    mode: Annotated[str, field("`implementation`, `discovery` or `acceptance`.")] = "implementation"
    context: Annotated[
        Mapping[str, Any], field("The PromptContext: what the prompt's template sees.", bulk=True)
    ] = msgspec.field(default_factory=dict)


class EventType(msgspec.Struct, frozen=True):
    """One row of the catalogue."""

    name: str
    payload: type[Event]
    result: type[msgspec.Struct]
    composition: Composition
    default: str  # what the built-in handler does; "" when there is none
    strict: bool
    timeout: float  # seconds

    @property
    def adds_to_prompt(self) -> bool:
        """True when the results of its handlers go into the agent's prompt, so that they have a byte budget."""
        return self.name in names.CONTEXT

    @property
    def answer_counts(self) -> bool:
        """True when what follows depends on the answers of its handlers, so that they are waited for."""
        return self.name not in names.AFTER_THE_FACT

    @property
    def irreversible(self) -> bool:
        """True when firing it cannot be undone: `hooks fire` requires `--really`."""
        return self.name == names.AGENT_INVOKE

    @property
    def family(self) -> str:
        """`lifecycle`, `loop` or `session`."""
        return (
            "loop" if issubclass(self.payload, LoopEvent) else "session" if self.name[0].isupper() else "lifecycle"
        )
