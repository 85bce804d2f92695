"""What the dialects of clients share: their events, payloads and answers as pure functions.

`samuel emit --as CLIENT` imports one dialect before the engine is loaded, so these files import almost nothing.
"""
