"""A model server on loopback that plays a script: real clients can be run without a key and without a network."""
