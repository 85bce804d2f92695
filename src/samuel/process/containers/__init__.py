"""Podman or docker: which one, what it needs on this machine, and starting a container that leaves nothing behind."""
