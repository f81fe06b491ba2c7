"""Logs of events: weights by event, rows chosen by a column, sessions kept whole, and `data look`."""

import shlex

import pytest

from recgauge.cli.words import CommandLine, weights_of
from recgauge.datasets.table import Table
from recgauge.errors import ConfigError, QuestionError, SchemaError
from recgauge.filters import Where, apply_filters
from recgauge.splits import RandomRows

LOG = (
    "when,event_type,product_id,visitor_id,session,price\n"
    "2024-01-01,view,a,7,s1,1.5\n"
    "2024-01-01,cart,a,7,s1,1.5\n"
    "2024-01-02,view,b,7,s2,2.5\n"
    "2024-01-03,purchase,b,007,s3,2.5\n"
)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return str(path)


def rows_of(dataset):
    rows = dataset.interactions
    ids = rows.user_ids[rows.user].tolist(), rows.item_ids[rows.item].tolist()
    return list(zip(*ids, rows.value.tolist(), strict=True))


def test_events_are_asked_for_weighed_or_chosen(log):
    with pytest.raises(QuestionError, match="event_type"):
        Table(log).load()
    weighed = Table(log, weights={"view": 1, "cart": 3, "purchase": 5}).load()
    assert rows_of(weighed) == [("7", "a", 1), ("7", "a", 3), ("7", "b", 1), ("007", "b", 5)]
    assert weighed.feedback == "implicit"
    without_views = Table(log, weights={"view": 0, "cart": 3, "purchase": 5}).load()
    assert [row[2] for row in rows_of(without_views)] == [3, 5]
    bought = Where("event_type", ["purchase", "cart"])
    kept, _ = apply_filters(Table(log).with_attributes(bought.attributes).load(), [bought])
    assert rows_of(kept) == [("7", "a", 1), ("007", "b", 1)]


def test_weights_that_do_not_fit_are_refused(log):
    with pytest.raises(SchemaError, match="purchase: 0"):
        Table(log, weights={"view": 1, "cart": 3}).load()
    with pytest.raises(SchemaError, match="event"):
        Table(log, weights={"view": 1}, event="kind").load()
    rated = {"weights": {"view": 1}, "rating": "price"}
    for wrong in ({"weights": {"view": -1}}, {"weights": {"view": 0}}, {"event": "event_type"}, rated):
        with pytest.raises(ConfigError):
            Table(log, **wrong)


@pytest.mark.parametrize("repeats", [1, 30_000])
def test_a_kept_column_survives_the_prepared_copy(log, tmp_path, repeats):
    header, *lines = LOG.splitlines(keepends=True)
    (tmp_path / "log.csv").write_text(header + "".join(lines) * repeats)
    split = RandomRows(test_size=0.5, whole="session")
    for _ in range(2):  # the second time from the copy, where there is one
        table = Table(log, unused=["event_type"], cache=str(tmp_path / "cache"))
        session = table.with_attributes(split.attributes).load().interactions.attributes["session"]
        assert session.names[session.codes[:4]].tolist() == ["s1", "s1", "s2", "s3"]


def test_look_shows_roles_the_question_and_a_command_that_runs(log, command):
    code, out, _ = command("data", "look", log)
    assert code == 0
    roles = dict(line.split()[:2] for line in out.splitlines())
    assert [roles[name] for name in ("visitor_id", "product_id", "event_type")] == ["user", "item", "?"]
    words = (f"dataset.path={log}", "filters.where.column=event_type")
    assert all(word in out.rpartition("command")[2] for word in words)


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("who,thing,stars\na,x,4\nb,y,3\n", "dataset.user=who dataset.item=thing"),
        ("Kundin;Ware Nr.;Preis\n1;7;3,50\n2;8;4,10\n", "dataset.user=Kundin 'dataset.item=\"Ware Nr.\"'"),
        ("kunde;Ware\n1;7\n2;8\n", "dataset.item=Ware"),
        ("kunde;event;url\n1;view;a\n2;buy;b\n", "dataset.item=url"),
    ],
)
def test_look_shows_columns_that_nobody_knows_and_the_command_that_chooses(text, choices, tmp_path, command):
    (file := tmp_path / "my log.csv").write_text(text)
    code, out, err = command("data", "look", file)
    assert code == 1
    table = [line.split("  ")[0] for line in out.splitlines()]
    names = text.partition("\n")[0].replace(";", ",").split(",")
    assert table[1 : 1 + len(names)] == names
    words = f"data look '{file}' {choices}"
    assert all(f"recgauge {words}" in text for text in (out, err))
    assert command(*shlex.split(words))[0] == 0


@pytest.mark.parametrize(
    "events", [["null", "01"], ["True", "no"], ["it's, ü", "a=b"], ["0.0", "1.10", 'a "b"'], ["Öl", "no"]]
)
def test_words_to_type_name_the_very_values(tmp_path, events):
    rows = "".join(f'{n},i,"{event.replace(chr(34), 2 * chr(34))}"\n' for n, event in enumerate(events))
    (tmp_path / "log.csv").write_text('user,item,"event, kind"\n' + rows)
    with pytest.raises(QuestionError) as asked:
        Table(str(tmp_path / "log.csv"), rating=False).load()
    line = CommandLine.read([*shlex.split(asked.value.answers[0]), "dataset.weights={Kauf: 5, Rückgabe: 0}"])
    words = {override.key_or_group: override.value() for override in line.parsed}
    assert weights_of(str(words["dataset.weights"])) == {"Kauf": 5, "Rückgabe": 0}
    assert str(words["filters.where.column"]) == "event, kind"
    counting = [event for event in sorted(events) if event not in ("no", "0.0")]
    counting = ["VALUE"] if len(counting) == len(events) else counting  # only the user knows which
    assert [str(value) for value in words["filters.where.values"]] == counting


def test_a_no_break_space_is_part_of_an_id_in_a_line_of_items(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("7 a\u00a0b c\n", encoding="utf-8")
    dataset = Table(str(path), format="user_lines").load()
    assert [item for _, item, _ in rows_of(dataset)] == ["a\u00a0b", "c"]
