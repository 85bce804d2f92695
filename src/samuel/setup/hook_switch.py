"""Switching YAML hooks on and off, and single rules of a hook; a file that was trusted stays trusted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from samuel.app import App
from samuel.base import paths
from samuel.base.errors import ConfigError, SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.config.yaml_edit import set_flag, set_list
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside
from samuel.files.regular import read_regular
from samuel.setup.consent import Consent
from samuel.shipped.table import SHIPPED_HOOKS, definition
from samuel.sources.yaml_cache import YamlHookCache, YamlHookFile
from samuel.sources.yaml_file import read_hook
from samuel.sources.yaml_hook import YamlHook


class SwitchedHook(NamedTuple):
    file: str
    changed: bool
    trusted: bool
    """Was the file trusted before, and so is it now?"""


def bring(root: Path, name: str) -> None:
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


def is_enabled(root: Path, name: str) -> bool:
    """Whether a YAML file of the project has the hook `name`, enabled."""
    hooks = (read.hook for read in YamlHookCache(SHIPPED_HOOKS).look(root))
    return any(hook is not None and hook.id == name and hook.enabled for hook in hooks)


def set_enabled(app: App, read: YamlHookFile, on: bool) -> SwitchedHook:
    """Set the line `enabled:` of a hook's file, and nothing else of it."""
    hook = _hook_of(read)
    if hook.enabled is on:
        return SwitchedHook(read.file, False, _is_trusted(app, read))
    hint = f"write `enabled: {str(on).lower()}` in it"
    text = set_flag(_text(app, read), "enabled", on, after="id")
    return _write(app, read, text, replace(hook, enabled=on), hint)


def set_off(app: App, read: YamlHookFile, rules: Sequence[str]) -> SwitchedHook:
    """Set the list `off` below `config:` of a hook's file, and nothing else of it."""
    hook = _hook_of(read)
    if list(hook.config.get("off", ())) == list(rules):
        return SwitchedHook(read.file, False, _is_trusted(app, read))
    config = {key: value for key, value in hook.config.items() if key != "off"}
    text = set_list(_text(app, read), "config", "off", rules)
    expected = replace(hook, config={**config, **({"off": list(rules)} if rules else {})})
    return _write(app, read, text, expected, f"write `off: [{', '.join(rules)}]` below `config:` in it")


def hook_file(app: App, id: str) -> YamlHookFile:
    """The YAML file that has the hook `id`. Raises for none, for two, and for one that cannot be read."""
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


def _hook_of(read: YamlHookFile) -> YamlHook:
    assert read.hook is not None, "hook_file returns files that could be read"
    return read.hook


def _is_trusted(app: App, read: YamlHookFile) -> bool:
    return not app.permit.text(read.file, read.digest)


def _text(app: App, read: YamlHookFile) -> str:
    return read_regular(app.paths.root / read.file).decode()


def _write(app: App, read: YamlHookFile, text: str | None, expected: YamlHook, hint: str) -> SwitchedHook:
    """Write the file if it says what is expected, and nothing else differs from before."""
    by_hand = SamuelError(f"`{read.file}` cannot be changed by a program", hint)
    trusted = _is_trusted(app, read)
    try:
        if text is None or read_hook(text.encode(), read.file, SHIPPED_HOOKS) != expected:
            raise by_hand
    except ConfigError:
        raise by_hand from None
    atomic.write_bytes(app.paths.root / read.file, text.encode())
    if trusted:  # trust moves to the new content: to edit the line back needs trust again
        Consent(app.paths.root).agree_to({read.file: text.encode()}, instead=True)
    return SwitchedHook(read.file, True, trusted)
