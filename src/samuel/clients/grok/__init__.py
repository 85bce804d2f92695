"""Grok Build, by xAI. Its hooks only: Samuel does not run it as an agent."""
