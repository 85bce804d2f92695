"""How another run of a check differs from the recorded one, and what may explain that. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from samuel.base.printable import listed, safe
from samuel.checks.recorded_tests import is_timeless, recorded_tests
from samuel.events.loop import CheckRun
from samuel.history.attempt_record import MAX_NAMED
from samuel.receipts.predicate import recorded_name
from samuel.receipts.recorded import RecordedResults, RecordedRun

MOST_NAMED = 5


def differences(recorded: RecordedRun, run: CheckRun) -> list[str]:
    """What is different in this run, in words that follow the name of the check; empty if nothing is."""
    if recorded.passed != run.passed:
        words = ("failed", "passed") if run.passed else ("passed", f"ended with exit code {run.exit_code}")
        outcome = f"{words[0]} in the receipt, and {words[1]} here"
        return [outcome, *_tests(recorded.tests, run)]
    if recorded.exit_code != run.exit_code:
        return [f"had exit code {recorded.exit_code} in the receipt, and has {run.exit_code} here"]
    return list(_tests(recorded.tests, run))


def _tests(recorded: RecordedResults | None, run: CheckRun) -> Iterator[str]:
    if recorded is None or run.tests is None:
        if (recorded is None) != (run.tests is None):
            yield "reports no tests here" if run.tests is None else "reported no tests in the receipt"
        return
    here = recorded_tests(run.tests)
    if here.digest == recorded.digest.get("sha256"):
        has_others = recorded.names != tuple(map(recorded_name, here.names))
        if len(here.failed) < MAX_NAMED:
            has_others |= _timeless(recorded.failed) != _timeless(map(recorded_name, here.failed))
        if has_others:
            yield "names other tests in the receipt than its digest has"
        return
    results = {recorded_name(id): result for id, result in run.tests.items() if is_timeless(id)}
    named = [
        *_changed(recorded.names, results, "passed"),
        *(_changed(recorded.failed, results, "failed") if len(recorded.failed) < MAX_NAMED else ()),
    ]
    known_names = {*recorded.names, *recorded.failed}
    has_names = len(recorded.names) == recorded.passed or recorded.names
    new = [id for id, result in results.items() if result != "skipped" and id not in known_names and has_names]
    if new:
        named.append(f"not in the receipt: {listed(sorted(new), MOST_NAMED)}")
    if not named:
        counts = f"{recorded.passed} passed, {recorded.skipped} skipped"
        named.append(f"its tests are others: {counts} in the receipt, {here.passed} and {here.skipped} here")
    yield from named


def _timeless(names: Iterable[str]) -> set[str]:
    return set(filter(is_timeless, names))


def _changed(names: Sequence[str], results: Mapping[str, str], before: str) -> Iterator[str]:
    by_result: dict[str, list[str]] = {}
    for name in names:
        if is_timeless(name) and (now := results.get(name, "missing")) != before:
            by_result.setdefault(now, []).append(name)
    for now, changed in by_result.items():
        yield f"{before} in the receipt, {now} here: {listed(changed, MOST_NAMED)}"


def environment_remarks(recorded: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """What is different about this machine and what is installed on it."""
    remarks = [
        f"{name} is `{safe(str(here.get(name)))}` here, and was `{safe(str(recorded.get(name)))}`"
        for name in ("system", "machine")
        if recorded.get(name) != here.get(name)
    ]
    now, before = (facts.get("sandbox") or {} for facts in (here, recorded))
    if now.get("kind") != before.get("kind"):
        kinds = (safe(str(sandbox.get("kind"))) for sandbox in (now, before))
        remarks.append("the sandbox is `{}` here, and was `{}`".format(*kinds))
    if before.get("imageId") and now.get("imageId") != before.get("imageId"):
        remarks.append(f"the image `{safe(str(before.get('image')))}` is another one here than in the receipt")
    versions = _by_key(here.get("tools"), "name", "version")
    for name, version in _by_key(recorded.get("tools"), "name", "version").items():
        if (now := versions.get(name)) != version:
            text = f"`{safe(str(now))}`" if now else "missing"
            remarks.append(f"`{safe(name)}` is {text} here, and was `{safe(str(version))}`")
    packages = _by_key(here.get("packages"), "path", "names")
    digests = _by_key(here.get("packages"), "path", "digest")
    for path, digest in _by_key(recorded.get("packages"), "path", "digest").items():
        if digests.get(path) != digest:
            was = _by_key(recorded.get("packages"), "path", "names").get(path)
            remarks.append(_package_remark(path, was, packages.get(path), is_there=path in digests))
    return remarks


def _package_remark(path: str, was: Any, now: Any, *, is_there: bool) -> str:
    if not is_there:
        return f"`{safe(path)}` is missing here"
    before, after = set(was or ()), set(now or ())
    changes = [f"{name} is new" for name in sorted(after - before)] + [
        f"{name} is gone" for name in sorted(before - after)
    ]
    named = f": {listed([safe(str(change)) for change in changes], MOST_NAMED)}" if changes else ""
    return f"the packages in `{safe(path)}` are others than in the receipt{named}"


def _by_key(entries: Any, key: str, value: str) -> dict[str, Any]:
    rows = entries if isinstance(entries, list) else []
    return {str(row.get(key)): row.get(value) for row in rows if isinstance(row, dict)}
