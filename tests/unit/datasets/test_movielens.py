import hashlib

import pytest

from recgauge.datasets.movielens import MovieLens

U_ITEM = (
    '5|Évita\x85 the "Film" (1996)|01-Jan-1996||http://x|0|1|0\n'
    "3|unknown||||1|0|0\n"
    "9|Never rated (1990)|||x|0|0|1\n"
).encode("iso-8859-1")
# A sign of ISO-8859-1 that Python's splitlines takes for the end of a line.
TITLES = dict.fromkeys(["ml_100k", "ml_1m"], 'Évita\x85 the "Film" (1996)')
MADE = {
    "ml_100k": {
        "ml-100k/u.data": b"7\t5\t3\t881250949\n2\t3\t5\t891717742\n7\t3\t1\t878887116\n",
        "ml-100k/u.item": U_ITEM,
        "ml-100k/u.genre": b"unknown|0\nDrama|1\nAction|2\n\n",
    },
    "ml_1m": {
        "ml-1m/ratings.dat": b"7::5::3::881250949\n2::3::5::891717742\n7::3::1::878887116",
        "ml-1m/movies.dat": (
            '5::Évita\x85 the "Film" (1996)::Drama\n3::unknown::\n9::A: b (1990)::Action\n'
        ).encode("iso-8859-1"),
    },
    "ml_10m": {
        "ml-10M100K/ratings.dat": b"7::5::3.0::881250949\n2::3::5::891717742\n7::3::1.0::878887116\n",
        "ml-10M100K/movies.dat": (
            '5::Évita, the "Film" (1996)::Drama\n3::unknown::(no genres listed)\n9::A: b (1990)::Action\n'
        ).encode(),
    },
    "ml_latest_small": {
        "ml-latest-small/ratings.csv": b"userId,movieId,rating,timestamp\r\n"
        b"7,5,3.0,881250949\r\n2,3,5.0,891717742\r\n7,3,1.0,878887116\r\n",
        "ml-latest-small/movies.csv": (
            'movieId,title,genres\r\n5,"Évita, the ""Film"" (1996)",Drama\r\n'
            "3,unknown,(no genres listed)\r\n9,Never rated (1990),Action|Drama\r\n"
        ).encode(),
    },
}


@pytest.fixture
def load(make_zip):
    def load(name, changes=None, **options):
        path = make_zip({**MADE[name], **(changes or {})})
        pin = hashlib.sha256(path.read_bytes()).hexdigest()
        return MovieLens(name, archive=str(path), sha256=pin, **options).load()

    return load


@pytest.mark.parametrize("name", MADE)
def test_made_archive_reads_row_by_row(load, name):
    dataset = load(name)
    rows = dataset.interactions
    assert rows.user_ids.tolist() == [2, 7]
    assert rows.item_ids.tolist() == [3, 5]
    assert rows.user.tolist() == [1, 0, 1]
    assert rows.item.tolist() == [1, 0, 0]
    assert rows.value.tolist() == [3.0, 5.0, 1.0]
    assert rows.timestamp.tolist() == [881250949, 891717742, 878887116]
    assert dataset.item_titles.tolist() == ["unknown", TITLES.get(name, 'Évita, the "Film" (1996)')]
    assert set(dataset.item_features.names) == {"Action", "Drama"}
    drama = dataset.item_features.names.index("Drama")
    features = dataset.item_features.matrix.toarray()
    assert features[:, drama].tolist() == [0.0, 1.0]
    assert features.sum() == 1.0
    assert dataset.provenance.startswith("not the publisher's archive: pinned by dataset.sha256")
    assert dataset.feedback == "explicit"
    assert dataset.relevant_from == 4.0


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "counts", "mean", "values", "times", "provenance"),
    [
        ("ml_100k", (943, 1682, 100_000), 3.52986, (1, 5), (874724710, 893286638), "zipped anew"),
        ("ml_latest_small", (610, 9724, 100_836), 3.50156, (0.5, 5), (828124615, 1537799250), "archive"),
        ("ml_1m", (6040, 3706, 1_000_209), 3.581564, (1, 5), (956703932, 1046454590), "SHA256SUMS"),
    ],
)
def test_real_archives(mirror, tmp_path, progress, name, counts, mean, values, times, provenance):
    dataset = MovieLens(name, mirror=mirror, cache=str(tmp_path), offline=True).load(progress)
    rows = dataset.interactions
    about = MovieLens.about({"name": name})
    assert (rows.n_users, rows.n_items, len(rows)) == counts == (about.n_users, about.n_items, about.n_rows)
    assert rows.value.mean(dtype=float) == pytest.approx(mean, abs=6e-6)
    assert (rows.value.min(), rows.value.max()) == values
    assert (rows.timestamp.min(), rows.timestamp.max()) == times
    assert rows.user_counts().min() >= 20
    assert dataset.item_titles[0] == "Toy Story (1995)"
    genres = dataset.item_features
    row = genres.matrix[[0]].toarray()[0]
    assert {"Animation", "Comedy"} <= {name for name, on in zip(genres.names, row, strict=True) if on}
    assert genres.names == tuple(sorted(genres.names))
    assert dataset.provenance.endswith(provenance)
    assert dataset.licence.startswith("research use")
    assert "Harper" in dataset.citation
