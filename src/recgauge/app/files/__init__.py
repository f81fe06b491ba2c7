"""The files that a run leaves, and where they are."""
