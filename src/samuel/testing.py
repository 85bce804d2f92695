"""For people who test their own hooks: a pytest plugin that comes with Samuel and is on once that is installed.

One function alone, through the real dispatcher and without a project:

    from samuel.testing import fire
    from my_hooks import python_facts

    def test_it_names_the_environment():
        fired = fire(python_facts, "context.extra", task={"id": "1"})
        assert fired.ok
        assert fired.result["extras"][0]["name"] == "python.md"

A whole project, with real processes, in a directory of its own and with a home of its own:

    def test_the_guard_says_no(samuel_project):
        samuel_project.hook("guard", GUARD_SCRIPT)
        fired = samuel_project.fire("PreAbilityCall", ability_id="shell", tool_input={"command": "rm -rf /"})
        assert fired.denied

    def test_it_runs_before_the_built_in(samuel_project):
        seen = Recorder("quality.check")
        samuel_project.hook("adds_a_check", SCRIPT)
        with samuel_project.open(handlers=[seen]) as app:
            app.fire("quality.check", commands=[])
        assert seen.events[0].previous["ok"]
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from samuel.base.clock import Clock, FakeClock
from samuel.hooks.decorator import hook

# pytest loads this module in every project that has Samuel installed, so the engine is imported when it is used.
if TYPE_CHECKING:
    from samuel.app import App
    from samuel.base.paths import User
    from samuel.dispatch.record import Fired, HandlerCall
    from samuel.events import Event

__all__ = ["FakeClock", "Recorder", "SamuelProject", "fire", "samuel_project"]


class Recorder:
    """Keeps what it gets, as a handler, as a sink, or as both.

    As a handler it answers `returns` (or what `returns(event)` gives) and keeps each event in `events`:

        seen = Recorder("context.extra", order=50, returns={"extras": []})
        app = samuel_project.open(handlers=[seen])

    As a sink it keeps every call of every handler in `calls`, and the outcome of each event in `fired`:

        app = samuel_project.open(sinks=[seen])
    """

    def __init__(
        self,
        *events: str,
        name: str = "recorder",
        returns: Mapping[str, Any] | Callable[[Any], Mapping[str, Any] | None] | None = None,
        order: int | None = None,
        strict: bool | None = None,
        role: str | None = None,
        mode: str | None = None,
    ) -> None:
        self.events: list[Any] = []
        self.begun: list[Event] = []
        self.calls: list[HandlerCall] = []
        self.fired: list[Fired] = []
        self.__name__ = name
        self._returns = returns
        if events:
            hook(*events, order=order, strict=strict, role=role, mode=mode)(self)

    def __call__(self, event: Any) -> Mapping[str, Any] | None:
        self.events.append(event)
        return self._returns(event) if callable(self._returns) else self._returns

    def begin(self, event: Event) -> None:
        self.begun.append(event)

    def called(self, event: Event, call: HandlerCall) -> None:
        self.calls.append(call)

    def end(self, event: Event, fired: Fired, duration_ms: float) -> None:
        self.fired.append(fired)


class SamuelProject:
    """A project with a home of its own: nothing of yours is read, and nothing of yours is written."""

    root: Path
    """The project's directory. It has an empty samuel.toml."""

    user: User
    """The places of the user it belongs to; `user.home` is an empty directory."""

    def __init__(self, directory: Path, cache: Path | None = None) -> None:
        """Make it below `directory`. `cache` may be shared: nothing in it but compiled Python and the like."""
        from samuel.base.paths import User

        self.root = directory / "project"
        home = directory / "home"
        self.user = User(home=home, state=home / ".local/state/samuel", cache=cache or home / ".cache/samuel")
        self._opened: list[App] = []
        home.mkdir(parents=True)
        self.root.mkdir()
        self.config("")

    def config(self, text: str) -> Path:
        """Write samuel.toml."""
        file = self.root / "samuel.toml"
        file.write_text(dedent(text), encoding="utf-8")
        return file

    def hook(self, name: str, text: str | bytes, executable: bool = True, where: Path | None = None) -> Path:
        """Write a hook file and trust it, as its author would.

        `where` is another directory than `.samuel/hooks`, like `samuel_project.user.home / ".samuel/hooks"`.
        """
        directory = where or self.root / ".samuel" / "hooks"
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / name
        file.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
        file.chmod(0o755 if executable else 0o644)
        self.trust()
        return file

    def python_hook(self, name: str, text: str, where: Path | None = None) -> Path:
        """Write a `.py` file with `@samuel.hook` functions and trust it. It runs in a worker process."""
        return self.hook(f"{name.removesuffix('.py')}.py", text, executable=False, where=where)

    def plugin(self, source: Path, name: str = "") -> Path:
        """Put a copy of a plugin's directory into the project and trust it, as `samuel plugin add` would."""
        target = self.root / ".samuel" / "plugins" / (name or source.name)
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
        self.trust()
        return target

    def trust(self) -> None:
        """Agree to every hook file and plugin of the project as it is now, like `samuel trust --yes`."""
        from samuel.config import load
        from samuel.plugins.installed import texts
        from samuel.shipped.table import SHIPPED_HOOKS
        from samuel.sources.client_hooks import find as client_hooks
        from samuel.sources.yaml_hooks import files
        from samuel.trust.items import review
        from samuel.trust.store import trust_of_project

        store = trust_of_project(self.user.state, self.root)
        imports = load(self.root / "samuel.toml").import_hooks
        own_texts = [*texts(self.root), *client_hooks.texts(self.root, imports)]
        own_files = [*files(self.root, SHIPPED_HOOKS), *client_hooks.files(self.root, imports).items()]
        items = review(self.root, store.load(), own_texts, own_files)
        here = [(item.name, item.digest, item.content) for item in items if item.digest and item.state != "gone"]
        store.agree(here, at="", root=str(self.root))
        store.revoke([item.name for item in items if item.state == "gone"])

    def open(
        self,
        *,
        user: User | None = None,
        clock: Clock | None = None,
        environment: str = "",
        methodology: str = "",
        trust_everything: bool | None = None,
        **options: Any,
    ) -> App:
        """Open the project. `options` are those of `samuel.open`; it is closed with the test at the latest."""
        from samuel.app import App, Machine, Overrides
        from samuel.base.clock import SystemClock

        overrides = Overrides(environment=environment, methodology=methodology, trust_everything=trust_everything)
        machine = Machine(user=user or self.user, clock=clock or SystemClock())
        app = App(self.root, **{"overrides": overrides, "machine": machine, **options})
        self._opened.append(app)
        return app

    def fire(self, event: Event | str, **fields: Any) -> Fired:
        """Open the project, fire one event, close it again."""
        with self.open() as app:
            return app.fire(event, **fields)

    def close(self) -> None:
        """End every process that is still warm."""
        for app in self._opened:
            app.close()


