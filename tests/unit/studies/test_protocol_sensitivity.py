"""What the page says of runs that are missing; all else that it says is that of the committed results."""

from recgauge.experiments.protocol_sensitivity.study import ProtocolSensitivity


def row(dataset, choice, option, model, value, reason=""):
    about = {"dataset": dataset, "choice": choice, "option": option, "n_users": "50", "model": model}
    return about | {"value": value, "higher_is_better": "true", "surely_below": "", "reason": reason}


def test_the_page_tells_what_is_missing():
    rows = [row("ml_1m", "seed", seed, model, "0.4") for seed in "01" for model in ("svd", "ease")]
    page = ProtocolSensitivity("protocol_sensitivity").markdown(
        [*rows, row("ml_1m", "", "", "bpr", "", "killed")]
    )
    assert "- open: ml_1m: bpr: killed" in page
