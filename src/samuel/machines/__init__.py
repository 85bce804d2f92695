"""Both ends of work on another machine: an attempt there, and what a coordinator asks without a run."""
