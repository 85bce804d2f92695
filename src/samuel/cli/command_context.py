"""What every command is given: the directory it was called for, its output, and how to open the project."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from samuel.base import paths
from samuel.base.errors import UsageError
from samuel.base.printable import safe
from samuel.cli.output import Output
from samuel.process.inside_a_run import inside_a_run

# click is imported where it is used: `samuel emit` does without its parser.
if TYPE_CHECKING:
    import click

    from samuel.app import App
    from samuel.setup.consent import Consent
    from samuel.trust.items import TrustItem


class CommandContext(msgspec.Struct, frozen=True):
    directory: Path
    out: Output

    @property
    def root(self) -> Path:
        """The root of the project, found without opening it."""
        try:
            return paths.find_root(self.directory)
        except FileNotFoundError:
            raise UsageError("the current directory does not exist any more", "change to another one") from None

    def path_of(self, name: str) -> str:
        """A file of the project, named from its root, as a person can type it in the directory of the command."""
        return os.path.relpath(self.root / name, self.directory.resolve())

    def open(self, root: Path | None = None, *, environment: str = "", **options: Any) -> App:
        """Open the project; `options` are those of `App`. Only what its owner trusts can run in it."""
        from samuel.app import App, Overrides  # the engine, which `hooks log` and the like do without
        from samuel.process.tree import own_all_children

        own_all_children()  # only Samuel starts processes in this program
        options.setdefault("overrides", Overrides(environment=environment))
        options.setdefault("ask", self.confirm)
        return App(root or self.root, search=False, **options)

    def offer_trust(self, *, yes: bool = False) -> None:
        """Before the project is opened: ask about what is not trusted in it, or trust it at once with `yes`.

        Where no person can be asked, nothing happens: what is not trusted does not run.
        """
        if not yes and (not self.out.asks or inside_a_run()):
            return
        from samuel.setup.consent import Consent, readable  # reads every kind of file that could run

        consent = Consent(self.root)
        pending = [item for item in consent.pending() if readable(item)]
        if agreed := pending if yes else self.ask_for_trust(consent, pending):
            consent.agree(agreed)

    def ask_for_trust(self, consent: Consent, items: Sequence[TrustItem]) -> list[TrustItem]:
        """Show each item and ask; returns those that the user trusts."""
        import click

        agreed: list[TrustItem] = []
        for position, item in enumerate(items):
            self.out.tell(consent.text(item))
            answer = click.prompt(
                safe(f"Trust `{item.name}`? y(es), n(o), a(ll that follow), q(uit)", keep=""),
                type=click.Choice(["y", "n", "a", "q"]),
                show_choices=False,
                default="n",
                err=True,
            )
            if answer == "a":
                return [*agreed, *items[position:]]
            if answer == "q":
                break
            if answer == "y":
                agreed.append(item)
        return agreed

    @property
    def confirm(self) -> Callable[[str], bool] | None:
        """Asks the person a yes-or-no question; None where no person can be asked."""
        return _confirm if self.out.asks else None


def _confirm(question: str) -> bool:
    import click

    return click.confirm(safe(question), err=True)


AnyCommand = TypeVar("AnyCommand", bound="click.Command")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def command(name: str | None = None) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a command of a function that takes a CommandContext and the options; `--json` is one of them."""
    import click

    return lambda function: json_option(click.command(name)(click.pass_obj(function)))


def json_option(command: AnyCommand) -> AnyCommand:
    """The command with the option `--json`, after its own options.

    Its value is read by `edge.py`, which must know it also when the rest of the command line is wrong.
    """
    import click

    help = "Print the result as one JSON object."
    command.params.append(click.Option(["--json"], is_flag=True, expose_value=False, help=help))
    return command


def env_option(command: Decorated) -> Decorated:
    """The option `--env`, as the parameter `environment`."""
    import click

    return click.option(
        "--env", "environment", metavar="NAME", default="", help="The environment to run in: dev, prod, …"
    )(command)


def options(*decorators: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """One decorator for options that several commands share, in this order."""

    def decorate(function: Decorated) -> Decorated:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate
