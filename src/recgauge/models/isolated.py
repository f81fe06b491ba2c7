"""Models of libraries that run in environments of their own: RecBole, LensKit and RecTools."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from scipy import sparse

from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.data.lists import TopK
from recgauge.errors import FitError, ModelError
from recgauge.isolated.process import WORKERS, Worker, find_uv
from recgauge.models import EpochModel, Recommender, not_fitted
from recgauge.utils.checks import Count, FloatArray, IntArray, Positive, check_int

Feedback = Literal["implicit", "explicit"]
Transformer = Literal["SASRec", "BERT4Rec"]
"""Models of RecTools that predict the next item."""


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
        Seconds after which a training (an epoch, where recgauge counts them), or the making of the lists, is
        ended as hung; > 0.

    Notes
    -----
    The training rows go to the library as files, as whole-number codes; users and items without a training
    row are not shown to it. Its lists come back with the candidates of the run: the items that recgauge
    leaves out are those of the run, not what the library would leave out, and the best of the others follow.
    Equal scores are ordered by item code. Where the library gives a user's item no score, the item is in no
    list, so lists can be short; the guard ``short_lists`` counts them.

    uv installs the library in an environment of its own when it is first used; its cache keeps that.

    The seed is drawn from `rng`. The seconds of `worker` are those that it measured, without its start.
    """

    library: ClassVar[str]

    name: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    n_threads: Count = 1
    timeout: Positive = 86_400.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._worker: Worker | None = None
        self.log: Path | None = (
            None  # where to keep what the library prints; else an error has its last lines
        )

    def check_ready(self) -> None:
        """Check that uv is there, which runs the library; else MissingLibraryError says how to install it."""
        find_uv()

    def command(self) -> list[str]:
        """Return the command that trains."""
        return [find_uv(), "run", "--script", str(WORKERS / f"train_{self.library.lower()}.py")]

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
        self._start(train, rng)
        return self

    def _start(self, train: Interactions, rng: np.random.Generator) -> float:
        """Train in a new process, a transformer for one epoch, and return the loss."""
        command, seed = self.command(), int(rng.integers(2**31 - 1))
        if len(train) == 0:
            raise FitError(f"{self.library} needs at least one training row, got none.")
        if self._worker is not None:
            self._worker.close()
        self._worker = worker = Worker(command, self.library, self.n_threads, self.timeout, self.log)
        times = np.zeros(len(train), np.int64) if train.timestamp is None else train.timestamp
        path = worker.folder / "rows.npz"
        np.savez(path, user=train.user, item=train.item, value=train.value, timestamp=times)
        job = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        loss: float = worker.ask("fit", **job, seed=seed, n_users=train.n_users, n_items=train.n_items)
        return loss

    def score(self, users: IntArray) -> FloatArray:  # noqa: ARG002 - contract
        """Refuse with a ModelError: lists come back, not the scores of all items."""
        _ = self.worker
        raise ModelError(
            f"{type(self).__name__}: its library gives lists, not the scores of all items that curves need. "
            "Leave metrics=[curves] out."
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
        only = candidates.per_user is not None
        matrix = candidates.per_user if only else candidates.excluded
        rows = sparse.csr_array((len(users), 0)) if matrix is None else matrix[users]
        request: dict[str, Any] = {"start": rows.indptr, "codes": rows.indices, "only": only, **self._state()}
        if candidates.items is not None:
            request["allowed"] = candidates.items
        np.savez(self.worker.folder / "users.npz", users=users, **request)
        self.worker.ask("recommend", k=k)
        with np.load(self.worker.folder / "lists.npz", allow_pickle=False) as lists:
            return TopK(users, lists["items"], lists["scores"])

    def _state(self) -> dict[str, Any]:
        """Return arrays that lists also hang on."""
        return {}

    @property
    def worker(self) -> Worker:
        """The library's process, with what it measured; NotFittedError before `fit`."""
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

    library: ClassVar[str] = "RecBole"

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
       CIKM 2020; version 2026.4.0.

    Examples
    --------
    >>> LensKit(settings={"max_nbrs": 50}).name
    'ItemKNN'
    """

    library: ClassVar[str] = "LensKit"

    name: str = "ItemKNN"
    feedback: Feedback = "implicit"


@dataclass(eq=False)
class RecTools(Isolated):
    r"""A model of RecTools [1]_, trained in an environment of its own.

    Parameters
    ----------
    name : str
        PureSVD, EASE, ImplicitALS, ImplicitBPR, ImplicitItemKNN, Popular or Random; with SASRec or BERT4Rec
        it is a `RecToolsTransformer`.
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
    >>> type(RecTools("SASRec")).__name__
    'RecToolsTransformer'
    """

    library: ClassVar[str] = "RecTools"

    name: str = "PureSVD"

    def __new__(
        cls,
        name: str = "PureSVD",
        settings: dict[str, Any] | None = None,  # noqa: ARG004 - those of the fields, which signatures show
        n_threads: int = 1,  # noqa: ARG004 - ditto
        timeout: float = 86_400.0,  # noqa: ARG004 - ditto
    ) -> "RecTools":
        """Make one that learns in epochs and takes histories where the name is that of a transformer."""
        is_transformer = cls is RecTools and name in get_args(Transformer)
        return super().__new__(RecToolsTransformer if is_transformer else cls)


@dataclass(eq=False)
class RecToolsTransformer(EpochModel, RecTools):
    r"""SASRec [1]_ or BERT4Rec [2]_ of RecTools, which predict the next item of a history.

    Parameters
    ----------
    name : {"SASRec", "BERT4Rec"}
    settings : dict of str to Any
        Of the model, under RecTools' names and with its defaults: ``epochs`` (3), ``loss`` (softmax, BCE,
        gBCE, sampled_softmax), ``n_negatives``, ``session_max_len``, ``n_factors``, ``n_blocks``,
        ``n_heads``, ``dropout_rate``, ``batch_size``, ``lr`` and others.
    n_threads, timeout
        See `Isolated`; the number of threads can change the last digits of a score.

    Notes
    -----
    Each row counts 1, whatever its rating. The order of a user's rows is the one that the split gives them,
    so equal times are no chance. RecTools trains on the last ``session_max_len + 1`` rows of users with at
    least two; items that are in none of these are in no list, and users whose histories hold no other items
    have empty ones.

    Training is on a GPU where PyTorch finds one, else on the CPU, with ``deterministic=true``. It stops after
    each epoch, so that it can be watched, ended early and pruned; the numbers do not hang on that.

    References
    ----------
    .. [1] W.-C. Kang, J. McAuley, "Self-Attentive Sequential Recommendation", ICDM 2018.
    .. [2] F. Sun et al., "BERT4Rec: Sequential Recommendation with Bidirectional Encoder Representations from
       Transformer", CIKM 2019.

    Examples
    --------
    >>> RecTools("SASRec", {"epochs": 20, "n_factors": 64}).n_epochs
    20
    """

    name: Transformer = "SASRec"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.n_epochs = check_int("model.settings.epochs", self.settings.get("epochs", 3), minimum=1)
        self._history: Interactions | None = None
        self._kept = 0  # the number of the weights that make lists; 0: the newest

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """Return the model as it is now, whatever is trained afterwards; only the last copy gives lists."""
        model = copy(self)
        model._kept = self._kept or self.worker.ask("keep")
        return model

    @property
    def uses_order(self) -> bool:
        """Whether the order of a user's rows can change a score; see `TakesHistories`."""
        return True

    def epochs(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[float]:
        """Train and yield the loss after each epoch; see `EpochModel.epochs` and `Isolated.fit`."""
        loss = self._start(train, rng)
        self._history, self._kept, worker = train, 0, self.worker
        try:
            yield loss
            for _ in range(1, self.n_epochs):
                yield worker.ask("train")
        finally:  # lists between epochs are a part of the training
            worker.seconds = {"fit": sum(worker.seconds.values()), "recommend": 0.0}

    def with_histories(self, rows: Interactions) -> Self:
        """Return the model with these rows as histories; see `TakesHistories`. Both share the process."""
        model = copy(self)
        model._history = rows
        return model

    def _state(self) -> dict[str, Any]:
        rows = self._history
        return {} if rows is None else {"history": np.array([rows.user, rows.item]), "kept": self._kept}
