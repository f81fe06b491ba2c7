"""Published splits as data sets: what is read, where it is found, and what is refused in one line."""

import gzip
import hashlib
from dataclasses import replace

import pytest
from omegaconf import OmegaConf

from recgauge.datasets.split_files import SplitFile, SplitFiles
from recgauge.errors import ConfigError, IntegrityError, MissingDataError
from recgauge.splits.published import Published
from recgauge.splits.shares import LeaveLastOut
from recgauge.sweeps.places import conf_folder

TRAIN, TEST = b"ann\tx\t5\nbob\tx\t4\nbob\ty\t1\n", b"ann\ty\t3\nbob\tx\t2\n"  # bob's x is in both


def describe(filename, content, **options):
    address = f"https://unknown.invalid/{filename}"
    return SplitFile(filename, address, len(content), hashlib.sha256(content).hexdigest(), **options)


@pytest.fixture
def split_of(tmp_path):
    """A mirror with two files, and the data set that they are."""

    def make(train=TRAIN, test=TEST, options=(), test_options=(), **settings):
        mirror = tmp_path / "mirror" / "papers"
        mirror.mkdir(parents=True)
        files = {}
        for part, content, how in (("train", train, options), ("test", test, test_options)):
            (mirror / f"{part}.tsv").write_bytes(content)
            files[part] = describe(f"papers/{part}.tsv", content, **dict(how))
        places = {"mirror": str(mirror.parent), "cache": str(tmp_path / "cache"), "offline": True}
        return SplitFiles("mine", **files, source="a paper", licence="MIT", **(places | settings))

    return make


def pairs(rows):
    return list(zip(rows.user_ids[rows.user].tolist(), rows.item_ids[rows.item].tolist(), strict=True))


def publish(dataset, rng):
    return Published().for_dataset(dataset).split(dataset.interactions, rng=rng, overlap=True)


def test_both_parts_are_as_published_also_where_they_share_pairs(split_of, rng):
    source = split_of()
    dataset = source.load()
    assert dataset.sha256 == source.digest()
    assert (dataset.feedback, dataset.licence, len(dataset.interactions)) == ("implicit", "MIT", 5)
    split = publish(dataset, rng)
    assert pairs(split.train) == [("ann", "x"), ("bob", "x"), ("bob", "y")]
    assert pairs(split.test) == [("ann", "y"), ("bob", "x")]


@pytest.mark.parametrize(
    ("options", "test_options", "train", "test"),
    [
        ({"format": "user_lines"}, {}, b"7 1 2\n9 1\n", b"7,3\n9,2\n"),
        ({"format": "count_lines"}, {"format": "user_lines"}, b"2 1 2\n0\n1 1\n", b"0 3\n2 2\n"),
        ({"header": True}, {"separator": "|"}, b"item;user\n1;7\n2;7\n1;9\n", b"7|3\n9|2\n"),
    ],
)
def test_each_file_has_its_format(split_of, rng, options, test_options, train, test):
    split = publish(split_of(train, test, options, test_options).load(), rng)
    first, last = sorted({user for user, _ in pairs(split.train)})
    assert pairs(split.train) == [(first, 1), (first, 2), (last, 1)]
    assert pairs(split.test) == [(first, 3), (last, 2)]


def test_a_pair_that_a_file_repeats_counts_once_where_it_does_for_the_authors(split_of, rng):
    repeated = split_of(TRAIN + b"bob\ty\t5\n", TEST + TEST, repeats="once").load()
    split = publish(repeated, rng)
    assert pairs(split.train) == [("ann", "x"), ("bob", "x"), ("bob", "y")]
    assert pairs(split.test) == [("ann", "y"), ("bob", "x")]


def test_a_mirror_may_hold_a_file_as_a_gzip(split_of, tmp_path):
    source, papers = split_of(), tmp_path / "mirror" / "papers"
    digest = source.digest()
    (papers / "train.tsv").unlink()
    packed = gzip.compress(TRAIN)
    (papers / "train.tsv.gz").write_bytes(packed)
    assert source.load().sha256 == source.digest() == digest
    altered = gzip.compress(TRAIN.replace(b"5", b"4")), gzip.compress(TRAIN + TRAIN), packed[:-9], b"no gzip"
    for content in altered:
        (papers / "train.tsv.gz").write_bytes(content)
        with pytest.raises(IntegrityError, match=r"train\.tsv"):
            source.load()


@pytest.mark.parametrize("changed", [TEST[:-3], TEST.upper()])
def test_another_byte_is_refused_whatever_the_mirror_lists(split_of, tmp_path, changed):
    source = split_of()
    path = tmp_path / "mirror" / "papers" / "test.tsv"
    path.write_bytes(changed)
    digest = hashlib.sha256(changed).hexdigest()
    (tmp_path / "mirror" / "SHA256SUMS").write_text(f"{digest}  papers/test.tsv\n")
    with pytest.raises(IntegrityError) as caught:
        source.load()
    message = str(caught.value)
    for part in (str(path), source.test.sha256, digest, "it was cut, changed", source.test.address):
        assert part in message
    assert "\n" not in message


def test_files_of_a_named_folder_are_read_and_no_others(split_of, tmp_path):
    source = split_of()
    here = replace(source, archive=str(tmp_path / "mirror" / "papers"), mirror=None)
    assert here.load().sha256 == source.digest()
    with pytest.raises(MissingDataError, match=r"archive=.*absent: there is no such file"):
        replace(source, archive=str(tmp_path / "absent")).find()


def test_items_without_a_row_count_where_the_authors_count_them(split_of):
    lines = {"format": "user_lines"}
    rows = split_of(b"7 1 2\n", b"7 4\n", lines, lines, item_ids_below=6, n_items=6).load().interactions
    assert rows.item_ids.tolist() == [0, 1, 2, 3, 4, 5]
    assert rows.item.tolist() == [1, 2, 4]


def test_one_file_has_all_rows_and_is_split_as_other_data(split_of, rng):
    source = replace(split_of(b"7 1 2 4\n8 2 1\n", options={"format": "user_lines"}), test=None)
    dataset = source.load()
    assert pairs(dataset.interactions) == [(7, 1), (7, 2), (7, 4), (8, 2), (8, 1)]
    assert dataset.sha256 == source.train.sha256
    split = LeaveLastOut(ties="row_order").split(dataset.interactions, rng=rng)
    assert pairs(split.test) == [(7, 4), (8, 1)]
    with pytest.raises(ConfigError, match="published"):
        publish(dataset, rng)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "n_train", "n_test", "n_in_both"),
    [
        ("recsys2023_epinions", 236_714, 63_434, 130),
        ("sigir2025_movielens", 84_143, 15_857, 0),
        ("sigir2025_beauty", 70_473, 31_126, 3_033),
        ("tois2021_spectralcf_ml1m", 179_207, 47_103, 0),
        ("tois2021_mcrec_ml100k", 80_000, 20_000, 0),
        ("tois2021_citeulike_a_p10", 55_510, 149_476, 0),
    ],
)
def test_the_papers_splits_are_as_published(mirror, tmp_path, rng, name, n_train, n_test, n_in_both):
    settings = OmegaConf.to_container(OmegaConf.load(conf_folder() / "dataset" / f"{name}.yaml"))
    del settings["_target_"]
    source = SplitFiles(**settings | {"mirror": mirror, "cache": str(tmp_path), "offline": True})
    split = publish(source.load(), rng)
    assert (len(split.train), len(split.test)) == (n_train, n_test)
    assert len({*pairs(split.train)} & {*pairs(split.test)}) == n_in_both
