from typing import NamedTuple


class Entry(NamedTuple):
    key: str
    at: str
    iteration: int
    task: str
    outcome: str
    completed: list = []
    learnings: list = []
    areas: list = []


def rotate(path, archive):
    pass


def context(path):
    return ""


def append(path, entry):
    with open(path, "a") as f:
        f.write(f"## [{entry.at}] iteration {entry.iteration} · {entry.task} · {entry.outcome}\n")
