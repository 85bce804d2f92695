"""The proof that a client's tool calls reach Samuel: a command that must be denied, and one that must not.

The installed client is run with the user's own set-up against the scripted model. Its hooks and its trust in them
are those of the user, so what the client would skip in silence shows up here.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from samuel.agents.check import version_line, version_number
from samuel.base.paths import User
from samuel.bridges.proofs import Proof, Verdict, remember
from samuel.process import environment, spawn
from samuel.proving import canary as canaries
from samuel.proving.canary import ALLOWED, DENIED, Canary
from samuel.proving.model.launch import SCRIPTED_CLIENTS, ScriptedClient
from samuel.proving.model.server import ModelRequest, ModelServer
from samuel.proving.model.wire import FinalText, ToolCall, ToolResult

TIMEOUT = 300.0
_PROMPT = "Run the two commands of the script, then stop."
_LONGEST_QUOTE = 300
_PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
_VERSION_TIMEOUT = 60.0


class Observation(NamedTuple):
    """What could be seen of one run of a client against the scripted model."""

    ended: str
    """As `spawn.Finished` has it."""
    last_words: str
    """The end of what the client printed, or why it could not be started."""
    requests: tuple[ModelRequest, ...]
    results: tuple[ToolResult, ...]
    """What the model was told about the two calls."""
    judged: frozenset[str]
    """Which of the two commands the guard was asked about."""
    ran: frozenset[str]
    """Which of the two commands ran."""


class Conclusion(NamedTuple):
    """What an observation means."""

    verdict: Verdict
    why: str


def prove(name: str, root: Path, user: User, host: Mapping[str, str], now: float) -> Proof:
    """Run the client with this name in the project, conclude, and remember the proof."""
    client = SCRIPTED_CLIENTS.get(name)
    version, reason_told = "", False
    if client is None:
        conclusion = Conclusion("error", f"{name} cannot be run against a model on this machine")
    elif not shutil.which(client.name, path=host.get("PATH")):
        conclusion = Conclusion("error", f"`{client.name}` is not on PATH")
    else:
        version = version_of(client, root, host)
        observation, canary = observe(client, root, user, host)
        conclusion = conclude(observation)
        reason_told = any(canary.reason in result.text for result in observation.results)
    proof = Proof(
        client=name,
        version=version,
        root=str(root),
        verdict=conclusion.verdict,
        why=conclusion.why,
        reason_told=reason_told,
        checked_at=now,
    )
    remember(user.state, proof)
    return proof


def observe(client: ScriptedClient, root: Path, user: User, host: Mapping[str, str]) -> tuple[Observation, Canary]:
    """Run the client once in `root`, against the scripted model, with the user's set-up and none of their keys."""
    user.cache.mkdir(parents=True, exist_ok=True)
    with (
        canaries.released(user.state) as canary,
        tempfile.TemporaryDirectory(prefix="samuel-canary-") as place,
        # Not in the temporary directory: clients trust less what is below a directory that others can write.
        tempfile.TemporaryDirectory(prefix="canary-", dir=user.cache) as settings,
    ):
        files = {ALLOWED: Path(place, canary.allowed), DENIED: Path(place, canary.denied)}
        steps = [client.shell(f"touch {shlex.quote(str(file))}") for file in files.values()]
        with ModelServer([*steps, FinalText("Both commands were called.")]) as model:
            launch = client.launch(model.url, Path(settings), host)
            finished = spawn.run(
                launch.with_prompt(_PROMPT),
                cwd=str(root),
                env=_environment(client, host, launch.env),
                timeout=TIMEOUT,
            )
            observation = Observation(
                ended=finished.ended,
                last_words=finished.why or _quote(finished.stderr or finished.stdout),
                requests=tuple(model.requests),
                results=model.tool_results,
                judged=canary.judged(),
                ran=frozenset(word for word, file in files.items() if file.exists()),
            )
    return observation, canary


def conclude(observation: Observation) -> Conclusion:
    """The verdict: a command that ran unasked or in spite of a denial is drift, whatever else happened."""
    ran, judged = observation.ran, observation.judged
    if observation.ended == "not_started":
        return Conclusion("error", observation.last_words)
    if unasked := sorted(ran - judged):
        return Conclusion("drift", f"the client ran the {unasked[-1]} canary and did not ask Samuel")
    if DENIED in ran:
        return Conclusion("drift", "the client ran a command that Samuel had denied")
    if judged == {ALLOWED, DENIED} and ALLOWED in ran:
        return Conclusion("ok", "Samuel was asked about both canaries; the denied one did not run")
    return Conclusion("inconclusive", _unclear(observation))


def _unclear(observation: Observation) -> str:
    called = [request for request in observation.requests if isinstance(request.step, ToolCall)]
    if observation.ended == "timed_out":
        return f"the client did not end in time; it printed: {observation.last_words}"
    if not observation.requests:
        return f"the client did not ask the model; it printed: {observation.last_words}"
    if not called:
        return "the client did not offer the model its tool that runs commands"
    if not observation.results and not observation.judged:
        return f"the client did not carry out the model's call; it printed: {observation.last_words}"
    answer = _quote(observation.results[0].text.encode()) if observation.results else observation.last_words
    if ALLOWED in observation.ran:
        return "the client did not carry out the second call"
    if ALLOWED in observation.judged:
        return f"the client did not run the allowed canary; the model was told: {answer}"
    return f"the client refused the allowed canary before Samuel's guards were asked; the model was told: {answer}"


def version_of(client: ScriptedClient, root: Path, host: Mapping[str, str]) -> str:
    """The version that the client prints, like `1.18.33`; "" if it prints none."""
    argv = (client.name, "--version")
    finished = spawn.run(argv, cwd=str(root), env=_environment(client, host, {}), timeout=_VERSION_TIMEOUT)
    return version_number(version_line(finished)) if finished.ended == "exited" else ""


def _environment(client: ScriptedClient, host: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """The user's variables without keys, without what names another model, and without a proxy."""
    env = environment.clean(extra, client.passes, host)
    return {name: value for name, value in env.items() if name not in _PROXIES}


def _quote(printed: bytes) -> str:
    """The end of what was printed, on one line."""
    text = " ".join(printed.decode("utf-8", "replace").split())
    return f"`{text[-_LONGEST_QUOTE:]}`" if text else "nothing"
