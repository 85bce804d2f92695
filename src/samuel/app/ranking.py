"""The configured agent as a ranker of abilities.

It is told to use no tools, or else confined in a sandbox; it works outside of the project, with a deadline.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from samuel.agents.check import missing_in
from samuel.agents.find_agent import find
from samuel.agents.invoke import AgentCall, AgentLimits, AgentSurroundings, invoke
from samuel.base.errors import SamuelError
from samuel.clients.adapter.agent import TOOLS, Agent
from samuel.events import Sandbox
from samuel.files.file_cache import digest_of
from samuel.files.keyed_cache import KeyedCache
from samuel.process.reason import NotRunnable
from samuel.routing.abilities import ranking
from samuel.routing.abilities.model import Ability
from samuel.routing.abilities.ranking import Ranker, Ranking
from samuel.routing.abilities.registry import Registry
from samuel.trust import commands

if TYPE_CHECKING:
    from samuel.app.project import App


def ranker(app: App, registry: Registry) -> Ranker:
    """Asks the agent that the project or the user configured; rankings are cached."""
    name = app.workplace.agent
    rankings = KeyedCache(app.user.cache / "rankings" / digest_of(str(app.paths.root)), list[str])

    def rank(text: str, abilities: Sequence[Ability], limit: int) -> Ranking:
        prompt = ranking.prompt(text, abilities, limit)
        key = digest_of(prompt, registry.stamp, name, repr(find(name, app.workplace.agents).command))
        cached_ids = rankings.get(key)
        if cached_ids is not None and set(cached_ids) <= {ability.id for ability in abilities}:
            return Ranking(name, tuple(cached_ids))
        try:
            ids = ranking.ids_in(_ask(app, name, prompt), abilities, limit)
        except (SamuelError, NotRunnable, OSError, ValueError) as error:
            return Ranking(name, problem=str(error.message if isinstance(error, SamuelError) else error))
        rankings.add(key, list(ids))
        return Ranking(name, ids)

    return rank


def _ask(app: App, name: str, prompt: str) -> str:
    """What the agent prints for a prompt. It works in an empty directory, so it can change nothing."""
    place = app.workplace
    agent = _from_anywhere(find(name, place.agents), place.root)
    sandbox = _sandbox(agent, place.root)
    for text in (commands.ranker(app.config), commands.of_agent(name, place.agents, place.root)):
        if why := place.refusal(text):
            raise SamuelError(why)
    if lack := missing_in(agent, sandbox, place.confinement):
        raise SamuelError(lack)
    place.cache.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="ranking-", dir=place.cache))
    try:
        state = scratch / ".samuel/run"
        state.mkdir(parents=True)
        answer = invoke(
            agent,
            AgentCall(prompt=prompt, env={**place.agent_env(name), TOOLS: ""}, session="ranking"),
            AgentSurroundings(
                root=scratch, state=state, sandbox=sandbox, environment=place.host, cache=place.cache
            ),
            AgentLimits(timeout=app.config.abilities.timeout),
        )
        if answer.timed_out:
            raise SamuelError(f"it did not answer within {app.config.abilities.timeout:g}s")
        if answer.exit_code != 0:
            raise SamuelError(f"it ended with exit code {answer.exit_code}")
        return Path(answer.stdout_path).read_text(errors="replace") if answer.stdout_tail else ""
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _from_anywhere(agent: Agent, root: Path) -> Agent:
    """Its command with the paths of the project made absolute: it does not run there."""
    words = (str(root / word) if (root / word).exists() else word for word in agent.command)
    return replace(agent, command=tuple(words))


def _sandbox(agent: Agent, root: Path) -> Sandbox:
    """None for an agent that can be told to use no tools; for any other, the machine is there to read only."""
    if agent.limited is not None:
        return Sandbox(kind="host")
    return Sandbox(kind="bwrap", network=True, volumes=[f"{root}:{root}:ro"])
