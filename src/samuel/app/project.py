"""The composition root: where sources, trust, chains, runtimes and journal are put together, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from samuel.app.discovery import HandlerDiscovery, resolved_chains
from samuel.app.embedding import embedded, payload
from samuel.app.lazy_background import background_of
from samuel.app.options import AppLane, Machine, Overrides
from samuel.app.pinned_run import PinnedRun, pin_of
from samuel.app.plugins import Plugins
from samuel.attempt.defaults import built_in
from samuel.base import paths
from samuel.base.errors import SamuelError, UsageError
from samuel.config import environment as configured_environment
from samuel.config import load as load_config
from samuel.config import load_personal
from samuel.dispatch.background import Background, HandlerHost
from samuel.dispatch.dispatcher import Dispatcher, ProjectFields
from samuel.dispatch.handler_state import HandlerState
from samuel.dispatch.record import AskUser, CombinedSink, Fired, Sink
from samuel.events import Event, LoopEvent, PostAbilityCall, names
from samuel.events.catalogue import BY_PAYLOAD
from samuel.files.inside import refuse_links
from samuel.hooks.handler import HandlerStatus
from samuel.journal import Journal
from samuel.journal.hooks_log import HooksLog
from samuel.process.environment import clean
from samuel.process.live import enclosing
from samuel.runtimes.base import Setting
from samuel.runtimes.table import Runtimes
from samuel.trust.permit import Permit, PermitCheck
from samuel.trust.repository import trusted_around
from samuel.trust.store import trust_of_project

# What follows is imported where it is used: an event with known hooks needs neither the loop nor the sources.
if TYPE_CHECKING:
    from samuel.attempt.stop import Stop
    from samuel.attempt.workplace import Workplace
    from samuel.config.place_spec import PlaceSpec
    from samuel.history.notices import Watch
    from samuel.hooks.order import Chain
    from samuel.prompts.prompt_context import PromptContext
    from samuel.run.coordinator import Coordinator
    from samuel.sessions.recorder import SessionRecorder


DEPTH = "SAMUEL_DEPTH"  # how many Samuels are around this one, each started by something that the next one ran
DEEPEST = 10
LEARNED = "update_matcher_suggestions"  # what hooks of PostAbilityCall return for later routing


class App:
    """One project, opened: its configuration, its handlers and its chains, as they were at that moment."""

    def __init__(  # noqa: PLR0913  the public constructor: keywords, of which most callers use one or two
        self,
        root: str | os.PathLike[str] = ".",
        *,
        search: bool = True,
        handlers: Iterable[Callable[..., Any]] = (),
        sinks: Iterable[Sink] = (),
        ask: AskUser | None = None,
        warn: Callable[[str], None] | None = None,
        watch: Watch | None = None,
        overrides: Overrides | None = None,
        machine: Machine | None = None,
        fresh: bool = False,
        lane: AppLane | None = None,
    ) -> None:
        """Open the project at or above `root`; with `search` false, exactly there.

        `handlers` are functions marked with `@samuel.hook` that run in this process. `sinks` are given every
        event and every call. `ask` puts a question to a person, for hooks whose verdict is "ask"; without it, ask
        means deny. `warn` gets each warning about the project itself; without it they are in `warnings`. `watch`
        is called with each report of a loop. `overrides` are settings that replace those of the project,
        `machine` replaces the user's directories, the clock and the disk. `fresh` looks at every hook again: what
        was found before is good while the files are the same, but a machine may have lost a runtime since.
        `lane` opens a work tree of the project as a lane of a run.
        """
        self.paths = paths.Project(paths.find_root(Path(root)) if search else Path(root).resolve())
        _check(self.paths.root)
        overrides, machine = overrides or Overrides(), machine or Machine()
        self.user, self.clock = machine.user, machine.clock
        self.warnings: list[str] = []
        self.warn = warn or self.warnings.append
        self._watch, self._disk, self.lane = watch, machine.disk, lane
        self.embedded_handlers, self.own_sinks = tuple(handlers), tuple(sinks)  # for the lanes of a run
        self._overrides, self._machine, self._ask = overrides, machine, ask
        self._configure(overrides)
        self._pin_trust(overrides.trust_everything)
        self.plugins = Plugins(self.paths, self.user, self.config.plugins, self.permit)

        self.variables = self._variables()
        self.runtimes = Runtimes(
            Setting(
                self.paths.root,
                self.variables,
                self.user.cache,
                self.config.limits,
                self.clock,
                os.environ,
                machine.forks,
            )
        )
        self.journal = (
            lane.journal
            if lane
            else Journal(
                self.paths.root,
                self.paths.journal,
                self.clock,
                self.warn,
                parent_id=os.environ.get("SAMUEL_EVENT_ID", ""),
            )
        )
        try:
            own = built_in(lambda: self.workplace, self.config.chosen(self.methodology))
            self.discovery = HandlerDiscovery(self, self.runtimes, fresh=fresh)
            self.handlers = self.discovery.handlers(
                [*own, *embedded(self.embedded_handlers), *overrides.user_guards]
            )
            self.chains = resolved_chains(self.handlers, self.config, self.methodology, self.trust.removed_names)
            for name in self.plugins.missing:
                self.warn(f"samuel.lock names `{name}`, which is not installed; run `samuel plugin install`")
        except BaseException:
            self.close()
            raise
        self.sink = CombinedSink(self.journal, HooksLog(self.paths.root, self.clock, self.warn), *self.own_sinks)
        self.background = background_of(self, one_event=machine.forks)
        self.dispatcher = self.make_dispatcher(self.chains, self.sink, ask, self.background)

    def make_dispatcher(
        self,
        chains: Mapping[str, Chain],
        sink: Sink,
        ask: AskUser | None,
        background: Background | None = None,
    ) -> Dispatcher:
        """A dispatcher that runs these chains with the runtimes and the agreements of this project."""
        return Dispatcher(
            chains=chains,
            runtimes=self.runtimes,
            permit=PermitCheck(self.permit, self.permit.stamp, self.permit.content),
            sink=sink,
            clock=self.clock,
            project=self._project_fields(),
            ask=None if self.pinned_run else ask,  # while a run's agent works there is no person to ask
            host=HandlerHost(self.handler_state, background),
        )

    def _configure(self, overrides: Overrides) -> None:
        root = self.paths.root
        refuse_links(root, paths.HOME, *paths.HOOK_DIRS, ".kodelet", ".samuel/run")
        refuse_links(root, paths.SYSTEM, paths.YAML_HOOKS)
        self.config = overrides.config or load_config(self.paths.config)
        self.personal = load_personal(self.user.config)
        self.pinned_run = PinnedRun.around(root, os.environ)
        of_run = self.pinned_run.methodology if self.pinned_run else ""
        self.methodology = overrides.methodology or of_run or self.config.default_methodology
        self.environment = overrides.environment or configured_environment(self.personal, self.config)
        self.state = self.paths.state(self.methodology, several=self.config.has_several_methodologies)
        refuse_links(root, str(self.state.relative_to(root)))

    def _pin_trust(self, trust_everything: bool | None) -> None:
        self.trust = trust_of_project(self.user.state, self.paths.root)
        self.trust_key = self.trust.key
        self.handler_state = HandlerState(self.user.state, self.trust_key)
        if trust_everything is None:
            trust_everything = self.pinned_run.trusts_everything if self.pinned_run else self._trusts_everything()
        everything = trust_everything
        # The stamp before the agreements: what is remembered under it may be older than it says, never wider.
        self.trust_stamp = "everything" if everything else str(self.trust.stamp())
        self.permit = Permit(self.paths.root, self.trust.pin(), everything=everything)

    def _variables(self) -> dict[str, str]:
        """The environment variables that hooks and quality commands see."""
        set_here = {"PYTHONPYCACHEPREFIX": str(self.user.cache / "pycache"), DEPTH: str(_depth() + 1)}
        if self.environment:  # for hooks, and for a Samuel that they start
            set_here["SAMUEL_ENV"] = self.environment
        if self.lane:
            set_here["SAMUEL_LANE"] = str(self.lane.number)
            if self.lane.machine:
                set_here["SAMUEL_MACHINE"] = self.lane.machine
        return clean(set_here, pass_names=self.config.pass_env)

    def _project_fields(self) -> ProjectFields:
        return ProjectFields(
            str(self.paths.root),
            self.methodology,
            lambda owner: str(self.paths.data_dir(owner)),
            self.config.limits.handler_prompt_bytes,
            recipe=os.environ.get("SAMUEL_RECIPE", ""),
            environment=self.environment,
            lane=self.lane.number if self.lane else _lane_around(),
            machine=self.lane.machine if self.lane else os.environ.get("SAMUEL_MACHINE", ""),
        )

    def _trusts_everything(self) -> bool:
        if os.environ.get("SAMUEL_TRUST") != "all":
            return False
        if run := enclosing(self.user.live):
            raise SamuelError(f"SAMUEL_TRUST does not count inside the run `{run}`", "unset it")
        return True

    def fire(self, event: Event | str, **fields: Any) -> Fired:
        """Fire an event: a payload, or a name in any spelling with the payload's fields."""
        event = event if isinstance(event, Event) else payload(event, fields)
        self.expect_pinned(event)
        fired = self.dispatcher.fire(event)
        if isinstance(event, PostAbilityCall) and not event.dry_run and fired.result.get(LEARNED):
            self._keep_learned(fired)
        if not self.enclosing_roots or not BY_PAYLOAD[type(event)].composition.can_deny:
            return fired
        from samuel.app.enclosing import ask_guards  # most projects have none around them

        for project in self.enclosing:
            if not fired.stopped:
                fired = ask_guards(project, fired, self._ask)
        return fired

    def _keep_learned(self, fired: Fired) -> None:
        """Keep what hooks learned for routing. It is a hint: if it cannot be written, that costs a warning."""
        from samuel.files.explained import reason  # few hooks learn from calls
        from samuel.routing.abilities.usage import keep_signals

        try:
            keep_signals(self.paths.root, fired.result[LEARNED], fired.event.timestamp)
        except (SamuelError, OSError) as error:
            self.warn(f"what a hook learned about abilities is not kept: {reason(error)}")

    @cached_property
    def enclosing_roots(self) -> tuple[str, ...]:
        """The projects around this one whose guards are asked, too, the nearest first. A run asks only its own."""
        if self.pinned_run or self.lane:
            return ()
        if self._overrides.enclosing is not None:
            return self._overrides.enclosing
        return trusted_around(str(self.paths.root), str(self.user.state), os.environ.get("PWD", ""))

    @cached_property
    def enclosing(self) -> tuple[App, ...]:
        """The same, opened when they are first needed, each in the environment of this one and for its user."""
        mine = self._overrides
        overrides = Overrides(environment=mine.environment, trust_everything=mine.trust_everything, enclosing=())
        return tuple(
            App(root, search=False, ask=self._ask, warn=self.warn, overrides=overrides, machine=self._machine)
            for root in self.enclosing_roots
        )

    @cached_property
    def tool_hooks_pin(self) -> str:
        """What decides about tool calls, as text to compare: the handlers, their content and their settings."""
        return self._current_pin()

    def _current_pin(self) -> str:
        """The same, of the files as they are now: a server has the project open for longer than one call."""
        return pin_of(self.chains, self.permit, trusts_everything=self.trust_stamp == "everything")

    def expect_pinned(self, event: Event) -> None:
        """Raise SamuelError if a run pinned other hooks for this event of its agent than there are now."""
        if self.pinned_run and BY_PAYLOAD[type(event)].name in names.INSIDE_AGENT:
            self.pinned_run.expect(self._current_pin())

    def with_context(self, event: Event) -> Event:
        """The event with the PromptContext, if it has a field for it and a handler that would read it."""
        if not isinstance(event, LoopEvent) or event.context:
            return event
        chain = self.chains[BY_PAYLOAD[type(event)].name]
        return replace(event, context=self.context()) if chain.steps else event

    def unasked_hooks(self, fired: Fired | None = None) -> list[str]:
        """A warning for each hook that is broken and could not be asked for its events: it may be any event.

        Without those that were called for `fired`: it reports them itself.
        """
        called = {(call.handler.path, call.handler.name) for call in fired.calls} if fired else set()
        return [
            f"broken, so not run: `{handler.name}`: {handler.reason}"
            for handler in self.handlers
            if handler.status is HandlerStatus.BROKEN
            and not handler.event
            and (handler.path, handler.name) not in called
        ]

    @cached_property
    def workplace(self) -> Workplace:
        """Where a loop works, and with what."""
        from samuel.app import loop

        return loop.workplace(self, self._watch, self._disk)

    def context(self) -> dict[str, Any]:
        """The PromptContext outside of a run, as the `context` of a payload."""
        return self.prompt_context().plain()

    def prompt_context(self) -> PromptContext:
        """The same as a record, to be changed and encoded by the code that fires events."""
        from samuel.app import loop

        return loop.prompt_context(self, self._skills)

    @cached_property
    def _skills(self) -> list[dict[str, str]]:
        from samuel.app import loop

        return loop.skills(self)

    def loop(
        self,
        stop: Stop,
        *,
        timings: bool = False,
        dry_run: bool = False,
        parallel: int = 1,
        places: Sequence[PlaceSpec] = (),
        only_land: bool = False,
    ) -> Coordinator:
        """The loop of this project, with what it runs by pinned as it is now.

        `parallel` agents work at once, or as many as `places` have slots. `only_land`: no agent works, and what is
        ready lands.
        """
        from samuel.app import loop
        from samuel.config.place_spec import PlaceSpec

        self.enclosing_roots = ()
        places = places or (PlaceSpec("local", parallel),)
        return loop.loop(self, stop, timings=timings, dry_run=dry_run, places=places, only_land=only_land)

    def session_recorder(self, confirm: Callable[[str], bool] | None = None) -> SessionRecorder:
        """Fires the events of sessions and stores what hooks return. `confirm` asks before a command runs."""
        from samuel.app import session_events

        return session_events.recorder(self, confirm)

    def close(self) -> None:
        """End the workers and close the journal."""
        if background := getattr(self, "background", None):
            background.close()
        self.runtimes.close()
        if self.lane is None:
            self.journal.close()
        if dispatcher := getattr(self, "dispatcher", None):
            dispatcher.close()
        for project in self.__dict__.get("enclosing", ()):
            project.close()

    def __enter__(self) -> App:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _depth() -> int:
    """How many Samuels are around this one. A limit, since a hook may fire the event that it handles."""
    variable = os.environ.get(DEPTH, "")
    depth = int(variable) if variable.isdecimal() and len(variable) < 9 else 0
    if depth >= DEEPEST:
        what = f"hooks run Samuel, which runs hooks, {DEEPEST} levels deep"
        raise SamuelError(what, "look for a hook that fires the event it handles")
    return depth


def _lane_around() -> int | None:
    """The lane whose agent, or whose hook, started this process."""
    variable = os.environ.get("SAMUEL_LANE", "")
    return int(variable) if variable.isdecimal() and len(variable) < 9 else None


def _check(root: Path) -> None:
    if not root.is_dir():
        raise UsageError(f"`{root}` is not a directory", "name the directory of a project")
    try:
        str(root).encode()
    except UnicodeEncodeError:  # it is part of every payload, and JSON could not carry it
        raise UsageError(f"the path {str(root)!r} is not UTF-8", "rename the directory") from None
