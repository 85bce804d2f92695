"""`prepare` of samuel.toml: the command that makes in the clean room what checks need."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from samuel.attempt.workplace import Workplace
from samuel.base.printable import file_name, listed, safe
from samuel.config.model import Methodology
from samuel.confine import sandbox as sandboxes
from samuel.evidence.environment import PrepareFailed
from samuel.evidence.room import CleanRoom
from samuel.evidence.surroundings.inputs import is_input
from samuel.history.notices import CheckEnded, CheckStarted
from samuel.process import spawn
from samuel.process.reason import NotRunnable
from samuel.trust import commands

TIMEOUT = 1800.0
TAIL = 4096
MOST_NAMED = 5


def prepare_hint(settings: Methodology, room: CleanRoom | None, changed: Iterable[str]) -> str:
    """What a person can do if checks fail because an attempt needs another environment; "" if it does not."""
    inputs = [path for path in changed if is_input(path)]
    if room is None or settings.prepare or not room.environment or not inputs:
        return ""
    named = listed([f"`{file_name(path)}`" for path in inputs], MOST_NAMED)
    return (
        f"\n\nthe attempt changed {named}, and the checks have the environment of before the run; "
        "`prepare` in samuel.toml names a command that makes it anew"
    )


class PrepareCommand:
    """Runs `prepare` where checks run, with what checks get."""

    def __init__(self, place: Workplace) -> None:
        self._place = place

    @property
    def command(self) -> str:
        return self._place.settings.prepare

    def run(self, directory: Path) -> None:
        """Run the command. Raises PrepareFailed."""
        place = self._place
        if why := place.refusal(commands.prepare(place.settings)):
            raise PrepareFailed(why)
        place.watch(CheckStarted(self.command))
        finished = self._run(directory)
        output = (finished.stdout + finished.stderr).decode("utf-8", "replace")[-TAIL:]
        passed = finished.ended == "exited" and finished.returncode == 0
        output = output.replace(str(directory), str(place.root))
        place.watch(CheckEnded(self.command, passed, finished.duration, output, corner="prepare"))
        if not passed:
            how = {
                "exited": f"failed with exit code {finished.returncode}",
                "timed_out": f"was killed after {TIMEOUT:g}s",
                "not_started": f"could not be started: {finished.why}",
            }.get(finished.ended, finished.ended)
            raise PrepareFailed(
                f"`{safe(self.command)}` of `prepare` {how}\n{safe(output).strip()}".strip(),
                "fix `prepare` in samuel.toml, or remove it to use the environment of the work tree",
            )

    def _run(self, directory: Path) -> spawn.Finished:
        place = self._place
        env = {**place.environment, **place.check_directory.variables, "SAMUEL_STEP": "check"}
        around = dataclasses.replace(place.check_confinement, root=directory)
        argv = ["/bin/sh", "-c", self.command]
        try:
            with sandboxes.confined(argv, place.settings.sandbox, around, env) as confined:
                return spawn.run(
                    confined.argv,
                    cwd=str(directory),
                    env=confined.env,
                    pass_fds=confined.pass_fds,
                    timeout=TIMEOUT,
                    output_limit=1 << 62,
                    keep=TAIL,
                )
        except NotRunnable as error:
            raise PrepareFailed(error.message, error.hint) from None
