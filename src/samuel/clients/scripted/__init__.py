"""The fake agent that ships with Samuel: a directory of steps instead of a model (`samuel.agents.scripted`)."""
