"""`samuel run watch`: a run in the terminal, as it is now, with keys that steer it."""
