"""What a run shows while it works: in lines, live on a terminal, and in `--json`."""
