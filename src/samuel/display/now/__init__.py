"""One model of what a run does now, from the files that it writes; every view of a run renders it."""
