"""Chance: a random stream for each stage of a run, and words that are scrambled."""

from zlib import crc32

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The golden ratio as a 64-bit fraction: the distance of successive words of SplitMix64."""


def stream(seed: int, stage: str) -> "np.random.Generator":
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


def mix(words: Words) -> Words:
    """Scramble 64-bit words; every input bit changes every output bit with probability near one half.

    References
    ----------
    .. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014
       (the finaliser of SplitMix64).

    Examples
    --------
    >>> hex(mix(np.array([GOLDEN]))[0])
    '0xe220a8397b1dcdaf'
    """
    words = words ^ (words >> np.uint64(30))  # a copy; what follows takes no more memory
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words
