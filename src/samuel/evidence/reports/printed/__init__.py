"""What test runners print, one module for each family of them. `output` reads a whole output."""
