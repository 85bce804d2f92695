"""Replay real commits as attempts of a scripted agent: the grade of each, how often it goes back, what it costs.

    python benchmarks/replay CLONES ENVS [--count N] [--jobs N] [--only PROJECT] [--out FILE] [--table]

CLONES has a clone of each project in projects.toml, by its name. ENVS has what their checks need, made beforehand:
`python` and `pytest7` (virtual environments with pytest and what the tests import), `js-tap`, `js-tape` and
`js-ava` (each with a `node_modules`), and `cargo.toml` (a configuration of cargo that finds dependencies offline).
Nothing is fetched.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

from commits import projects, sampled
from replayed import Replay, Replayed
from summary import line, summary, table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("envs", type=Path)
    parser.add_argument("--count", type=int, default=4, help="commits of each project, of all and of mixed ones")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", action="append", default=[], help="a project, or the beginning of a commit id")
    parser.add_argument("--out", type=Path, default=Path("replayed.jsonl"))
    parser.add_argument(
        "--summary", action="store_true", help="print the summary of the results in --out, and end"
    )
    parser.add_argument("--table", action="store_true", help="the same, with a line for each commit")
    options = parser.parse_args()
    if not options.summary and not options.table:
        replay_all(options)
    results = [msgspec.json.decode(text, type=Replayed) for text in options.out.read_text().splitlines()]
    print(summary(results))
    if options.table:
        print(f"\n{table(results)}")


def replay_all(options: argparse.Namespace) -> None:
    clones, envs = options.clones.resolve(), options.envs.resolve()
    scratch = options.out.resolve().parent / "replay-scratch"
    replay = Replay(clones, envs, scratch)
    commits = [
        commit
        for project in projects()
        for commit in sampled(project, clones / project.name, options.count)
        if not options.only or any(project.name == name or commit.id.startswith(name) for name in options.only)
    ]
    commits.sort(key=lambda commit: commit.id)  # a replay that is ended early has some of each project
    with ThreadPoolExecutor(options.jobs) as pool, options.out.open("w") as out:
        for result in pool.map(replay.replayed, commits):
            print(line(result), flush=True)
            out.write(msgspec.json.encode(result).decode() + "\n")
            out.flush()


if __name__ == "__main__":
    main()
