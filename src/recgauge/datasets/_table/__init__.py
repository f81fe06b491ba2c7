"""Reads tables of interactions from files. Start at read.TableReader."""
