"""Sessions: YAML hooks at the same time and one after another, and `samuel emit` as a whole process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from bench_projects import executable, project
from measure import Row, Times, at_most, take_turns

from samuel.app import App
from samuel.events import PostAbilityCall, SessionStop
from samuel.process.environment import clean
from samuel.shipped.table import SHIPPED_HOOKS
from samuel.sources.yaml_hooks import files
from samuel.trust.items import review

HOOKS = 20
WORK = "#!/bin/sh\ni=0\nwhile [ $i -lt 4000 ]; do i=$((i + 1)); done\n"
WAIT = "#!/bin/sh\nexec sleep 0.2\n"


def run(scratch: Path) -> Iterator[Row]:
    yield _together(scratch)
    yield _waiting(scratch)
    yield _emit(scratch)


def _together(scratch: Path) -> Row:
    """SessionStop calls its hooks at the same time, PostAbilityCall one after another; the same scripts."""
    with project(scratch) as root:
        _hooks(root, "[SessionStop, PostAbilityCall]", WORK)
        with App(root) as app:
            together, in_turn = SessionStop(), PostAbilityCall(ability_id="a", status="success")
            assert len(app.fire(together).calls) == len(app.fire(in_turn).calls) == HOOKS
            ours, other = take_turns(lambda: app.fire(together), lambda: app.fire(in_turn), rounds=20, warm_up=1)
    return _times_faster("20 YAML script hooks at the same time, vs one after another", ours, other, 1.6)


def _waiting(scratch: Path) -> Row:
    with project(scratch) as root:
        scripts = _hooks(root, "SessionStop", WAIT)
        event = SessionStop()
        payload, environment = msgspec.json.encode(event), clean()

        def bare(script: Path) -> None:
            subprocess.run([script], input=payload, capture_output=True, cwd=root, env=environment, check=True)

        with App(root) as app, ThreadPoolExecutor(HOOKS) as threads:
            assert all(call.outcome == "ok" for call in app.fire(event).calls)
            ours, other = take_turns(
                lambda: app.fire(event), lambda: list(threads.map(bare, scripts)), rounds=15, warm_up=1
            )
    return at_most("20 that only wait, vs concurrent subprocess.run", ours, other, 1.2)


def _emit(scratch: Path) -> Row:
    """Ten hooks are known, and none of them wants to see the event."""
    with project(scratch) as root:
        _hooks(root, "PostAbilityCall", WORK, "match: {min_duration_ms: 500}\n", count=10)
        command = [Path(sys.executable).with_name("samuel"), "emit", "PostAbilityCall"]
        context = b'{"ability_id": "a", "status": "success", "duration_ms": 3}'

        def ours() -> None:
            done = subprocess.run(command, input=context, capture_output=True, cwd=root, check=True)
            assert done.stdout == b"{}\n"

        def bare() -> None:
            subprocess.run(
                [sys.executable, "-c", "pass"], input=context, capture_output=True, cwd=root, check=True
            )

        mine, theirs = take_turns(ours, bare, rounds=60)
    return at_most("samuel emit, 10 hooks known and none matching, vs python -c pass", mine, theirs, 8)


def _hooks(root: Path, event: str, script: str, more: str = "", count: int = HOOKS) -> list[Path]:
    """Write and agree to them; gives their scripts."""
    (root / "scripts/hooks").mkdir(parents=True)
    (root / ".system/hooks").mkdir(parents=True)
    scripts = []
    for number in range(count):
        scripts.append(executable(root / f"scripts/hooks/h{number}.sh", script))
        handler = f"handler: {{kind: script, command: ./scripts/hooks/h{number}.sh}}\n"
        text = f"id: h{number}\nevent_type: {event}\n{more}{handler}"
        (root / f".system/hooks/h{number}.yaml").write_text(text)
    with App(root) as app:
        items = review(root, {}, files=files(root, SHIPPED_HOOKS))
        app.trust.agree([(item.name, item.digest, b"") for item in items], at="", root=str(root))
    return scripts


def _times_faster(what: str, ours: Times, other: Times, limit: float) -> Row:
    ratio = other.p50 / ours.p50
    return Row(what, str(ours), str(other), f"{ratio:.2f}x faster", f">= {limit:g}x", ratio >= limit)
