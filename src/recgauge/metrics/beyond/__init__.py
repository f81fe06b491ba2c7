"""Metrics beyond accuracy: coverage, diversity, novelty, popularity and serendipity of lists.

All take the same judged lists as the ranking metrics; what they need to know about items is in the
lists' catalogue. Users without a list have no value where the definition divides by the list's length.
"""
