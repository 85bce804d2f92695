"""Receipts: what was checked of a commit, in a form that another person can check again."""
