"""The table of a replay, and its bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from replayed import Replayed

CLAIMS_SOMETHING = ("fix", "feature")
ACCEPTED = ("proven", "proven, new names only", "checked")


def line(result: Replayed) -> str:
    """One commit."""
    head = f"{result.project} {result.commit} {result.language} {result.kind}"
    if result.excluded:
        return f"{head} EXCLUDED {result.excluded}"
    text = (
        f"{head} {result.status} `{result.grade}` attempts {result.attempts} runs {result.runs}/{result.old_runs}"
    )
    text += f" cost {result.cost} [{', '.join(result.corners)}] shown to fail: {result.shown_to_fail[:80]}"
    backs = "".join(f"\n    sent back: {why[:300]}" for why in result.sent_back)
    return f"{text} | {result.subject[:70]}{backs}" + (
        f"\n    NOT ACCEPTED: {result.why[:400]}" if not is_accepted(result) else ""
    )


def is_accepted(result: Replayed) -> bool:
    return result.status == "completed" and result.grade in ACCEPTED


def summary(results: Sequence[Replayed]) -> str:
    used = [result for result in results if not result.excluded]
    lines = [
        f"{len(results)} commits, {len(results) - len(used)} excluded because their tests do not pass here",
        "",
        "| kind | commits | proven | new names only | checked | disputed | other | sent back | mean attempts |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys(sorted(result.kind for result in used)):
        lines.append(_row(kind, [result for result in used if result.kind == kind]))
    lines.append(_row("**all**", used))
    lines += ["", "| language | commits | not accepted | mean runs | by the old rule |", "|---|---|---|---|---|"]
    for language in dict.fromkeys(result.language for result in used):
        of_language = [result for result in used if result.language == language]
        refused = sum(not is_accepted(result) for result in of_language)
        lines.append(
            f"| {language} | {len(of_language)} | {refused} | {_mean(result.runs for result in of_language):.2f} "
            f"| {_mean(result.old_runs for result in of_language):.2f} |"
        )
    lines += ["", *_bars(used)]
    return "\n".join(lines)


def _bars(used: Sequence[Replayed]) -> Iterable[str]:
    work = [result for result in used if result.kind in CLAIMS_SOMETHING]
    refused = [result for result in work if not is_accepted(result)]
    undecided = [result for result in refused if result.grade != "disputed" and result.status != "waiting"]
    yield f"fixes and features that end below checked, or disputed: {len(refused)} of {len(work)}"
    yield f"fixes and features that end below checked, and not disputed: {len(undecided)} of {len(work)}"
    refactorings = [result for result in used if result.kind == "refactor"]
    back = [result for result in refactorings if result.attempts > 1]
    yield f"refactorings sent back: {len(back)} of {len(refactorings)}"
    for sample in ("all", "mixed"):
        of_sample = [result for result in used if result.sample == sample and result.old_runs]
        if of_sample:
            yield f"sample `{sample}`, {len(of_sample)} commits: {_cost(of_sample)}"


def _cost(results: Sequence[Replayed]) -> str:
    """The mean runs of the check beside the old rule: all, of the whole check, and weighted by their time."""
    old = _mean(result.old_runs for result in results)
    counts = {
        "runs": _mean(result.runs for result in results),
        "of the whole check": _mean(result.runs - result.partial_runs for result in results),
        "with a part as its share of the time": _mean(result.cost for result in results),
    }
    texts = [f"{name} {mean:.2f} ({mean / old:.2f}x)" for name, mean in counts.items()]
    time = sum(result.seconds for result in results)
    time /= sum(result.old_runs * result.whole_seconds for result in results) or 1.0
    return f"{', '.join(texts)}; by the old rule {old:.2f}; the time of all together {time:.2f}x"


def table(results: Sequence[Replayed]) -> str:
    """Each commit that was counted."""
    lines = [
        "| project | commit | kind | grade | attempts | runs | of the whole check | by time | by the old rule |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for result in sorted(results, key=lambda result: (result.language, result.project, result.commit)):
        if not result.excluded:
            grade = result.grade if is_accepted(result) else "disputed" if result.status == "waiting" else "none"
            words = (result.project, result.commit, result.kind, grade, result.attempts)
            runs = (result.runs, result.runs - result.partial_runs, f"{result.cost:.1f}", result.old_runs)
            lines.append(f"| {' | '.join(map(str, (*words, *runs)))} |")
    return "\n".join(lines)


def _row(kind: str, results: Sequence[Replayed]) -> str:
    accepted = [result for result in results if is_accepted(result)]
    grades = [sum(result.grade == grade for result in accepted) for grade in ACCEPTED]
    disputed = sum(result.status == "waiting" for result in results)
    other = len(results) - len(accepted) - disputed
    back = sum(result.attempts > 1 for result in results)
    cells = [len(results), *grades, disputed, other, back]
    return f"| {kind} | {' | '.join(map(str, cells))} | {_mean(result.attempts for result in results):.2f} |"


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0
