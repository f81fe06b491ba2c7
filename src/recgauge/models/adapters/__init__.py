"""Models of other libraries: trained by them, ranked and measured like the rest; one file a library."""

import inspect
import warnings
from abc import abstractmethod
from collections.abc import Callable
from contextlib import redirect_stdout
from copy import deepcopy
from importlib.metadata import PackageNotFoundError, version
from io import StringIO
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.errors import ConfigError, FitError, MissingLibraryError, said
from recgauge.models import Factors, Recommender, not_fitted, products, summed_weights
from recgauge.utils.checks import FloatArray, IntArray


class Adapter(Recommender):
    """A model of another library; subclasses are dataclasses with the fields below and write `learn`.

    ``algorithm`` names one of the library's models. ``settings`` are that model's own settings under the
    library's own names, handed on as they are. ``n_threads`` is how many threads it may train on.

    What it learned is kept as `Factors` or `ItemWeights` where the scores can be had from them, so that the
    engine makes the lists and the model can be saved; else the library's own object is kept and asked.
    """

    library: ClassVar[str]
    """Name of the package on the package index, such as ``scikit-surprise``."""
    extra: ClassVar[str]
    """Name of recgauge's optional dependency that installs it."""
    ours: ClassVar[tuple[str, ...]]
    """Arguments of the library's models that recgauge gives, such as the seed."""
    more_settings: ClassVar[tuple[str, ...]] = ()
    """Settings of models that take them without naming them in their signature."""

    algorithm: str
    settings: dict[str, Any]
    n_threads: int

    _learned: Any = None

    def installed_version(self) -> str:
        """Return the version of the library."""
        try:
            return version(self.library)
        except PackageNotFoundError as error:
            raise MissingLibraryError(
                f"{type(self).__name__} needs the package {self.library}, which is not installed. "
                f"Install it with: pip install 'recgauge[{self.extra}]' (in a checkout: pip install -e "
                f"'.[{self.extra}]')."
            ) from error

    def check_ready(self) -> None:
        """Check that the library is there, and that its model has the settings; no data are needed.

        Raises
        ------
        ConfigError
            If it is not installed or cannot be imported, or if ``settings`` has a name that the model does
            not have or that recgauge gives; the message lists those that can be chosen.
        """
        release = self.installed_version()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what a library says about itself while it is imported
                parameters = inspect.signature(self.kind()).parameters
        except Exception as error:  # whatever importing the other library raises
            raise ConfigError(
                f"{type(self).__name__}: {self.library} {release} is installed but cannot be used: "
                f"{said(error)}. Install it anew: pip install --force-reinstall {self.library}."
            ) from error
        more = self.more_settings if any(p.kind is p.VAR_KEYWORD for p in parameters.values()) else ()
        names = [name for name, each in parameters.items() if each.kind is not each.VAR_KEYWORD]
        free = [name for name in (*names, *more) if name not in self.ours]
        wrong = [str(name) for name in self.settings if name not in free]
        if wrong:
            taken = [name for name in wrong if name in self.ours]
            hint = f" {', '.join(taken)} is given by recgauge: see seed and model.n_threads." if taken else ""
            raise ConfigError(
                f"{type(self).__name__}: settings: {self.algorithm} of {self.library} {release} has no "
                f"setting {', '.join(wrong)} to choose; it has {', '.join(free) or 'none'}.{hint}"
            )

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Let the library learn from the training rows; its seed is drawn from `rng`."""
        self.check_ready()
        about = f"{type(self).__name__}: {self.library} {self.installed_version()}"
        if len(train) == 0:
            raise FitError(f"{about} needs at least one training row, got none.")
        seed = int(rng.integers(2**31 - 1))
        try:
            with threadpool_limits(self.n_threads), redirect_stdout(StringIO()):  # bars, and "done"
                self._learned = self.learn(train, seed)
        except Exception as error:  # whatever the other library raises
            raise FitError(f"{about}, algorithm={self.algorithm}: {said(error)}.") from error
        return self

    @abstractmethod
    def kind(self) -> Callable[..., Any]:
        """Return the library's class of the ``algorithm``."""

    @abstractmethod
    def learn(self, train: Interactions, seed: int) -> Any:
        """Return `Factors`, `ItemWeights`, or an object of the library that `their_scores` can ask."""

    def their_scores(self, users: IntArray) -> FloatArray:
        """Return the scores of all items by the library's own object, shape (b, n_items)."""
        raise NotImplementedError(f"{type(self).__name__}: scores come from factors or item weights")

    def make(self, *first: Any, **ours: Any) -> Any:
        """Build the library's model with `first`, what recgauge gives and the user's settings.

        Of `ours` is left out what the model does not take: not every model draws numbers, for example.
        """
        kind = self.kind()
        parameters = inspect.signature(kind).parameters
        taken = {name: value for name, value in ours.items() if name in parameters}
        return kind(*first, **taken, **deepcopy(self.settings))  # a library may write into what it is given

    def factors(self) -> Factors | None:
        """Return the factors, or None if the model has none."""
        return self._learned if isinstance(self._learned, Factors) else None

    def item_weights(self) -> ItemWeights | None:
        """Return the item weights, or None if the model has none."""
        return self._learned if isinstance(self._learned, ItemWeights) else None

    def score(self, users: IntArray) -> FloatArray:
        """Return the scores of all items, shape (b, n_items) float32."""
        learned = self._learned
        if learned is None:
            raise not_fitted(self)
        if isinstance(learned, Factors):
            return products(learned, users)
        if isinstance(learned, ItemWeights):
            return summed_weights(learned, users)
        return self.their_scores(users).astype(np.float32)


def as_weights(rows: Any, weights: Any) -> ItemWeights:
    """Return item weights of a library's matrices, as float32."""
    dense = None if sparse.issparse(weights) else np.ascontiguousarray(weights, np.float32)
    return ItemWeights(_csr(rows), _csr(weights) if dense is None else dense)


def _csr(matrix: Any) -> sparse.csr_array:
    return sparse.csr_array(matrix).astype(np.float32)
