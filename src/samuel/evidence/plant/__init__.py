"""A test that must fail, written over an attempt's tree: whether the attempt's checks can still turn red."""
