"""Finds, downloads and verifies files that somebody publishes. Start at search.find."""
