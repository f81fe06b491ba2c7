"""Models of libraries that run in environments of their own: RecBole, LensKit and RecTools."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.data.lists import TopK
from recgauge.errors import ConfigError, FitError, ModelError
from recgauge.isolated import WORKERS, find_uv, uv_command
from recgauge.isolated.process import Worker
from recgauge.models import Recommender, not_fitted
from recgauge.utils.checks import Count, FloatArray, IntArray, Positive

Feedback = Literal["implicit", "explicit"]


@dataclass(eq=False)
class Isolated(Recommender):
    """A model that another library trains in its own environment; subclasses say which.

    Parameters
    ----------
    name : str
        The model's name in its library.
    settings : dict of str to Any
        Of that model, under the library's names, handed on as they are.
    n_threads : int
        Of training and scoring, >= 1.
    timeout : float
        Seconds after which a training, or the making of the lists, is ended as hung; > 0.

    Notes
    -----
    The training rows go to the library as files, as whole-number codes; users and items without a training
    row are not shown to it. Its lists come back with the candidates of the run: the items that recgauge
    leaves out are those of the run, not what the library would leave out, and the best of the others follow.
    Equal scores are ordered by item code. Where the library gives a user's item no score, the item is in no
    list, so lists can be short; the guard ``short_lists`` counts them.

    uv installs the library in an environment of its own when it is first used; its cache keeps that.

    The seed is drawn from `rng`. `seconds` are those that the other process measured, without its start.
    """

    library: ClassVar[str]
    title: ClassVar[str]

    name: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    n_threads: Count = 1
    timeout: Positive = 86_400.0

    def set_log(self, log: Path | None) -> None:
        """Keep what the library prints in a file; else only its last lines are told, if something fails."""
        self._log = log

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.name, str) or not self.name:
            raise ConfigError(f"{type(self).__name__}: name must be the name of a model, got {self.name!r}.")
        self._worker: Worker | None = None
        self.set_log(None)

    def check_ready(self) -> None:
        """Check that uv is there, which runs the library; else MissingLibraryError says how to install it."""
        find_uv()

    def command(self) -> list[str]:
        """Return the command that trains."""
        return uv_command(WORKERS / f"train_{self.library}.py")

    def their_settings(self) -> dict[str, Any]:
        """Return the settings that the library gets."""
        return self.settings

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Let the library learn from the training rows; its seed is drawn from `rng`.

        Raises
        ------
        ConfigError
            If the library has no such model or setting.
        MissingLibraryError
            If the library cannot be installed.
        FitError
            If the library fails, dies, or takes longer than `timeout`.
        """
        command, seed = self.command(), int(rng.integers(2**31 - 1))
        if len(train) == 0:
            raise FitError(f"{self.title} needs at least one training row, got none.")
        if self._worker is not None:
            self._worker.close()
        self._worker = Worker(command, self.title, self.n_threads, self.timeout, self._log)
        job = {
            "name": self.name,
            "settings": self.their_settings(),
            "seed": seed,
            "n_threads": self.n_threads,
        }
        self._worker.fit(train, job)
        return self

    def score(self, users: IntArray) -> FloatArray:  # noqa: ARG002 - contract
        """Refuse with a ModelError: lists come back, not the scores of all items."""
        self._fitted()
        raise ModelError(
            f"{type(self).__name__}: lists come from the library's own environment, not the scores of all "
            "items, which curves of full rankings need. Leave out figures and metrics=[curves]."
        )

    def lists(self, users: IntArray, k: int, candidates: CandidateItems) -> TopK:
        """Return the `k` best candidates of the users by the library's scores; -1 pads short lists.

        Raises
        ------
        NotFittedError
            Before `fit`.
        FitError
            If the library fails, dies, or takes longer than `timeout`.
        """
        return self._fitted().lists(users, k, candidates)

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds that the process measured for ``fit`` and ``recommend``."""
        return self._fitted().seconds

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the library, of what its numbers hang on, and of its Python."""
        return self._fitted().versions

    @property
    def peak_bytes(self) -> int | None:
        """The most that the process has held, None where nobody knows."""
        return self._fitted().peak_bytes

    def _fitted(self) -> Worker:
        if self._worker is None:
            raise not_fitted(self)
        return self._worker


