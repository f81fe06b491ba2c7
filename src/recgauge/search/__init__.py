"""Search for a model's settings: a sampler proposes, validation rows decide, a file remembers the trials."""
