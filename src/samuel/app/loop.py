"""What of an opened project only the loop needs: where it works, what its prompts know, the loop itself.

Separate from `project.py` because it imports most of the package, and session events need none of it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from samuel.agents.early_ends import EarlyEnds
from samuel.agents.process_files import launcher
from samuel.app.run_steps import steps_of
from samuel.attempt.defaults import REVIEW
from samuel.attempt.stop import Stop
from samuel.attempt.turn.tool_hooks import ToolHooks
from samuel.attempt.workplace import Workplace
from samuel.checks.repeat import BuiltInChecks
from samuel.config.model import DEFAULT
from samuel.config.place_spec import PlaceSpec, place_specs
from samuel.events.catalogue import event_type
from samuel.events.names import QUALITY_CHECK
from samuel.evidence.sealed import sealed_checks
from samuel.files.atomic import Disk
from samuel.git.git import Git
from samuel.history.budgets import BudgetMeter
from samuel.history.notice_log import NoticeLog
from samuel.history.notices import Watch, ignore_reports
from samuel.history.run_file import RunFile
from samuel.hooks.guards import is_guard
from samuel.hooks.handler import HandlerMode, Origin
from samuel.hooks.order import ChainStep
from samuel.prompts.prompt_context import (
    ConfigNames,
    IterationNames,
    MethodologyNames,
    PathNames,
    ProjectNames,
    PromptContext,
    SamuelNames,
    StateNames,
)
from samuel.prompts.suggestions import SuggestionWriter
from samuel.routing.abilities.execution import trust as ability_trust
from samuel.run.coordinator import Coordinator
from samuel.skills.skill import find_skills, for_prompt
from samuel.tasks.store import TaskStore

if TYPE_CHECKING:
    from samuel.app.project import App


ONE_LANE = (PlaceSpec("local", 1),)


def workplace(app: App, watch: Watch | None, disk: Disk) -> Workplace:
    return Workplace(
        root=app.paths.root,
        state=app.state,
        templates=app.paths.templates,
        cache=app.user.cache,
        settings=app.config.chosen(app.methodology),
        meter=BudgetMeter(app.config.chosen(app.methodology).budgets),
        early_ends=app.lane.early_ends if app.lane else EarlyEnds(),
        prd_prompt_bytes=app.config.limits.prd_prompt_bytes,
        preferred_agent=app.personal.agent,
        agents=app.config.agents,
        environment=app.variables,
        host={**os.environ, **({"SAMUEL_ENV": app.environment} if app.environment else {})},
        clock=app.clock,
        git=Git(app.paths.root, app.variables),
        tasks=TaskStore(app.state, app.user.record(app.state), disk=disk),
        disk=disk,
        record=app.user.record(app.state),
        live=app.user.live,
        trust=app.trust,
        watch=NoticeLog(app.user.record(app.state), watch or ignore_reports, app.clock.now),
        permit=app.permit.text,
        in_background=lambda: app.background.under_way(),
        lane=app.lane.number if app.lane else None,
        machine=app.lane.machine if app.lane else "",
        lanes=app.config.lanes,
        tool_hooks=ToolHooks(app.chains, lambda: app.tool_hooks_pin, app.config.agents),
        sealed_checks=sealed_checks(
            app.config.chosen(app.methodology).sealed_checks,
            app.config.file.parent if app.config.file else app.paths.root,
            str(app.user.home),
        ),
        check_seconds=_check_seconds(app),
        built_in_checks=BuiltInChecks(in_force=any(map(_is_built_in, app.chains[QUALITY_CHECK].steps))),
        reviews_work=any(map(_is_review, app.chains[QUALITY_CHECK].steps)),
        suggest=SuggestionWriter(
            app.paths.root,
            app.user.cache,
            app.environment,
            app.config.limits.handler_prompt_bytes,
            lambda ability: ability_trust.refusal(ability, app.paths.root, app.permit),
        ),
    )


def _check_seconds(app: App) -> float:
    """How long a check may take: what the built-in handler of `quality.check` has, also if it was replaced."""
    steps = app.chains[QUALITY_CHECK].steps
    return next((step.timeout for step in steps if _is_built_in(step)), event_type(QUALITY_CHECK).timeout)


def _is_built_in(step: ChainStep) -> bool:
    return step.handler.origin is Origin.BUILT_IN and step.handler.name == DEFAULT


def _is_review(step: ChainStep) -> bool:
    is_own = step.handler.origin is Origin.BUILT_IN and step.handler.name == REVIEW
    return is_own and step.mode is HandlerMode.ENFORCE


def prompt_context(app: App, skills: list[dict[str, str]]) -> PromptContext:
    """The PromptContext outside of a run."""
    settings = app.config.chosen(app.methodology)
    return PromptContext(
        Samuel=SamuelNames(Command=launcher(app.state, settings.sandbox.kind)),
        Project=ProjectNames(app.paths.root.name, str(app.paths.root)),
        Methodology=MethodologyNames(app.methodology),
        Iteration=IterationNames(),
        Config=ConfigNames(
            agent=settings.agent_for(app.personal.agent),
            quality_checks=list(settings.quality_checks),
            max_iterations=settings.max_iterations,
            max_task_attempts=settings.max_task_attempts,
            commit=settings.commit,
            pilot=settings.pilot.enabled,
            focus=settings.pilot.focus,
            max_discovery_tasks=settings.pilot.max_discovery_tasks,
        ),
        Guardrails=app.config.guardrails,
        Paths=PathNames(str(app.paths.config), str(app.state), str(app.paths.hooks)),
        State=StateNames(Skills=skills),
        Mode="implementation",
        Hooks={name: [step.handler.name for step in chain.steps] for name, chain in app.chains.items()},
        Plugins={},
    )


def skills(app: App) -> list[dict[str, str]]:
    """What the agent is told of skills: names and descriptions, within what one handler may add."""
    available = find_skills(app.paths.root, app.user.home, app.plugins.usable)
    listing = for_prompt(available, app.paths.root, app.config.limits.handler_prompt_bytes)
    if listing.left_out:
        app.warn(f"skills left out of the prompt, too long together: {', '.join(listing.left_out)}")
    return listing.listed


def loop(
    app: App,
    stop: Stop,
    *,
    timings: bool,
    dry_run: bool,
    places: Sequence[PlaceSpec] = (),
    only_land: bool = False,
) -> Coordinator:
    steps = steps_of(app, stop, timings=timings, dry_run=dry_run)
    places = tuple(places)
    in_lanes = places not in ((), ONE_LANE) or only_land
    if not in_lanes and not dry_run and (unfinished := places_of_unfinished_run(app)):
        places, in_lanes = unfinished, True
    if dry_run or not in_lanes:
        return Coordinator(app.workplace, steps, stop, pinned_facts(app))
    from samuel.app.lanes import lane_options  # most runs have none

    options = lane_options(app, stop, places or ONE_LANE, timings=timings)
    return Coordinator(app.workplace, steps, stop, pinned_facts(app), options)


def places_of_unfinished_run(app: App) -> tuple[PlaceSpec, ...]:
    """The lanes and machines of a run that goes on with the same; () if there is none.

    That is one that was killed, or that a budget ended.
    """
    run = RunFile(app.state, app.user.record(app.state)).load()
    if run is None or run.lanes is UNSET or (run.over and not run.budget_hit):
        return ()
    return place_specs(run.lanes.places) or (PlaceSpec("local", run.lanes.count),)


def pinned_facts(app: App) -> dict[str, Any]:
    """What a reader of the run's manifest wants to know: who answers to what, and what was agreed to."""
    return {
        "agreed": app.trust_stamp,
        "chains": {
            name: [
                {
                    "handler": step.handler.name,
                    "digest": step.handler.digest,
                    "guard": is_guard(step.handler, chain.event),
                }
                for step in chain.steps
            ]
            for name, chain in app.chains.items()
            if chain.steps
        },
    }
