"""Scores `shell_guard` with suites of other projects: `python benchmarks/guards CLONES [--suite NAME] [--misses]`.

CLONES is a directory that has a clone of each suite's repository, by its name. A suite that is not there is left
out. The project that the guard looks at is new, has a git repository, and has work in it that could be lost.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from cases import Case  # noqa: E402
from clone import Clone  # noqa: E402
from decided import decided_otherwise  # noqa: E402
from judge import Judge, Judgement  # noqa: E402
from readings import print_readings  # noqa: E402
from suites import SUITES  # noqa: E402

COLUMNS = (
    *("suite", "commit", "must be stopped, raw", "without what is decided otherwise"),
    *("innocent, raw", "without what is decided otherwise", "decided otherwise", "not on a list", "p50", "p95"),
)


class Score(NamedTuple):
    suite: str
    version: str
    judged: list[tuple[Case, Judgement]]
    seconds: list[float]

    def of(self, expected: str, *, raw: bool) -> tuple[int, int]:
        """How many cases were stopped, of how many; raw, or without those that Samuel decided otherwise."""
        judgements = [
            judgement
            for case, judgement in self.judged
            if case.expected == expected and (raw or self.agrees(case, judgement) or not decided_otherwise(case))
        ]
        return sum(judgement.stops for judgement in judgements), len(judgements)

    def agrees(self, case: Case, judgement: Judgement) -> bool:
        return judgement.stops is (case.expected == "stop")

    def otherwise(self) -> int:
        return sum(
            not self.agrees(case, judgement) and bool(decided_otherwise(case))
            for case, judgement in self.judged
            if case.expected != "unlisted"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python benchmarks/guards", description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--suite", action="append", choices=list(SUITES))
    parser.add_argument("--misses", action="store_true", help="print each case that was judged otherwise")
    parser.add_argument("--readings", action="store_true", help="suites for readers of shell text instead")
    arguments = parser.parse_args()
    if arguments.readings:
        print_readings(arguments.clones)
        return
    cache = Path.home() / ".cache"  # not a directory for temporary files, where deleting is free
    cache.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=cache) as scratch:
        judge = Judge(Path(scratch))
        print(f"| {' | '.join(COLUMNS)} |")
        print("|---" * len(COLUMNS) + "|")
        for name, read in SUITES.items():
            path = arguments.clones / name.partition(",")[0]
            if path.exists() and (not arguments.suite or name in arguments.suite):
                clone = Clone(path)
                score = scored(name, clone.version(), read(clone), judge)
                print(row(score), flush=True)
                if arguments.misses:
                    print_misses(score)


def scored(name: str, version: str, cases: Iterable[Case], judge: Judge) -> Score:
    judged, seconds = [], []
    for case in dict.fromkeys(cases):
        start = time.perf_counter()
        judgement = judge(case.command)
        seconds.append(time.perf_counter() - start)
        judged.append((case, judgement))
    return Score(name, version, judged, seconds)


def row(score: Score) -> str:
    parts = quantiles(score.seconds, n=20)
    times = (f"{parts[at] * 1000:.1f} ms" for at in (9, 18))
    shares = [share(*score.of(expected, raw=raw)) for expected in ("stop", "innocent") for raw in (True, False)]
    unlisted = share(*score.of("unlisted", raw=True))
    cells = (score.suite, score.version, *shares, str(score.otherwise() or "-"), unlisted, *times)
    return f"| {' | '.join(cells)} |"


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "-"


def print_misses(score: Score) -> None:
    for case, judgement in score.judged:
        if case.expected != "unlisted" and not score.agrees(case, judgement):
            kind = f"alarm ({judgement.rule})" if judgement.stops else "miss"
            reason = decided_otherwise(case)
            print(f"    {'otherwise' if reason else kind}  [{reason or case.group}]  {case.command!r}")
    risky = [(case, judgement) for case, judgement in score.judged if case.expected == "stop"]
    groups = Counter(case.group for case, _ in risky)
    stopped = Counter(case.group for case, judgement in risky if judgement.stops)
    if score.suite == "nl2bash":
        print("    by risk:", ", ".join(f"{name} {stopped[name]} of {count}" for name, count in groups.items()))
    rules = Counter(judgement.rule for case, judgement in score.judged if judgement.stops)
    print("    by rule:", ", ".join(f"{rule} {count}" for rule, count in rules.most_common(40)))


if __name__ == "__main__":
    main()
