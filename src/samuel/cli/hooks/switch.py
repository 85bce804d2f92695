"""`samuel hooks enable` and `disable`: the line `enabled:` of a YAML hook, and nothing else of it."""

from __future__ import annotations

import os
from pathlib import Path

import click
from msgspec.structs import replace

from samuel.app import App
from samuel.base import paths
from samuel.base.errors import ConfigError, SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.config.yaml_edit import set_flag
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside
from samuel.files.regular import read_regular
from samuel.process.inside_a_run import refuse_inside_a_run
from samuel.setup.consent import Consent
from samuel.shipped.table import SHIPPED_HOOKS, definition
from samuel.sources.yaml_cache import YamlHookCache, YamlHookFile
from samuel.sources.yaml_file import read_hook


@command()
@click.argument("id")
@env_option
def enable(here: CommandContext, id: str, environment: str) -> int:
    """Enable a YAML hook.

    A hook that comes with Samuel is first copied to .system/hooks/, where you can change it: knowledge_trigger,
    notify, policy_guard, post_tool_use_tracker, session_stop_build_check, skill_activation_prompt.

    \b
        samuel hooks enable session_stop_build_check
    """
    refuse_inside_a_run()
    _bring(here.root, id)
    return _switch(here, id, on=True, environment=environment)


@command()
@click.argument("id")
def disable(here: CommandContext, id: str) -> int:
    """Disable a YAML hook.

    \b
        samuel hooks disable session_stop_build_check
    """
    refuse_inside_a_run()
    return _switch(here, id, on=False)


def _bring(root: Path, name: str) -> None:
    """Write the YAML of the shipped hook `name`, disabled, unless the project has that hook already."""
    file = f"{paths.YAML_HOOKS}/{name}.yaml"
    if name not in SHIPPED_HOOKS or os.path.lexists(root / file):
        return
    consent = Consent(root)
    if any(read.hook is not None and read.hook.id == name for read in YamlHookCache(SHIPPED_HOOKS).look(root)):
        return
    text = definition(name)
    directory = make_dirs_inside(root, paths.YAML_HOOKS, mode=0o755)
    try:
        atomic.write_at(directory, f"{name}.yaml", text, 0o644)
    finally:
        os.close(directory)
    consent.agree_to({file: text})


def _switch(here: CommandContext, id: str, *, on: bool, environment: str = "") -> int:
    with here.open(environment=environment) as app:
        read = _named(app, id)
        trusted = not app.permit.text(read.file, read.digest)
    assert read.hook is not None
    state = "enabled" if on else "disabled"
    data = {"id": id, "file": read.file, "enabled": on, "changed": read.hook.enabled is not on}
    if read.hook.enabled is on:
        return here.out.answer(data, f"`{id}` is {state} already", warnings=app.warnings)
    new_content = _write(app, read, on)
    warnings = list(app.warnings)
    if trusted:  # trust moves to the new content: to edit the line back needs trust again
        Consent(app.paths.root).agree_to({read.file: new_content}, instead=True)
        with here.open():  # discovery remembers it, so that it is missed if its file disappears
            pass
    else:
        warnings.append(f"`{read.file}` is not trusted yet; `samuel trust` shows it and asks")
    if on and (idle := app.discovery.environment_here.inactive(read.hook) or read.hook.unconfigured(read.file)):
        warnings.append(f"`{id}` does not run here: {idle}")
    return here.out.answer(data, f"{state} `{id}` in {here.path_of(read.file)}", warnings=warnings)


def _named(app: App, id: str) -> YamlHookFile:
    reads = app.discovery.yaml_files.look(app.paths.root)
    matching = [read for read in reads if read.hook and read.hook.id == id]
    if len(matching) > 1:
        files = " and ".join(f"`{read.file}`" for read in matching)
        raise SamuelError(f"{files} both have the id `{id}`", "give one of them another")
    if not matching and (broken := [read for read in reads if read.hook is None and id in _names(read)]):
        raise ConfigError([problem for read in broken for problem in read.problems])
    if not matching:
        ids = [*(read.hook.id for read in reads if read.hook), *SHIPPED_HOOKS]
        hint = did_you_mean(id, ids, "`samuel hooks validate` and `samuel hooks list --shipped` list them")
        raise UsageError(f"there is no YAML hook `{id}`", hint)
    return matching[0]


def _names(read: YamlHookFile) -> tuple[str, ...]:
    """The names that a broken file may be called by: its own, and the id it had when it could be read."""
    return Path(read.file).stem, read.last_trusted.id if read.last_trusted else ""


def _write(app: App, read: YamlHookFile, on: bool) -> bytes:
    """Write the file and return its new content, if nothing but the flag differs from before."""
    path = app.paths.root / read.file
    text = set_flag(read_regular(path).decode(), "enabled", on, after="id")
    hint = f"write `enabled: {str(on).lower()}` in it"
    by_hand = SamuelError(f"`{read.file}` cannot be changed by a program", hint)
    if text is None or read.hook is None:
        raise by_hand
    try:
        if read_hook(text.encode(), read.file, SHIPPED_HOOKS) != replace(read.hook, enabled=on):
            raise by_hand
    except ConfigError:
        raise by_hand from None
    atomic.write_bytes(path, text.encode())
    return text.encode()
