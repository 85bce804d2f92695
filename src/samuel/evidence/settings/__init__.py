"""Settings files of other programs: what of them a check reads, and where they say that tests are."""
