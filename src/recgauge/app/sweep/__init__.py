"""Several jobs at once: what they need, how each ended, and the table of all."""
