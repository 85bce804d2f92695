"""Samuel's events by short names: importing `samuel.events` would load the engine. A test compares them."""

START, PROMPT, PRE, POST = "SessionStart", "UserPromptSubmit", "PreAbilityCall", "PostAbilityCall"
TURN_END, STOP, END = "TurnEnd", "SessionStop", "SessionEnd"
SUBAGENT_STOP, NOTIFICATION = "SubagentStop", "Notification"
PRE_COMPACT, CONFIG_CHANGE = "PreCompact", "ConfigChange"
STOPS = (STOP, SUBAGENT_STOP)
DENIABLE = (PROMPT, PRE, PRE_COMPACT, CONFIG_CHANGE)
INSIDE_AGENT = (PRE, POST, SUBAGENT_STOP, NOTIFICATION, PRE_COMPACT, CONFIG_CHANGE)
