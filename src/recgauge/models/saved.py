"""A fitted model in a folder: what it learned, the ids, the titles and what each user has seen."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from recgauge.candidates import CandidateItems
from recgauge.data.histories import oldest_first
from recgauge.data.ids import IdArray
from recgauge.data.interactions import Interactions
from recgauge.data.lists import TopK
from recgauge.engine import ItemWeights
from recgauge.errors import ConfigError, ModelError, said
from recgauge.models import Factors, KnownRatings, Recommender, TakesHistories
from recgauge.models.recommend import recommend
from recgauge.utils.checks import shown
from recgauge.utils.files import read_own, refuse_irregular
from recgauge.utils.plain import Arrays, pack, unpack

FORMAT = 1
ABOUT, ARRAYS = "model.json", "arrays.npz"
_KINDS: dict[str, type] = {kind.__name__: kind for kind in (Factors, ItemWeights, KnownRatings)}


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted model with all that recommending to users by their ids needs.

    Parameters
    ----------
    model : Recommender
        Fitted.
    user_ids, item_ids : ndarray
        Ids by code.
    candidates : CandidateItems
        What each user has seen, and the only items that may be recommended, if there are such.
    titles : ndarray of str, shape (n_items,), or None

    Examples
    --------
    >>> import tempfile
    >>> from recgauge.data.interactions import Interactions
    >>> from recgauge.models.popularity import Popularity
    >>> train = Interactions.from_ids(["a", "a", "b", "c"], ["x", "y", "x", "z"])
    >>> model = Popularity().fit(train, rng=np.random.default_rng(0))
    >>> seen = CandidateItems(excluded=train.to_csr())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     SavedModel(model, train.user_ids, train.item_ids, seen).save(Path(folder) / "model")
    ...     again = SavedModel.load(Path(folder) / "model")
    >>> items, scores = again.recommend(["b", "c"], k=1)
    >>> items.tolist()
    [['y'], ['x']]
    """

    model: Recommender
    user_ids: IdArray
    item_ids: IdArray
    candidates: CandidateItems
    titles: npt.NDArray[Any] | None = None

    def with_histories(self, rows: Interactions) -> Self:
        """Return the model for other histories: its users are those of `rows`, trained on or not.

        Parameters
        ----------
        rows : Interactions
            By user the oldest first where they have no times, else of equal times. What is in them is seen.

        Raises
        ------
        ConfigError
            If the model takes no histories, or knows no item of them. Other items that it does not know are
            left out.
        """
        if not isinstance(self.model, TakesHistories):
            raise ConfigError(
                f"{type(self.model).__name__} serves the users that it was trained on, and takes no "
                "histories. Save a model that does, such as model=item_knn or model=ease."
            )
        codes = {str(item): code for code, item in enumerate(self.item_ids.tolist())}
        code_of = np.array([codes.get(str(item), -1) for item in rows.item_ids.tolist()], np.int32)
        order = oldest_first(rows)
        order = order[code_of[rows.item[order]] >= 0]
        if not len(order):
            raise ConfigError(
                f"histories: the model knows none of their items; its ids look like "
                f"{shown(self.item_ids[0])}."
            )
        ordered = rows.take(order)
        columns = code_of[ordered.item], ordered.value, ordered.timestamp, rows.user_ids, self.item_ids
        histories = Interactions(ordered.user, *columns)
        seen = None if self.candidates.excluded is None else histories.to_csr()
        candidates = CandidateItems(seen, self.candidates.items)
        model = self.model.with_histories(histories)
        return replace(self, model=model, user_ids=rows.user_ids, candidates=candidates)

    def recommend(self, users: Any, k: int = 10) -> tuple[IdArray, npt.NDArray[np.float32]]:
        """Return each user's best items, best first, as the run that fitted the model recommended them.

        Parameters
        ----------
        users : sequence of ids
        k : int

        Returns
        -------
        items : ndarray of ids, shape (m, k)
            None pads lists with fewer candidates, where the score is -inf.
        scores : ndarray of float32, shape (m, k)

        Raises
        ------
        ConfigError
            If a user is not known.
        """
        lists = self.lists(users, k)
        items = np.full(lists.items.shape, None, dtype=object)
        filled = lists.items >= 0
        items[filled] = self.item_ids[lists.items[filled]]
        return items, lists.scores

    def lists(self, users: Any, k: int = 10) -> TopK:
        """Return the same as codes."""
        codes = [self._code(user) for user in users]
        if unknown := self.unknown(users):
            named = ", ".join(map(repr, unknown[:5])) + (" ..." if len(unknown) > 5 else "")
            raise ConfigError(
                f"users: {len(unknown)} of {len(codes)} were not in the training rows: {named}. "
                f"Ids look like {shown(self.user_ids[0])}."
            )
        try:
            lists = recommend(self.model, np.array(codes, np.int32), k, candidates=self.candidates)
            if (lists.items >= len(self.item_ids)).any():
                raise ValueError("it gives items that have no id")
        except Exception as error:  # whatever computing with damaged numbers raises
            raise ModelError(
                f"the saved model cannot recommend; it may be damaged: {said(error)}."
            ) from error
        return lists

    def rows(self, users: Any, k: int = 10) -> dict[str, npt.NDArray[Any]]:
        """Return the same as the columns of a table: user_id, rank (from 1), item_id, title, score.

        A list with fewer than `k` candidates has fewer rows; without titles there is no such column.
        """
        lists = self.lists(users, k)
        row, column = np.nonzero(lists.items >= 0)
        items = lists.items[row, column]
        titles = {} if self.titles is None else {"title": self.titles[items]}
        return {
            "user_id": self.user_ids[lists.users[row]],
            "rank": (column + 1).astype(np.int32),
            "item_id": self.item_ids[items],
            **titles,
            "score": lists.scores[row, column],
        }

    def unknown(self, users: Any) -> list[Any]:
        """Return the users that are not known."""
        return [user for user in users if self._code(user) is None]

    def _code(self, user: Any) -> int | None:
        return self._codes.get(user, self._codes.get(str(user)))

    @cached_property
    def _codes(self) -> dict[Any, int]:
        """Codes of ids and of their texts."""
        ids = self.user_ids.tolist()
        return {str(user): code for code, user in enumerate(ids)} | {
            user: code for code, user in enumerate(ids)
        }

    def save(self, folder: str | Path) -> None:
        """Write the folder: model.json and arrays.npz, without pickles; see docs/saved_models.md.

        Raises
        ------
        ModelError
            If the model keeps something that cannot be stored.
        OSError
            If the folder cannot be written.
        """
        arrays: Arrays = {}
        about = {
            "format": FORMAT,
            "class": f"{type(self.model).__module__}.{type(self.model).__qualname__}",
            **_pack_model(self.model, arrays),
            "user_ids": pack(self.user_ids, "user_ids", arrays),
            "item_ids": pack(self.item_ids, "item_ids", arrays),
            "titles": pack(self.titles, "titles", arrays),
            "excluded": pack(self.candidates.excluded, "excluded", arrays),
            "items": pack(self.candidates.items, "items", arrays),
        }
        try:
            text = json.dumps(about, indent=2) + "\n"
        except (TypeError, ValueError) as error:
            raise ModelError(f"the model cannot be saved: its settings are no JSON: {error}.") from error
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / ARRAYS, **arrays)  # type: ignore[arg-type]
        (folder / ABOUT).write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path, packages: tuple[str, ...] = ("recgauge",)) -> "SavedModel":
        """Read a folder back.

        Parameters
        ----------
        folder : str or pathlib.Path
        packages : tuple of str
            Packages whose classes may be built.

        Raises
        ------
        ModelError
            If the folder holds no model, a damaged one, or one of another package.
        """
        folder = Path(folder)
        for name in (ABOUT, ARRAYS):
            refuse_irregular(folder / name, "saved model")
        try:
            about = json.loads(read_own(folder / ABOUT))
            model = _new_model(about, packages)
            with (folder / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                if any(member.compress_type for member in arrays.zip.infolist()):
                    raise ValueError(f"{ARRAYS} is compressed, which saved models are not")

                def get(packed: Any) -> Any:
                    return unpack(packed, arrays, _KINDS)

                for attribute, packed in about["learned"].items():
                    setattr(model, attribute, get(packed))
                candidates = CandidateItems(get(about["excluded"]), get(about["items"]))
                ids = get(about["user_ids"]), get(about["item_ids"])
                lists = cls(model, *ids, candidates, get(about["titles"]))
            lists._check_sizes()
        except Exception as error:  # whatever reading a damaged file raises
            raise ModelError(f"{folder} holds no model that can be loaded: {said(error)}.") from error
        return lists

    def _check_sizes(self) -> None:
        """Refuse parts that do not fit together: compiled code would read beyond them."""
        n_users, n_items = _length(self.user_ids, "users"), _length(self.item_ids, "items")
        if self.titles is not None and _length(self.titles, "titles") != n_items:
            raise ValueError("not every item has a title")
        excluded, items = self.candidates.excluded, self.candidates.items
        if excluded is not None and excluded.shape != (n_users, n_items):
            raise ValueError(f"what users have seen has the shape {excluded.shape}")
        if items is not None and not (np.diff(items, prepend=-1, append=n_items) > 0).all():
            raise ValueError("the items that may be recommended are not rising codes")
        match self.model.factors() or self.model.item_weights():
            case Factors(user=user, item=item):
                learned = len(user), len(item)
            case ItemWeights(interactions=rows, weights=weights):
                learned = rows.shape[0], weights.shape[1]
            case _:
                return
        if learned != (n_users, n_items):
            raise ValueError(f"the model knows {learned[0]} users and {learned[1]} items")


def _new_model(about: Mapping[str, Any], packages: tuple[str, ...]) -> Recommender:
    """Return the model that a folder names, before it has learned anything."""
    if about["format"] != FORMAT:
        raise ValueError(f"format {about['format']} is not {FORMAT}; use the version that wrote it")
    module, _, name = str(about["class"]).rpartition(".")
    if module.partition(".")[0] not in packages:
        package = module.partition(".")[0]
        raise ValueError(
            f"{about['class']} is not of {', '.join(packages)}. If you trust its package, name it: --allow "
            f"{package}, or packages=('recgauge', '{package}') in Python"
        )
    kind = getattr(import_module(module), name)
    if not issubclass(kind, Recommender):
        raise ValueError(f"{about['class']} is not a model that recommends")
    model: Recommender = kind(**about["settings"])
    return model


def learned_bytes(model: object) -> int | None:
    """Return the bytes of what a fitted model keeps, not counting ids; None if that cannot be told.

    Examples
    --------
    >>> from recgauge.data.interactions import Interactions
    >>> from recgauge.models.popularity import Popularity
    >>> train = Interactions.from_ids(["a", "b"], ["x", "y"])
    >>> learned_bytes(Popularity().fit(train, rng=np.random.default_rng(0))) > 0
    True
    """
    arrays: Arrays = {}
    try:
        _pack_model(model, arrays)
    except ModelError:
        return None
    return sum(array.nbytes for array in arrays.values())


def _pack_model(model: Any, arrays: Arrays) -> dict[str, Any]:
    """Return the settings that build a model, and the other attributes, which `fit` has stored."""
    if not is_dataclass(model) or not hasattr(model, "__dict__"):
        raise ModelError(
            f"the model cannot be saved: {type(model).__qualname__} is no dataclass (without slots), so it "
            "is not known which arguments build it."
        )
    settings = {field.name: getattr(model, field.name) for field in fields(model) if field.init}
    learned = {name: each for name, each in vars(model).items() if name not in settings}
    try:
        packed = {name: pack(each, name, arrays, _KINDS) for name, each in learned.items()}
    except TypeError as error:
        raise ModelError(
            f"the model cannot be saved: {error}. Keep what fit learns in numbers, texts, arrays, sparse CSR "
            "or CSC arrays, Factors, ItemWeights or KnownRatings."
        ) from error
    return {"settings": settings, "learned": packed}


def _length(array: Any, name: str) -> int:
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        raise ValueError(f"the {name} are no list")
    return len(array)
