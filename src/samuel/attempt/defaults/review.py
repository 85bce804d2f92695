"""quality.check, corner `claim`: another agent reads the work, in a copy that is thrown away, and may refuse."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from samuel.agents.invoke import Invoked
from samuel.agents.process_files import log_path
from samuel.attempt.defaults.agent_invoke import RunAgent
from samuel.attempt.review.answer import ReviewAnswer, read_answer
from samuel.attempt.review.prompt import DIFF_LIMIT, WORK, review_prompt
from samuel.attempt.review.work_copy import review_copy
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.paths import Project
from samuel.events import AgentInvoke, QualityCheck
from samuel.events.loop import ClaimedWork, Review
from samuel.git.git import Git
from samuel.git.trees import Trees
from samuel.history.notices import ReviewEnded, ReviewStarted


class ReviewClaim:
    """Reads the work once, and once more for each lens, until a reading does not accept it."""

    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: QualityCheck) -> dict[str, Any]:
        is_wrong = event.previous is not UNSET and event.previous.get("ok") is False
        if event.corner != "claim" or event.claim is UNSET or event.dry_run or is_wrong:
            return {}
        reviews: list[Review] = []
        for lens in (WORK, *self._place.settings.review.lenses):
            reviews.append(self._read(event, event.claim, lens))
            if reviews[-1].verdict != "accept":
                break
        last = reviews[-1]
        reason = f"`{last.reviewer}` refuses the work" if last.verdict == "refuse" else last.why
        return {
            "ok": last.verdict == "accept",
            "reviews": msgspec.to_builtins(reviews),
            **({"reason": reason} if last.verdict != "accept" else {}),
        }

    def _read(self, event: QualityCheck, claim: ClaimedWork, lens: str) -> Review:
        place, name = self._place, self._place.settings.review.agent
        place.watch(ReviewStarted(name, lens))
        began = place.clock.monotonic()
        usage: dict[str, Any] = {}
        try:
            with review_copy(place, claim.tree, claim.base) as (copy, trees):
                nonce = secrets.token_hex(16)
                done = self._run(event, claim, lens, nonce, trees, copy)
            usage = dict(done.usage)
            answer = read_answer(done, nonce)
        except (SamuelError, OSError) as error:
            answer = ReviewAnswer("none", [], f"it could not read the work: {error}")
        seconds = round(place.clock.monotonic() - began, 3)
        place.watch(ReviewEnded(name, lens, answer.verdict, len(answer.findings), seconds, answer.why))
        return Review(
            reviewer=name,
            lens=lens,
            verdict=answer.verdict,
            findings=answer.findings,
            why=answer.why,
            seconds=seconds,
            usage=usage,
        )

    def _run(
        self, event: QualityCheck, claim: ClaimedWork, lens: str, nonce: str, trees: Trees, copy: Path
    ) -> Invoked:
        place, settings = self._place, self._place.settings
        prompt = review_prompt(
            nonce,
            lens,
            event.task,
            _guardrails(event),
            claim,
            trees.differing(claim.base, claim.tree),
            trees.diff(claim.base, claim.tree, limit=DIFF_LIMIT),
        )
        there = dataclasses.replace(
            place,
            root=copy,
            state=Project(copy).run,
            git=Git(copy, place.environment),
            out_of_sight=(str(place.root),),
        )
        run_id = "" if event.run_id is UNSET else event.run_id
        session = f"{run_id}-{event.iteration}-review-{lens}"
        invocation = AgentInvoke(
            agent=settings.review.agent,
            prompt=prompt,
            env={**place.agent_env(settings.review.agent), **_names(event, session, copy)},
            sandbox=place.sandbox,
            deadline_ms=int((settings.review.timeout or settings.agent_timeout) * 1000),
            session_id=session,
            run_id=event.run_id,
            iteration=event.iteration,
            methodology=event.methodology,
            project_root=str(copy),
        )
        done, _, _ = RunAgent(there).invoke(invocation)
        self._log(event, lens, Path(done.stdout_path))
        return done

    def _log(self, event: QualityCheck, lens: str, output: Path) -> None:
        """Keep what the reviewer printed beside the logs of the iteration: its copy is thrown away."""
        run_id = "" if event.run_id is UNSET else event.run_id
        text = output.read_bytes() if output.is_file() else b""
        path = log_path(self._place.state, run_id, event.iteration, "review")
        self._place.append(path, f"--- {self._place.settings.review.agent}, {lens}\n".encode() + text + b"\n")


def _guardrails(event: QualityCheck) -> Sequence[str]:
    """Those of the project, and those of the task."""
    of_project = event.context.get("Guardrails") or {}
    return [*(f"{key}: {value}" for key, value in of_project.items()), *(event.task.get("guardrails") or ())]


def _names(event: QualityCheck, session: str, copy: Path) -> dict[str, str]:
    """The variables from which a reviewer knows its task, and a `samuel` in it that it may change nothing."""
    return {
        "SAMUEL_RUN_ID": "" if event.run_id is UNSET else event.run_id,
        "SAMUEL_STEP": "check",
        "SAMUEL_MODE": "review",
        "SAMUEL_SESSION_ID": session,
        "SAMUEL_ITERATION": str(event.iteration),
        "SAMUEL_TASK_ID": str(event.task.get("id") or ""),
        "SAMUEL_ATTEMPT": str(int(event.task.get("attempts") or 0) + 1),
        "SAMUEL_METHODOLOGY": event.methodology,
        "SAMUEL_PROJECT_ROOT": str(copy),
    }
