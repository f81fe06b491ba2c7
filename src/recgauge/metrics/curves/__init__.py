"""Curves and the areas under them: from scores of all candidates, or from the first ranks of a list."""