@pytest.fixture
def samuel_project(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SamuelProject]:
    """A fresh project in tmp_path, and HOME and the XDG directories beside it."""
    for name in os.environ:
        if name.startswith(("XDG_", "SAMUEL_")):
            monkeypatch.delenv(name)
    project = SamuelProject(tmp_path, cache=tmp_path_factory.getbasetemp() / "samuel-cache")
    monkeypatch.setenv("HOME", str(project.user.home))
    monkeypatch.setenv("SAMUEL_SERVE", "off")  # a server would outlive the test
    yield project
    project.close()


def fire(function: Callable[..., Any], event: Event | str, **fields: Any) -> Fired:
    """Call one function marked with `@samuel.hook` with an event, alone: no project, no built-in, no process.

    It goes the way of every call: what the function gets is stamped and typed, what it returns is checked and
    composed, and whatever it raises becomes an outcome.
    """
    from samuel.app.embedding import embedded, payload
    from samuel.base.clock import SystemClock
    from samuel.base.errors import UsageError
    from samuel.config.model import NO_SETTINGS, Limits
    from samuel.dispatch.dispatcher import Dispatcher, ProjectFields
    from samuel.events import Event, event_type
    from samuel.events.catalogue import BY_PAYLOAD
    from samuel.hooks.order import resolve
    from samuel.runtimes.inline import InlineRuntime
    from samuel.trust.permit import PermitCheck

    typed_event = event if isinstance(event, Event) else payload(event, fields)
    kind = BY_PAYLOAD[type(typed_event)]
    handlers = [handler for handler in embedded([function]) if event_type(handler.event) is kind]
    if not handlers:
        name = getattr(function, "__name__", function)
        raise UsageError(f"`{name}` does not handle `{kind.name}`", f'add "{kind.name}" to its `@samuel.hook`')
    dispatcher = Dispatcher(
        chains={kind.name: resolve(kind, handlers, NO_SETTINGS)},
        runtimes={"inline": InlineRuntime()},
        permit=PermitCheck(lambda handler: ""),
        sink=Recorder(),
        clock=SystemClock(),
        project=ProjectFields(os.getcwd(), "ralph", lambda owner: "", Limits().handler_prompt_bytes),
    )
    try:
        return dispatcher.fire(typed_event)
    finally:
        dispatcher.close()
