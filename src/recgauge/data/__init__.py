"""What flows through a run: interactions, data sets, splits, relevant items and ranked lists."""
