"""The hooks that come with Samuel, one a file, each disabled until somebody enables it.

They are ordinary handlers: a YAML file in `.system/hooks/` names one (`kind: builtin`), and its function `hook`
gets the event and returns a HookResult, in a worker with a deadline, like everybody's Python. `definitions/` holds
the YAML that `samuel hooks enable` writes; the room `rules/` says what can stand below `config` in it.
"""
