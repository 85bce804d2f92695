"""`samuel verify`: what a receipt says is checked again, in a clean work tree outside of the project."""
