from __future__ import annotations

import click
from msgspec.structs import replace

from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext, command
from samuel.events import SyncAfter, SyncBefore
from samuel.scaffold import agents_md


@command()
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
def sync(here: CommandContext, dry_run: bool) -> int:
    """Write AGENTS.md and copy it to the files other agents read.

    The copies are CLAUDE.md, GEMINI.md and others, where they exist. Only the block between the marks is
    replaced; the rest of a file stays.

    \b
        samuel sync --dry-run
    """
    with here.open() as app:
        changes = agents_md.plan(app.paths.root, agents_md.content(app.config, app.paths.root))
        before_sync = app.fire(replace(SyncBefore(), dry_run=dry_run))
        if before_sync.stopped:
            raise SamuelError(f"a hook stopped the sync: {before_sync.reason}")
        warnings = list(before_sync.warnings)
        if before_sync.result.get("skip"):
            return here.out.answer({"files_written": [], "skipped": True}, "skipped by a hook", warnings=warnings)
        files_written = [] if dry_run else list(agents_md.write(app.paths.root, changes))
        after_sync = app.fire(replace(SyncAfter(files_written=files_written), dry_run=dry_run))
        warnings += after_sync.warnings
    word = "would write" if dry_run else "wrote"
    lines = "\n".join(f"{word} {here.path_of(name)}" for name in changes) or "everything is in step"
    data = {"files_written": files_written, "would_write": list(changes), "skipped": False}
    error = f"a hook failed after the sync: {after_sync.reason}" if after_sync.stopped else ""
    if error and files_written:
        error += "; the files are written and stay"
    return here.out.answer(data, lines, ok=not error, warnings=warnings, error=error)
