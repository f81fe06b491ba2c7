"""Tables of results for people; formatting and rounding live here and nowhere else."""
