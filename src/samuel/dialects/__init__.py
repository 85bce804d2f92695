"""Protocols of other hook systems, translated by pure functions.

`table.py` has those that a hook may be written in. `clients/` has those of agents that call Samuel from their own
hooks; nothing is imported here, because `samuel emit --as CLIENT` reads one of them before the engine is loaded.
"""
