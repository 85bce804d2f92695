"""What each installed client makes of Samuel's hooks, measured in a home and a project of its own."""
