from __future__ import annotations

import os

import click

from samuel import config
from samuel.base import paths
from samuel.cli.command_context import CommandContext, command
from samuel.clients.table import HOOK_FORMATS
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, refuse_links
from samuel.scaffold.hook import WrittenHook
from samuel.scaffold.imported_hook import NotConvertible, imported_hook
from samuel.sources.client_hooks.find import read_files
from samuel.sources.client_hooks.imported_files import project_files


@command("import")
@click.argument("agents", nargs=-1, type=click.Choice(tuple(HOOK_FORMATS)), metavar="[AGENT]...")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def import_(here: CommandContext, agents: tuple[str, ...], dry_run: bool) -> int:
    """Turn the project's hooks for other agents into YAML hooks.

    Reads the hook files of claude, codex and cursor, and writes one file in .system/hooks/ for each hook. The
    scripts stay where they are and keep their protocol. An existing file is never changed, and what is written
    runs only after `samuel trust`.

    \b
        samuel hooks import claude --dry-run
    """
    root = here.root
    settings = config.load(root / paths.CONFIG)
    refuse_links(root, paths.SYSTEM, paths.YAML_HOOKS)
    new_files: list[WrittenHook] = []
    skipped: list[dict[str, str]] = []
    sources: list[str] = []
    for read in read_files(project_files(root, agents or tuple(HOOK_FORMATS))):
        skipped += [{"name": read.file, "why": str(problem)} for problem in read.problems]
        for hook in read.hooks:
            try:
                new_file = imported_hook(hook, read.file)
            except NotConvertible as error:
                skipped.append({"name": hook.name, "why": str(error)})
                continue
            if os.path.lexists(root / new_file.name):
                skipped.append({"name": hook.name, "why": f"`{new_file.name}` exists already"})
                continue
            new_files.append(new_file)
            sources.append(read.file)
    if new_files and not dry_run:
        directory = make_dirs_inside(root, paths.YAML_HOOKS, mode=0o755)
        try:
            for file in new_files:
                atomic.write_at(directory, os.path.basename(file.name), file.text.encode(), file.mode)
        finally:
            os.close(directory)
    data = {"written": [file.name for file in new_files], "skipped": skipped, "dry_run": dry_run}
    twice = [agent for agent in agents or tuple(HOOK_FORMATS) if agent in settings.import_hooks and new_files]
    warnings = [f"`{agent}` is in `import_hooks` of samuel.toml too; remove it there" for agent in twice]
    return here.out.answer(data, *_lines(here, new_files, skipped, sources, dry_run=dry_run), warnings=warnings)


def _lines(
    here: CommandContext,
    new_files: list[WrittenHook],
    skipped: list[dict[str, str]],
    sources: list[str],
    *,
    dry_run: bool,
) -> list[str]:
    names = {file: here.path_of(file.name) for file in new_files}
    lines = [f"== {name}\n{file.text}" if dry_run else f"wrote {name}" for file, name in names.items()]
    lines += [f"not carried over: `{row['name']}`: {row['why']}" for row in skipped]
    if not lines:
        return ["there are no hooks for other agents here"]
    if new_files and not dry_run:
        where = ", ".join(dict.fromkeys(sources))
        lines += ["", "run `samuel trust` to read and trust them"]
        lines.append(f"then remove them from {where}, or they run twice")
    return lines
