"""What metrics beyond accuracy need to know about items: training counts, features, who saw what."""

from dataclasses import dataclass

from scipy import sparse

from recgauge._checks import LongArray, check_int, read_only
from recgauge.errors import SchemaError


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """The items that could be recommended, as the training data show them.

    Parameters
    ----------
    n_items : int
        Size of the catalogue.
    train_counts : ndarray of int64, shape (n_items,), or None
        Training rows of each item.
    n_train_users : int
        Users with training rows; 0 without training data.
    seen : scipy.sparse.csr_array, shape (n_users, n_items), or None
        Non-zeros are the users' training items.
    features : scipy.sparse.csr_array of float, shape (n_items, n_features), or None
    """

    n_items: int
    train_counts: LongArray | None = None
    n_train_users: int = 0
    seen: sparse.csr_array | None = None
    features: sparse.csr_array | None = None

    def __post_init__(self) -> None:
        check_int("Catalogue: n_items", self.n_items, minimum=1)
        if self.train_counts is not None:
            if self.train_counts.shape != (self.n_items,):
                raise SchemaError(
                    f"Catalogue: train_counts must have shape ({self.n_items},), "
                    f"got {self.train_counts.shape}."
                )
            object.__setattr__(self, "train_counts", read_only(self.train_counts))
