import toons


def implementation(task, tasks):
    return toons.dumps({"task": {k: v for k, v in task.items() if v not in ("", [], None)}})


def discovery(tasks, focus, n):
    return toons.dumps({"tasks": [t["title"] for t in tasks]})
