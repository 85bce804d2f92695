"""The formats in which a hook that Samuel runs may be written: what it reads, and what its answer means."""
