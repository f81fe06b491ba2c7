"""The note's sample of class labels: two kinds of iris, noise, and a linear support vector machine."""

from dataclasses import dataclass
from functools import cache

import numpy as np

SEED = 0
NOISE = 200
"""Columns of noise for each column of the flowers, which make the task hard."""


@dataclass(frozen=True)
class IrisLabels:
    """What the sample ends with, one entry a held-out flower.

    Parameters
    ----------
    actual, predicted : tuple of int
        0 or 1.
    """

    actual: tuple[int, ...]
    predicted: tuple[int, ...]


@cache
def iris_labels() -> IrisLabels:
    """Train on one half of the flowers and label the other; half a second once scikit-learn is imported.

    Notes
    -----
    One random state serves noise, split and training in this order, as in the sample that scikit-learn's
    documentation of precision and recall had and the note took over. The data lie in scikit-learn's package.

    References
    ----------
    .. [1] R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of Eugenics 7(2),
       1936.
    """
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split
    from sklearn.svm import LinearSVC

    flowers, kind = load_iris(return_X_y=True)
    state = np.random.RandomState(SEED)
    noisy = np.hstack((flowers, state.randn(len(flowers), NOISE * flowers.shape[1])))
    two = kind < 2
    train, test, kind_train, kind_test = train_test_split(
        noisy[two], kind[two], test_size=0.5, random_state=state
    )
    predicted = LinearSVC(random_state=state).fit(train, kind_train).predict(test)
    return IrisLabels(tuple(map(int, kind_test)), tuple(map(int, predicted)))
