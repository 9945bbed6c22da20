"""A report in MLflow: figures as metrics, what it is on as parameters, words as tags, files as artifacts."""

from typing import Any

from bayesfloor.runtime.text import shortened

#: Letters of a parameter and of a tag, at the most; MLflow refuses longer ones than 6000 and 8000.
_LONGEST_PARAMETER, _LONGEST_TAG = 250, 5000
#: Keys of the summary's data that become parameters.
_OF_DATA = ("source", "target", "n_rows", "n_samples", "n_features", "n_classes")


def log_report(summary: dict[str, Any], files: dict[str, str], prefix: str) -> str:
    """Write a report to the active run of MLflow, or to a new one that is ended again.

    Parameters
    ----------
    summary : dict
        What the report shows.
    files : dict of str to str
        Artifacts: the text of each by its name.
    prefix : str
        What metrics, parameters and tags begin with, and the folder of the artifacts.

    Returns
    -------
    str
        The id of the run.

    Raises
    ------
    ImportError
        Without MLflow.
    """
    try:
        import mlflow
    except ImportError as error:
        raise ImportError("log_to_mlflow() needs MLflow: pip install 'bayesfloor[mlflow]'", name="mlflow") from error
    active = mlflow.active_run()
    if active is None:
        with mlflow.start_run(run_name=shortened(summary["title"], _LONGEST_PARAMETER)) as started:
            return _log(mlflow, started, summary, files, prefix)
    return _log(mlflow, active, summary, files, prefix)


def _log(mlflow: Any, run: Any, summary: dict[str, Any], files: dict[str, str], prefix: str) -> str:
    mlflow.log_params({f"{prefix}/{name}": value for name, value in parameters_of(summary).items()})
    mlflow.log_metrics({f"{prefix}/{name}": value for name, value in metrics_of(summary).items()})
    mlflow.set_tags({f"{prefix}.{name}": value for name, value in tags_of(summary).items()})
    for name, text in files.items():
        mlflow.log_text(text, f"{prefix}/{name}")
    return str(run.info.run_id)


def metrics_of(summary: dict[str, Any]) -> dict[str, float]:
    """Return the figures of a report by name: "error/estimate", "roc_auc/reached"."""
    figures: dict[str, Any] = {"n_findings": len(summary["findings"]), "seconds": summary["seconds"]}
    for each in summary["metrics"]:
        values = {"reached": "value", "reached_low": "low", "reached_high": "high"}
        known = {name: each[name] for name in ("estimate", "low", "high", "baseline")}
        known |= {name: each["reached"][key] for name, key in values.items()}
        figures |= {f"{each['metric']}/{name}": value for name, value in known.items()}
    if (fast := summary["fast_model"]) is not None:
        figures |= {f"{each['metric']}/fast_model": each["value"] for each in fast["metrics"]}
    if (gap := summary.get("gap")) is not None:
        figures |= {"gap/value": gap["figures"][0]["value"], "gap/p_value": gap["p_value"]}
        figures |= {f"gap/{name}": gap[name]["value"] for name in ("sure", "possible")}
    if (noise := summary.get("noise")) is not None:
        figures["noise/sd"] = noise["sd"]
    return {name: float(value) for name, value in figures.items() if value is not None}


def parameters_of(summary: dict[str, Any]) -> dict[str, str]:
    """Return what a report is on, and how its headline was made."""
    known = {name: summary["data"].get(name) for name in _OF_DATA} | {"task": summary["task"]}
    known |= {name: summary["floor"][name] for name in ("metric", "method", "confidence")}
    return {name: shortened(value, _LONGEST_PARAMETER) for name, value in known.items() if value is not None}


def tags_of(summary: dict[str, Any]) -> dict[str, str]:
    """Return the answer in words, whether to trust it, the verdict on a target, and the codes of the findings."""
    tags = {
        "answer": " ".join(summary["answer"]),
        "trust": summary["verdict"]["trust"],
        "findings": " ".join(each["code"] for each in summary["findings"]),
        "schema": summary["schema"],
        "version": summary["version"],
    }
    if summary["goal"] is not None:
        tags["goal"] = summary["goal"]["verdict"]
    return {name: shortened(value, _LONGEST_TAG) for name, value in tags.items()}
