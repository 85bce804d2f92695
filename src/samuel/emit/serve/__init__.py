"""`samuel serve`: a process that stays, with the project opened, and answers `samuel emit` in its place.

It is an optimisation that can be killed at any time: without it every call is answered by a process of its own,
with the same answer.
"""
