from __future__ import annotations

from samuel.cli.command_context import CommandContext, command, env_option
from samuel.hooks.handler import HandlerStatus
from samuel.sources.yaml_hooks import registration

IDLE = (HandlerStatus.BROKEN, HandlerStatus.UNTRUSTED)


@command()
@env_option
def register(here: CommandContext, environment: str) -> int:
    """Print the enabled YAML hooks as JSON, by event.

    For programs that call hooks themselves. Nothing is run; broken and untrusted hooks are listed on stderr.

    \b
        samuel hooks register --env dev
    """
    with here.open(environment=environment) as app:
        hooks_by_event = registration(
            app.discovery.yaml_files.look(app.paths.root), app.discovery.environment_here, app.paths.root
        )
        idle = {handler.file: handler for handler in app.handlers if handler.file and handler.status in IDLE}
    here.out.warn(
        *(f"`{handler.name}` is {handler.status}: {handler.reason}" for handler in idle.values()), *app.warnings
    )
    here.out.object(hooks_by_event)
    return 0
