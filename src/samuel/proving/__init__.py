"""The proof that an installed client asks Samuel: it is run against a model on loopback that plays a script."""
