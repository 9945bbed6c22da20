"""The registry of metrics: names, and what is meant by names that are not in it."""

from bayesfloor.data.metrics import CLASS_METRICS, METRICS, NUMBER_METRICS, close_metric, is_metric, unknown_metric
from bayesfloor.runtime.checks import ParameterError

MEANT = {
    "auc": "roc_auc",
    "ROC-AUC": "roc_auc",
    "roc_acu": "roc_auc",
    "logloss": "log_loss",
    "neg_log_loss": "log_loss",
    "accuracy": "error",
    "acuracy": "error",
    "balanced_accuracy": "balanced_error",
    "F1_score": "f1",
    "f1_macro": "f1",
    "brier_score": "brier",
    "avg_precision": "average_precision",
    "top_5_accuracy": "top_k_error",
    "rmes": "rmse",
    "mse": "rmse",
    "neg_root_mean_squared_error": "rmse",
    "MAE": "mae",
    "R²": "r2",
    "R2 score": "r2",
    "silhouette": None,
    "": None,
    "x": None,
}


def test_what_is_meant():
    assert {name: close_metric(name) for name in MEANT} == MEANT
    for name, meant in MEANT.items():
        error = str(unknown_metric(name, CLASS_METRICS, ", or several"))
        assert error.endswith("instead." if meant is None else f"Did you mean {meant!r}?")


def test_a_metric_is_nearest_to_itself():
    assert all(is_metric(name) for name in METRICS)
    assert {name: close_metric(name) for name in METRICS} == {name: name for name in METRICS}


def test_a_metric_of_the_other_task_is_no_typing_error():
    assert str(unknown_metric("rmse", CLASS_METRICS)).endswith("Got 'rmse' instead. 'rmse' is for numbers.")
    assert str(unknown_metric("top_3_error", NUMBER_METRICS)).endswith("'top_3_error' is for classes.")
    assert isinstance(unknown_metric(3, CLASS_METRICS), ParameterError)
    assert not is_metric("top_many_error")
