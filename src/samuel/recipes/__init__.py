"""Prompts with arguments that somebody runs by name, each as one session of the configured agent."""
