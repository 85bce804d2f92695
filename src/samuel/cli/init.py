from __future__ import annotations

from pathlib import Path

import click

from samuel.base import paths
from samuel.base.errors import SamuelError, UsageError
from samuel.cli.command_context import CommandContext, command
from samuel.cli.guard_offer import offer_guard
from samuel.events import InitAfter, InitBefore
from samuel.files.inside import refuse_links
from samuel.hooks.handler import HandlerStatus
from samuel.scaffold import project


@command()
@click.argument("directory", type=click.Path(path_type=Path), default=".", metavar="[DIR]")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--minimal", is_flag=True, help="Write samuel.toml only.")
@click.option("--yes", is_flag=True, help="Ask nothing: replace samuel.toml, and enable no hook.")
def init(here: CommandContext, directory: Path, force: bool, minimal: bool, yes: bool) -> int:
    """Set up a project: samuel.toml and .samuel/.

    Hooks that came with the repository do not run until you trust them with `samuel trust`.

    \b
        samuel init my-project
    """
    root = _root(here, directory)
    if project.exists(root):
        _agree_to_replace(here, root, force, yes)
    with here.open(root) as app:
        before_init = app.fire(InitBefore(force=force, minimal=minimal))
        warnings = [*before_init.warnings, *app.warnings]
    if before_init.stopped:
        raise SamuelError(f"a hook stopped `samuel init`: {before_init.reason}", "`samuel hooks log` shows more")
    created = project.write_files(root, minimal=minimal, force=force)
    with here.open(root) as app:
        after_init = app.fire(InitAfter(plugins_installed=[plugin.title for plugin in app.plugins.of_project]))
        warnings += [*after_init.warnings, *app.warnings]
        untrusted = [handler for handler in app.handlers if handler.status is HandlerStatus.UNTRUSTED]
        waiting = sorted({handler.path or handler.name for handler in untrusted})

    lines = [f"{root} is a Samuel project now."]
    lines += [f"  wrote {name}" for name in created.new_files]
    lines += [f"  kept {name}" for name in created.existing_files]
    if waiting:
        what = "1 hook came with it and is" if len(waiting) == 1 else f"{len(waiting)} hooks came with it and are"
        lines.append(f"{what} not trusted; `samuel trust` shows {'it' if len(waiting) == 1 else 'them'}.")
    lines += offer_guard(here, root, ask=not yes)
    data = {"root": str(root), "written": created.new_files, "kept": created.existing_files, "untrusted": waiting}
    error = ""
    if after_init.stopped:
        error = f"a hook failed after `samuel init`: {after_init.reason}; the files are written and stay"
    return here.out.answer(data, "\n".join(lines), ok=not error, warnings=warnings, error=error)


def _root(here: CommandContext, directory: Path) -> Path:
    """The directory, created if it is missing."""
    root = (here.directory / directory).resolve()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise UsageError(
            f"`{directory}` is not a directory", "name a directory; it is created if it is missing"
        ) from None
    refuse_links(root, paths.HOME, *paths.HOOK_DIRS)
    return root


def _agree_to_replace(here: CommandContext, root: Path, force: bool, yes: bool) -> None:
    if not force:
        raise SamuelError(f"`{root / paths.CONFIG}` exists already", "`samuel init --force` replaces it")
    if yes:
        return
    if not here.out.asks:
        hint = "add `--yes` to replace it without being asked"
        raise SamuelError(f"`{root / paths.CONFIG}` exists already, and there is no terminal to ask on", hint)
    click.confirm(f"Replace {paths.CONFIG}?", abort=True, err=True)
