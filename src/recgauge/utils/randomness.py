"""Named random streams: one seed, one independent generator a stage."""

from zlib import crc32

import numpy as np


def stream(seed: int, stage: str) -> np.random.Generator:
    """Return the generator of a stage of a run.

    Each stage draws from a stream of its own, so another model never changes the split, and another
    split never changes how a model starts.

    Parameters
    ----------
    seed : int
        The run's seed, >= 0.
    stage : str
        Name of the stage, such as ``"split"`` or ``"fit"``.

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    >>> int(stream(0, "split").integers(100)) == int(stream(0, "split").integers(100))
    True
    >>> stream(0, "split").random() == stream(0, "fit").random()
    False
    """
    return np.random.default_rng([seed, crc32(stage.encode())])
