"""`samuel dashboard`: the runs of all projects of this user in the browser, on loopback."""
