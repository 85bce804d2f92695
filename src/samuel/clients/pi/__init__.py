"""pi, by Mario Zechner."""
