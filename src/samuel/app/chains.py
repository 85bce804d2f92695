"""The chains of one project, each resolved when it is first asked for: most commands fire one event, or none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from samuel.base.errors import ConfigError
from samuel.config.model import NO_SETTINGS, Config
from samuel.events import EVENTS, EventType
from samuel.events.catalogue import BY_NAME
from samuel.hooks.handler import Handler
from samuel.hooks.order import Chain, resolve


class Chains(Mapping[str, Chain]):
    """By canonical event name, in the order of the catalogue."""

    def __init__(
        self,
        handlers: Sequence[Handler],
        config: Config,
        methodology: str,
        removed_names: Callable[[], Collection[str]],
    ) -> None:
        """`removed_names` returns what the owner called handlers that they removed from the project.

        The chains of events that samuel.toml has settings for are resolved here: only they can be wrong
        (ConfigError), and only they depend on `removed_names`, which may change while the project is open.
        """
        self._handlers = tuple(handlers)
        self._by_event: dict[str, list[Handler]] = {}
        for handler in handlers:
            self._by_event.setdefault(handler.event, []).append(handler)
        self._config = config
        self._methodology = methodology
        self._removed_names = removed_names
        self._resolved: dict[str, Chain] = {}
        configured = {*config.hooks, *config.chosen(methodology).hooks}
        checked = [self[event.name] for event in EVENTS if event.name in configured]
        if problems := [problem for chain in checked for problem in chain.problems]:
            raise ConfigError(problems)

    def __getitem__(self, name: str) -> Chain:
        chain = self._resolved.get(name)
        if chain is None:
            # Two threads may both resolve it. They get equal chains, and the first one stays.
            chain = self._resolved.setdefault(name, self._resolve(BY_NAME[name]))
        return chain

    def __iter__(self) -> Iterator[str]:
        return (event.name for event in EVENTS)

    def __len__(self) -> int:
        return len(EVENTS)

    def _resolve(self, event: EventType) -> Chain:
        # Handlers without an event could not be asked for theirs; samuel.toml may name them for any event.
        candidates = [*self._by_event.get(event.name, ()), *self._by_event.get("", ())]
        settings = self._config.settings(event.name, self._methodology)
        if not candidates and settings == NO_SETTINGS:
            return Chain(event, ())
        return resolve(
            event,
            candidates,
            settings,
            str(self._config.file or ""),
            all_handlers=self._handlers,
            removed_names=self._removed_names,
        )
