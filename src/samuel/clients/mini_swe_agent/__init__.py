"""mini-swe-agent, of the SWE-bench team."""
