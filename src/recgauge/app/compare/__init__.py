"""Finished runs compared: found, checked, paired by user, and written as tables."""
