"""Issues of a forge such as GitHub, read with the program that the user has for it, under their own login."""
