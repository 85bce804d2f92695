"""Samuel's events by short names: importing `samuel.events` would load the engine. A test compares them."""

START, PROMPT, PRE, POST = "SessionStart", "UserPromptSubmit", "PreAbilityCall", "PostAbilityCall"
TURN_END, STOP, END = "TurnEnd", "SessionStop", "SessionEnd"
DENIABLE = (PROMPT, PRE)