@dataclass(eq=False)
class RecBole(Isolated):
    r"""A general recommender of RecBole [1]_, trained in an environment of its own.

    Parameters
    ----------
    name : str
        Such as BPR, LightGCN, MultiVAE, NeuMF, EASE; not sequential, context-aware or knowledge-based models.
    settings : dict of str to Any
        Of model and training, such as ``epochs`` and ``embedding_size``. RecBole's defaults hold, but without
        early stopping, since validation rows are not given to it: all ``epochs`` are trained.
    n_threads, timeout
        See `Isolated`.

    Notes
    -----
    Training is on the CPU unless ``use_gpu`` is set.
    Every training row counts as positive for models of implicit feedback.

    References
    ----------
    .. [1] W. X. Zhao et al., "RecBole: Towards a Unified, Comprehensive and Efficient Framework for
       Recommendation Algorithms", CIKM 2021; version 1.2.1.

    Examples
    --------
    >>> RecBole("LightGCN", {"n_layers": 2}).settings
    {'n_layers': 2}
    """

    library: ClassVar[str] = "recbole"
    title: ClassVar[str] = "RecBole 1.2.1"

    name: str = "BPR"


@dataclass(eq=False)
class LensKit(Isolated):
    r"""A scorer of LensKit [1]_, trained in an environment of its own.

    Parameters
    ----------
    name : str
        ItemKNN, UserKNN, EASE, ImplicitMF, BiasedMF, FlexMFImplicit, FlexMFExplicit, Pop or Bias.
    settings : dict of str to Any
        Of its configuration class, such as ``max_nbrs``.
    feedback : {"implicit", "explicit"}
        Whether ItemKNN and UserKNN learn from rows alone or from ratings; LensKit's own default is
        ``explicit``, which predicts ratings and ranks badly. Others have no such choice.
    n_threads, timeout
        See `Isolated`.

    References
    ----------
    .. [1] M. D. Ekstrand, "LensKit for Python: Next-Generation Software for Recommender Systems Experiments",
       CIKM 2020; version 2025.8.1.

    Examples
    --------
    >>> LensKit(settings={"max_nbrs": 50}).name
    'ItemKNN'
    """

    library: ClassVar[str] = "lenskit"
    title: ClassVar[str] = "LensKit 2025.8.1"

    name: str = "ItemKNN"
    settings: dict[str, Any] = field(default_factory=dict)
    feedback: Feedback = "implicit"

    def their_settings(self) -> dict[str, Any]:
        """Return the settings that LensKit gets, `feedback` among them where the model has it."""
        feedback = {"feedback": self.feedback} if self.name in ("ItemKNN", "UserKNN") else {}
        return feedback | self.settings


@dataclass(eq=False)
class RecTools(Isolated):
    r"""A model of RecTools [1]_, trained in an environment of its own.

    Parameters
    ----------
    name : str
        PureSVD, EASE, ImplicitALS, ImplicitBPR, ImplicitItemKNN, Popular or Random.
    settings : dict of str to Any
        Of the model's configuration, such as ``factors``, or ``model: {factors: 64}`` of ImplicitALS.
    n_threads, timeout
        See `Isolated`.

    Notes
    -----
    The rating is the weight of a row. Lists are
    RecTools' own, so equal scores at their end are cut by RecTools.

    References
    ----------
    .. [1] https://rectools.readthedocs.io/ (version 0.19.0)

    Examples
    --------
    >>> RecTools(settings={"factors": 32}).name
    'PureSVD'
    """

    library: ClassVar[str] = "rectools"
    title: ClassVar[str] = "RecTools 0.19.0"

    name: str = "PureSVD"
