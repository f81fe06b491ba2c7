"""Ranked lists evaluated by MLflow, with recgauge as its evaluator: `python examples/mlflow_evaluate.py`."""

import mlflow
import pandas as pd

data = pd.DataFrame(
    {
        "user": ["ann", "bob", "cid", "dan"],
        "items": [
            ["dune", "heat", "big"],
            ["heat", "tron", "dune"],
            ["tron", "big", "jaws"],
            ["jaws", "dune"],
        ],
        "relevant": [["heat"], ["heat", "dune"], ["big"], ["tron", "jaws"]],
    }
)
mlflow.set_tracking_uri("sqlite:///mlflow.db")
result = mlflow.models.evaluate(
    data=data,
    predictions="items",
    targets="relevant",
    model_type="ranker",
    evaluators="recgauge",
    evaluator_config={"metrics": ["ndcg", "recall"], "cutoffs": [3]},
)
print(result.metrics["ndcg_at_3"], result.metrics["ndcg_at_3_low"], result.metrics["ndcg_at_3_high"])
print(result.artifacts["per_user"].content)
