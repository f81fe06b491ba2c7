"""Which items of a list are relevant, and which ranks equal scores share."""
