"""Which items of a list are relevant, and which of its places are shared by equal scores."""
