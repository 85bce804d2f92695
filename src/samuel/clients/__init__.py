"""The coding agents that Samuel knows: one directory each, with all of it.

The parts of an agent, each a module of its directory and none of them required: `adapter` runs it, `dialect`
answers its hooks, `entries` adds hooks to its files or gives them to one process of it, `hook_format` runs hooks
that were written for it. All of it is data and functions; nothing here starts a process.

What agents share is in `adapter/`, `dialect/`, `entries/` and `hook_formats/`. `table.py` lists the agents.
"""
