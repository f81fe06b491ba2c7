"""What each candidate rule lets into a list; sampled and published negatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.candidates import AllItems, TrainItems
from recgauge.candidates.named import AllowList, NegativesFile
from recgauge.candidates.sampled import SampledNegatives, draw_negatives
from recgauge.data.interactions import Interactions, pairs_matrix
from recgauge.data.lists import Relevant
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


def test_items_that_occur_in_train(split):
    chosen = TrainItems().choose(split, rng=RNG)
    assert chosen.items.tolist() == sorted(set(split.train.item.tolist()))
    assert not chosen.incomparable


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
    with pytest.raises(MissingDataError, match=r"AllowList: candidates\.path=.*no such file"):
        AllowList(path=str(tmp_path / "none")).choose(split, rng=RNG)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe1\n")
    with pytest.raises(SchemaError, match="is not utf-8 text"):
        AllowList(path=str(tmp_path / "bytes")).choose(split, rng=RNG)


@pytest.mark.parametrize("rule", [AllowList, NegativesFile])
def test_a_file_of_gigabytes_without_lines_is_not_read_as_a_whole(split, tmp_path, rule):
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(SchemaError, match=r"line 1: .* bytes or more in one line"):
        rule(path=str(tmp_path / "zeros")).choose(split, rng=RNG)


@pytest.mark.parametrize("by", ["uniform", "popularity"])
def test_test_items_and_so_many_unknown_items(split, by):
    chosen = SampledNegatives(n=60, by=by).choose(split, rng=stream(3, "candidates"))
    known = {part: part.to_csr().toarray() != 0 for part in (split.train, split.validation, split.test)}
    table = chosen.per_user.toarray() != 0
    assert not (table & (known[split.train] | known[split.validation])).any()
    negatives = table & ~known[split.test]
    tested = known[split.test].any(axis=1)
    assert (negatives.sum(axis=1) == np.where(tested, 60, 0)).all()
    assert (table & known[split.test]).sum() == len(split.test)
    assert not chosen.notes
    assert "60 negatives" in chosen.incomparable
    if by == "popularity":
        assert (split.train.item_counts()[np.nonzero(negatives)[1]] > 0).all()


@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans())
def test_draws_are_distinct_unknown_and_as_many_as_there_are(seed, n, weighted):
    rng = np.random.default_rng(seed)
    n_users, n_items = 5, 10
    known = rng.random((n_users, n_items)) < rng.choice([0.0, 0.3, 0.9])
    weight = rng.integers(0, 3, n_items).astype(float) if weighted else np.ones(n_items)
    weight[0] = 1.0
    matrix = pairs_matrix(*np.nonzero(known), known.shape)
    users = rng.permutation(n_users)[: rng.integers(1, 6)].astype(np.int32)
    user, item = draw_negatives(users, n, matrix, weight, np.random.default_rng(seed))
    open_items = ~known & (weight > 0)
    assert len(set(zip(user.tolist(), item.tolist(), strict=True))) == len(user)
    assert open_items[user, item].all()
    for code in users:
        assert (user == code).sum() == min(n, open_items[code].sum())
    backwards = draw_negatives(users[::-1], n, matrix, weight, np.random.default_rng(seed))
    assert np.array_equal(np.stack(backwards), np.stack((user, item)))


@pytest.mark.parametrize("crowded", [False, True], ids=["by drawing", "from what is left"])
def test_every_draw_has_its_chance(crowded):
    """The first of two draws by weight is in the sample as often as by drawing one at a time."""
    weight = np.array([1.0, 2.0, 3.0, 4.0, 0.0])
    n_users = 6000
    weight = np.append(weight, 1e6 if crowded else 1.0)
    # the last item is known to all; if nearly all draws hit it, drawing again ends and the rest is listed
    known = pairs_matrix(np.arange(n_users), np.full(n_users, 5), (n_users, 6))
    everybody = np.arange(n_users, dtype=np.int32)
    _, item = draw_negatives(everybody, 2, known, weight, np.random.default_rng(5))
    found = np.bincount(item, minlength=5) / n_users
    share = weight[:5] / weight[:5].sum()
    others = [sum(share[j] / (1 - share[j]) for j in range(5) if j != i) for i in range(5)]
    expected = share + share * np.array(others)
    assert np.abs(found - expected).max() < 4 * np.sqrt(0.25 / n_users)


def take_like(train, pairs):
    user, item = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    return Interactions(user, item, np.ones(len(user)), None, train.user_ids, train.item_ids)


@pytest.fixture
def small():
    train = Interactions.from_ids(["ann", "ann", "bob", "bob", "cat"], [10, 20, 20, 30, 40])
    return Split("small", train, None, take_like(train, [(0, 2), (1, 0)]))


def read(small, tmp_path, text):
    (tmp_path / "negatives").write_text(text, encoding="utf-8")
    return NegativesFile(str(tmp_path / "negatives")).choose(small, rng=stream(0, "candidates"))


def test_a_file_in_the_form_of_ncf(small, tmp_path):
    chosen = read(small, tmp_path, "(ann,30)\t40\t20\r\n(bob, 10)\t40\n\n")
    assert chosen.per_user.toarray().astype(int).tolist() == [[0, 1, 1, 1], [1, 0, 0, 1], [0] * 4]
    assert "file" in chosen.incomparable
    (note,) = chosen.notes
    assert note.startswith("1 negatives of the file are in their user's training rows")


@pytest.mark.parametrize(
    ("name", "text", "settings"),
    [
        ("negatives", "ann 40 20\nbob 40\n", {"format": "user_lines"}),
        ("negatives.csv", "user_id,item_id\nann,40\nann,20\nbob,40\n", {}),
        (
            "negatives.jsonl",
            '{"user": "ann", "item": 40}\n{"user": "ann", "item": 20}\n{"user": "bob", "item": 40}\n',
            {},
        ),
    ],
)
def test_negatives_in_lines_of_users_and_in_tables(small, tmp_path, name, text, settings):
    (tmp_path / name).write_text(text, encoding="utf-8")
    rules = [NegativesFile(str(tmp_path / name), seen=seen, **settings) for seen in ("keep", "drop")]
    kept, dropped = (rule.choose(small, rng=stream(0, "candidates")).per_user for rule in rules)
    assert kept.toarray().astype(int).tolist() == [[0, 1, 1, 1], [1, 0, 0, 1], [0] * 4]
    assert dropped.toarray().astype(int).tolist() == [[0, 0, 1, 1], [1, 0, 0, 1], [0] * 4]


def test_a_negative_that_is_a_test_item_is_counted_and_ranked_once_as_a_test_item(tmp_path):
    train = Interactions.from_ids(["ann", "ann", "bob", "cat", "cat"], [10, 20, 30, 40, 50])
    split = Split("small", train, None, take_like(train, [(0, 2), (0, 3), (1, 0)]))
    # ann's second negatives hold her other test item, 30, and bob's own test item is among his
    chosen = read(split, tmp_path, "(ann,30)\t50\n(ann,40)\t30\t50\n(bob,10)\t10\t20\t10\n")
    ann, bob, cat = chosen.per_user.toarray().astype(int).tolist()
    assert (ann, bob, cat) == ([0, 0, 1, 1, 1], [1, 1, 0, 0, 0], [0] * 5)
    assert chosen.notes == (
        "2 of 2 users have test items of their own among the file's negatives (2 items), which are ranked "
        "once, as test items",
    )
    relevant = Relevant.from_interactions(split.test, None)
    assert chosen.irrelevant(relevant, 3, 5)[:2].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("(ann,30)\t40\nann,10\t40\n", r"line 2: expected \(user,item\).*got 'ann,10"),
        ("(eve,30)\t40\n", "line 1: the data set has no user 'eve'. Write ids .* such as ann, bob, cat"),
        ("(ann,30)\t40\n(bob,10)\t99\n", "line 2: the data set has no item '99'"),
        ("(ann,30)\t40\n(ann,40)\t10\n", r"line 2: user 'ann' has no test row with item 40 \(1 of 2 lines\)"),
        ("(ann,30)\t40\n", "no line for user 'bob', one of 1 with test rows"),
    ],
)
def test_files_that_do_not_fit_are_refused_with_their_line(small, tmp_path, text, message):
    with pytest.raises(SchemaError, match=message):
        read(small, tmp_path, text)
