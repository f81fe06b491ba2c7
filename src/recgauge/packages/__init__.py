"""One zip of runs for a paper or a colleague: made, described, opened and judged again."""
