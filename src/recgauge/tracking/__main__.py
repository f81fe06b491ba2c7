"""Delivers the folders that standard input names; a question and its answer are a line of JSON each."""

import gc
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from recgauge import tracking
from recgauge.errors import RecgaugeError, said
from recgauge.tracking.store import Store, open_store

TAKE_LONG = (
    "mlflow.store.tracking.sqlalchemy_store",
    "recgauge.tracking.delivering",
    "recgauge.tracking.pages",
    "recgauge.report.figures.metrics",
)


def _answer(request: str, settings: dict[str, Any], *arguments: str) -> dict[str, Any]:
    store = Store(**settings)
    if request == "open":
        open_store(store)
        return {}
    if request == "address":
        return {"address": tracking.address(store, *arguments)}
    run_id = tracking.deliver(Path(*arguments), store)
    return {"run_id": run_id, "address": tracking.run_address(store, run_id)}


def _draw(line: str, answer: dict[str, Any]) -> None:
    """Add the figure of a run that has been delivered; none is no reason to fail."""
    request, settings, *arguments = json.loads(line)
    if request == "deliver" and "run_id" in answer:
        with suppress(Exception):
            tracking.draw_metrics(Path(*arguments), Store(**settings), answer["run_id"])


def main() -> None:
    """Answer until the input ends; Ctrl-C is for the program that asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints is no answer
    gc.disable()  # until all is imported, which stays
    for module in TAKE_LONG:  # before the first question
        with suppress(ImportError):
            import_module(module)
    gc.freeze()
    gc.enable()
    figures = ThreadPoolExecutor(1, "figures")  # no answer waits for them
    for line in sys.stdin:
        try:
            answer = _answer(*json.loads(line))
        except RecgaugeError as error:
            answer = {"error": type(error).__name__, "message": str(error)}
        except Exception as error:
            answer = {"error": "TrackingError", "message": f"{type(error).__name__}: {said(error)}"}
        with suppress(BrokenPipeError):  # who asked has died: the folder is delivered all the same
            print(json.dumps(answer), file=answers, flush=True)
        figures.submit(_draw, line, answer)
    figures.shutdown()


if __name__ == "__main__":
    main()
    os._exit(0)  # nothing is open: taking down all that MLflow has imported costs as much as a delivery
