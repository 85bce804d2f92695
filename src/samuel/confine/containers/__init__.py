"""Podman or docker: which one, what it needs on this machine, and containers that leave nothing behind."""
