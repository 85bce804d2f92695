"""`samuel hooks enable` and `disable`: the line `enabled:` of a YAML hook, and nothing else of it."""

from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command, env_option
from samuel.process.inside_a_run import refuse_inside_a_run
from samuel.setup.hook_switch import bring, hook_file, set_enabled


@command()
@click.argument("id")
@env_option
def enable(here: CommandContext, id: str, environment: str) -> int:
    """Enable a YAML hook.

    A hook that comes with Samuel is first copied to .system/hooks/, where you can change it: knowledge_trigger,
    notify, policy_guard, post_tool_use_tracker, session_stop_build_check, shell_guard, skill_activation_prompt.

    \b
        samuel hooks enable session_stop_build_check
    """
    refuse_inside_a_run()
    bring(here.root, id)
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


def _switch(here: CommandContext, id: str, *, on: bool, environment: str = "") -> int:
    with here.open(environment=environment) as app:
        read = hook_file(app, id)
        switched = set_enabled(app, read, on)
        idle = ""
        if on and read.hook is not None:
            idle = app.discovery.environment_here.inactive(read.hook) or read.hook.unconfigured(read.file)
    state = "enabled" if on else "disabled"
    data = {"id": id, "file": switched.file, "enabled": on, "changed": switched.changed}
    if not switched.changed:
        return here.out.answer(data, f"`{id}` is {state} already", warnings=app.warnings)
    warnings = list(app.warnings)
    if switched.trusted:
        with here.open():  # discovery remembers it, so that it is missed if its file disappears
            pass
    else:
        warnings.append(f"`{switched.file}` is not trusted yet; `samuel trust` shows it and asks")
    if idle:
        warnings.append(f"`{id}` does not run here: {idle}")
    return here.out.answer(data, f"{state} `{id}` in {here.path_of(switched.file)}", warnings=warnings)
