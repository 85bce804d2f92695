"""The hooks of other agents: what each client tells a hook command, and how it wants to be answered.

One file per client, pure functions and plain data. `samuel emit --as CLIENT` imports one of them before the engine
is loaded, so these files import almost nothing: not even `typing`.
"""
