"""From lists or predicted ratings to numbers, under the definitions of a convention."""
