"""Keeps data sets as they are after reading, so that the next run maps them into memory. Start at keeper."""
