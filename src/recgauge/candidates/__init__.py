"""Which items may enter a user's list: the contract of a rule, and the rules, one file each."""

from recgauge.candidates.all_items import AllItems
from recgauge.candidates.rule import CandidateItems, Candidates

__all__ = ["AllItems", "CandidateItems", "Candidates"]
