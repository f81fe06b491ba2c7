"""What each candidate rule lets into a list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.candidates import AllItems, CandidateItems, OwnTestItems, TrainItems
from recgauge.candidates.named import AllowList, NegativesFile
from recgauge.data.interactions import pairs_matrix
from recgauge.data.split import Split
from recgauge.errors import ConfigError, MissingDataError, SchemaError
from recgauge.splits.folds import StrongGeneralisation
from recgauge.splits.shares import RandomRows
from recgauge.utils.randomness import stream

RNG = stream(0, "candidates")


@pytest.fixture(scope="module")
def split(demo):
    return RandomRows(validation_size=0.1).split(demo.interactions, rng=stream(0, "split"))


def pairs(*parts):
    return {pair for part in parts for pair in zip(part.user.tolist(), part.item.tolist(), strict=True)}


def stored_pairs(matrix):
    return set(zip(*(axis.tolist() for axis in matrix.nonzero()), strict=True))


def test_what_counts_as_seen(split):
    def excluded(seen):
        return AllItems(seen).choose(split, rng=RNG).excluded

    assert stored_pairs(excluded("train")) == pairs(split.train)
    assert stored_pairs(excluded("validation")) == pairs(split.validation)
    assert stored_pairs(excluded("both")) == pairs(split.train, split.validation)
    assert excluded("none") is None


@pytest.mark.parametrize("rule", [AllItems(), TrainItems(), AllowList(items=[1, 2, 3])], ids=repr)
def test_rows_that_are_not_judged_are_seen(split, rule):
    def excluded(evaluated):
        return stored_pairs(rule.choose(evaluated, rng=RNG).excluded)

    assert excluded(split) == pairs(split.train, split.validation)
    assert excluded(split.on_validation()) == pairs(split.train)
    assert excluded(split.with_validation_in_train()) == pairs(split.train, split.validation)


def test_fold_in_rows_of_held_out_users_are_seen(demo):
    users = StrongGeneralisation(n_test=20, n_validation=20).split(demo.interactions, rng=stream(0, "split"))
    for evaluated, other in ((users, users.validation), (users.on_validation(), None)):
        seen = pairs(users.train, users.fold_in, *([] if other is None else [other]))
        assert stored_pairs(AllItems().choose(evaluated, rng=RNG).excluded) == seen


def test_seen_without_a_validation_part(demo):
    split = RandomRows().split(demo.interactions, rng=stream(0, "split"))
    both = AllItems("both").choose(split, rng=RNG)
    assert stored_pairs(both.excluded) == pairs(split.train)
    with pytest.raises(ConfigError, match="split random has no validation rows"):
        AllItems("validation").choose(split, rng=RNG)


def test_items_that_occur_in_train(split):
    chosen = TrainItems().choose(split, rng=RNG)
    assert chosen.items.tolist() == sorted(set(split.train.item.tolist()))
    assert not chosen.incomparable


def test_own_test_items_mark_the_run(split):
    chosen = OwnTestItems().choose(split, rng=RNG)
    assert stored_pairs(chosen.per_user) == pairs(split.test)
    assert "own test items" in chosen.incomparable


def test_allow_list_of_ids(split, tmp_path):
    ids = split.train.item_ids[[7, 2, 7]].tolist()
    file = tmp_path / "items.txt"
    file.write_text("\ufeff" + "\r\n".join(map(str, ids)) + "\r\n\r\n", encoding="utf-8")
    for rule in (AllowList(items=ids), AllowList(path=str(file)), AllowList(items=tuple(map(str, ids)))):
        chosen = rule.choose(split, rng=RNG)
        assert chosen.items.tolist() == [2, 7]
        assert "only 2 of 1,500 items" in chosen.incomparable
    everything = AllowList(items=split.train.item_ids.tolist()).choose(split, rng=RNG)
    assert not everything.incomparable


def test_unknown_ids_of_an_allow_list(split, tmp_path):
    file = tmp_path / "items.txt"
    file.write_text("1\n2\n\nno such\n", encoding="utf-8")
    with pytest.raises(SchemaError, match=r"items.txt, line 4: the data set has no item 'no such' \(1 of 3"):
        AllowList(path=str(file)).choose(split, rng=RNG)
    chosen = AllowList(path=str(file), unknown="skip").choose(split, rng=RNG)
    assert len(chosen.items) == 2
    assert chosen.notes == ("1 ids of the allow-list are not in the data set",)
    with pytest.raises(SchemaError, match="1 of 1 ids are unknown"):
        AllowList(items=["x"], unknown="skip").choose(split, rng=RNG)


def test_allow_lists_that_cannot_be_used(split, tmp_path):
    with pytest.raises(ConfigError, match="give either items"):
        AllowList()
    with pytest.raises(ConfigError, match="give either items"):
        AllowList(items=[1], path="x")
    for items in ([], "12"):
        with pytest.raises(ConfigError, match="items must be a list with at least one id"):
            AllowList(items=items)
    with pytest.raises(MissingDataError, match=r"AllowList: candidates\.path=.*no such file"):
        AllowList(path=str(tmp_path / "none")).choose(split, rng=RNG)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe1\n")
    with pytest.raises(SchemaError, match="line 1 is not utf-8 text"):
        AllowList(path=str(tmp_path / "bytes")).choose(split, rng=RNG)
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(SchemaError, match="has no lines"):
        AllowList(path=str(tmp_path / "empty")).choose(split, rng=RNG)


@pytest.mark.parametrize("rule", [AllowList, NegativesFile])
def test_a_file_of_gigabytes_without_lines_is_not_read_as_a_whole(split, tmp_path, rule):
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(SchemaError, match=r"line 1: .* bytes or more in one line"):
        rule(path=str(tmp_path / "zeros")).choose(split, rng=RNG)


def test_rules_that_leave_nothing_are_refused():
    with pytest.raises(ConfigError, match="no user has a candidate"):
        CandidateItems(items=np.empty(0, np.int32))
    one = pairs_matrix(np.array([0]), np.array([1]), (2, 3))
    with pytest.raises(ConfigError, match="cannot be combined"):
        CandidateItems(per_user=one, excluded=one)


@given(st.data())
def test_membership_and_counts_are_those_of_a_table(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n_users, n_items = rng.integers(1, 6), rng.integers(1, 7)
    seen = rng.random((n_users, n_items)) < 0.4
    user, item = np.nonzero(seen)
    matrix = pairs_matrix(user, item, (n_users, n_items))
    some = np.flatnonzero(rng.random(n_items) < 0.6).astype(np.int32)
    table = ~seen
    cases = [(CandidateItems(excluded=matrix), table), (CandidateItems(), np.ones_like(seen))]
    if len(some):
        mask = np.isin(np.arange(n_items), some)
        cases += [(CandidateItems(excluded=matrix, items=some), table & mask)]
        cases += [(CandidateItems(items=some), np.broadcast_to(mask, seen.shape))]
    if seen.any():
        cases += [(CandidateItems(per_user=matrix), seen)]
    users, items = (axis.ravel().astype(np.int32) for axis in np.indices(seen.shape))
    for chosen, expected in cases:
        assert chosen.holds(users, items).tolist() == expected.ravel().tolist()
        assert chosen.counts(n_users, n_items).tolist() == expected.sum(axis=1).tolist()


def test_fold_in_rows_count_as_seen(split):
    """A split may know more of a user than the training rows."""
    odd = split.train.user % 2 == 1
    parts = {"train": split.train.take(~odd), "validation": None, "fold_in": split.train.take(odd)}
    folded = Split("folded", test=split.test, **parts)
    assert stored_pairs(AllItems().choose(folded, rng=RNG).excluded) == pairs(split.train)
    with pytest.raises(ValueError, match="read-only"):  # guards and metrics have the same matrix
        folded.seen.data[:] = 0
