"""Deliveries in the background: all that can be is stored when the context ends, and the rest is told."""

from types import SimpleNamespace

import pytest

from recgauge.errors import IntegrityError, TrackingError
from recgauge.tracking.delivering import deliver
from recgauge.tracking.outbox import Deliveries
from recgauge.tracking.store import Store
from unit.tracking.conftest import complete
from unit.tracking.test_deliver import stored


def test_what_fails_is_told_for_each_folder_and_nothing_here_is_imported(tmp_path, store, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mlflow.py").write_text("raise SystemExit('imported')")
    away = Store("http://127.0.0.1:9")
    whole, damaged, lost = (complete(tmp_path / name, store) for name in ("whole", "damaged", "lost"))
    (damaged / "record.json").write_text("{}")
    with Deliveries() as deliveries:
        for folder, where in ((damaged, store), (whole, store), (lost, away)):
            deliveries.submit(folder, where)
        assert deliveries.address(away, "a", "b") is None
    assert isinstance(deliveries.results[damaged], IntegrityError)
    assert isinstance(deliveries.results[whole], str)
    assert isinstance(deliveries.results[lost], TrackingError)
    assert deliveries.run_address(lost) is None


@pytest.fixture
def within(monkeypatch):
    """Deliver in this process, which may have none of its own."""
    monkeypatch.setattr("recgauge.utils.workers.current_process", lambda: SimpleNamespace(daemon=True))


@pytest.mark.usefixtures("within")
def test_a_store_that_is_back_at_the_end_has_all(tmp_path, store):
    folders = [complete(tmp_path / str(seed), store, seed=seed) for seed in range(3)]
    hidden = store.file.with_name("hidden")
    with Deliveries(store) as deliveries:
        assert deliveries.address(store, "a", "b")  # it is open now
        store.file.rename(hidden)
        for folder in folders:
            deliveries.submit(folder, store)
        deliveries.address(store, "a", "b")  # asked after them
        assert all(isinstance(error, TrackingError) for error in deliveries.results.values())
        hidden.rename(store.file)
    assert len(stored(store)) == 3
    assert all(isinstance(run_id, str) for run_id in deliveries.results.values())


@pytest.mark.usefixtures("within")
def test_a_reused_run_is_one_of_the_experiment_that_reuses_it(folder, store):
    deliver(folder, store)
    with Deliveries() as deliveries:
        deliveries.submit(folder, store, "another")
    (run,) = stored(store)
    assert run.data.tags["recgauge.experiment.another"] == "true"
