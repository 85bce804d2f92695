"""Recorded events, run through the chain of today: which verdicts would be different."""
