"""The hooks that come with Samuel, one per directory. Each is disabled until a user enables it.

They are ordinary handlers: a YAML file in `.system/hooks/` names one (`kind: builtin`), and its function `hook`
receives the event and returns a HookResult, in a worker with a deadline, like any other Python hook. In the
directory of each: `definition.yaml` (what `samuel hooks enable` writes), `rules.py` (reads and checks the values
below `config:`; those of two hooks are in `rule_values.py`) and `hook.py` (the function).
"""
