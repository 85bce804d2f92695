"""The variables in which people keep the keys of model providers, for agents that work with any provider."""

from __future__ import annotations

PROVIDER_KEYS = (
    *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"),
    *("DEEPSEEK_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "MOONSHOT_API_KEY", "XAI_API_KEY"),
)
