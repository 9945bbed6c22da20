"""What `--json` prints is what the published schema says: every command, with classes and numbers, and nothing else."""

import hashlib
import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from bayesfloor import difficulty_report
from bayesfloor.cli.app import app
from bayesfloor.cli.schemas import schema_of
from report import sample_regression, sample_summary

from .conftest import problems_of

KINDS = [each["$ref"].removeprefix("#/$defs/") for each in schema_of()["oneOf"]]

#: A digest of what each version of a layout says. A change of a layout comes with a new version and a new line; a
#: version that was released stays.
PUBLISHED = {
    "report/1": "fa6b2057ab70",
    "floor/1": "3ed00115b932",
    "gap/1": "00543a4dd75e",
    "pairs/1": "5f1421485a7a",
    "classes/1": "f0edcb3bd8f0",
    "votes/1": "34809fd7b021",
    "tree/1": "ad39f5fd928b",
    "select/1": "2f34920e7df0",
    "compare/1": "b126b8075820",
    "weights/1": "f2b4a78ecd34",
    "drift/1": "ef691ccf053d",
    "fit/1": "b80fdd9671ce",
    "predict/1": "3cb43d3237ae",
    "datasets/1": "b8bd2236461c",
    "explain/1": "f2d2ed309e9a",
    "plan/1": "cb8a288c257b",
    "summary/1": "b7497b40b06d",
}


@pytest.fixture
def files(tmp_path, table):
    """Beside table.csv: visits of patients at sites, prices, costs."""
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.normal() + 2 * (i % 2):.3f},{rng.normal():.3f},{'ns'[i % 2]},p{i // 4},{2001 + i},{'yn'[i // 2 % 2]}"
        for i in range(80)
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["a,b,site,patient,day,ill", *lines]) + "\n")
    x = rng.normal(size=(80, 2))
    prices = [f"{a:.4f},{b:.4f},{100 + 20 * a + 5 * c:.3f}" for (a, b), c in zip(x, rng.normal(size=80), strict=True)]
    (tmp_path / "houses.csv").write_text("\n".join(["size,age,price", *prices]) + "\n")
    (tmp_path / "costs.csv").write_text("true,a,b,c,wait\na,0,1,5,1\nb,2,0,1,1\nc,1,1,0,1\n")
    return tmp_path


@pytest.mark.parametrize(
    "call",
    [
        "report table.csv --target-value 0.2 --costs costs.csv",
        "report visits.csv --target ill --by site --groups patient --metric roc_auc --metric log_loss",
        "report visits.csv --target ill --time day",
        "report houses.csv --target price --target-value 0.9",
        "floor visits.csv --target ill --by site --groups patient --metric f1",
        "floor visits.csv --target ill --time day --rows-for 0.001",
    ],
)
def test_output_is_as_published(run, files, few_learners, call):
    # `run` validates whatever is printed with --json, here and in all tests of commands
    outcome = run(f"{call} --json")
    assert outcome.code == 0, outcome.err
    kind = call.split()[0]
    assert json.loads(outcome.out)["schema"] == f"bayesfloor/{kind}/1"


def test_what_is_printed_is_validated(run, table, monkeypatch):
    monkeypatch.setattr("bayesfloor.cli.output.plain", lambda whole: whole | {"more": 1})
    with pytest.raises(AssertionError, match="'more' was unexpected"):
        run("datasets --json")


def test_every_command_with_json_has_a_schema():
    takes_json = {name for name in app if not name.startswith("-") and "--json" in _options(name)}
    assert takes_json == set(KINDS) - {"summary", "plan"}


def test_every_command_with_a_plan_is_in_its_schema():
    takes_dry_run = {name for name in app if not name.startswith("-") and "--dry-run" in _options(name)}
    assert takes_dry_run == set(schema_of("plan")["$defs"]["plan"]["properties"]["command"]["enum"])


def _options(name):
    return {option for argument in app[name].assemble_argument_collection() for option in argument.names}


def test_the_schemas_are_schemas(run):
    for kind in [None, *KINDS]:
        Draft202012Validator.check_schema(schema_of(kind))
    assert json.loads(run("schema pairs").out) == schema_of("pairs")
    assert json.loads(run("schema").out) == schema_of()
    outcome = run("schema pears")
    assert outcome.code == 2
    assert "'pears' prints no JSON; one of report, floor, gap, pairs" in outcome.err


SUMMARIES = {
    **{name: getattr(sample_summary, name)() for name in (
        "digits", "bare", "with_rare_class", "with_subgroups", "with_metrics", "with_costs", "with_gap"
    )},
    "long names": sample_summary.with_names(sample_summary.LONG),
    "houses": sample_regression.houses(),
    "shares": sample_regression.shares(),
    "numbers and a model": sample_regression.with_gap(),
}  # fmt: skip


@pytest.mark.parametrize("name", SUMMARIES)
def test_summaries_of_other_tests_are_as_published(name):
    assert problems_of(SUMMARIES[name], "summary") == []


def test_a_report_writes_what_is_published():
    X = np.random.default_rng(0).normal(size=(40, 2))
    report = difficulty_report(X, (X[:, 0] > 0).astype(int), fast=True)
    assert problems_of(json.loads(report.to_json()), "summary") == []


def shortened(value):
    """The same with one entry in each list of records."""
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict | list) and len(value) != 2:
        return [shortened(value[0])]
    return value


def spoilt(document):
    """Every way to leave out or add one field, or to make a number text; one that is misspelt is left out and added."""
    for key, value in document.items():
        rest = {name: each for name, each in document.items() if name != key}
        yield rest
        yield document | {f"{key}s": value}
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield document | {key: str(value)}
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict):
            for other in spoilt(first):
                yield document | {key: [other, *value[1:]] if isinstance(value, list) else other}


@pytest.mark.parametrize(("name", "layout"), [("everything", "summary_classes"), ("houses", "summary_numbers")])
def test_a_missing_or_misspelt_field_is_found(name, layout):
    parts = {part: SUMMARIES[f"with_{part}"][part] for part in ("subgroups", "costs", "gap")}
    parts["rare"] = SUMMARIES["with_rare_class"]["rare"]
    document = shortened(SUMMARIES["digits"] | parts if name == "everything" else SUMMARIES[name])
    schema = schema_of("summary")
    assert [each["$ref"] for each in schema["$defs"]["summary"]["anyOf"]].count(f"#/$defs/{layout}") == 1
    # by the one layout that it has: of both, all errors would be collected each time
    valid = Draft202012Validator(schema | {"$ref": f"#/$defs/{layout}"})
    assert valid.is_valid(document)
    changed = list(spoilt(document))
    assert len(changed) > 200
    assert [document for document in changed if valid.is_valid(document)] == []


def test_a_layout_keeps_its_version():
    told = {}
    for kind in KINDS:
        bundle = schema_of(kind)
        text = json.dumps(_without_prose(bundle["$defs"]), sort_keys=True)
        name = json.dumps(bundle["$defs"]).partition(f"bayesfloor/{kind}/")[2].partition('"')[0]
        told[f"{kind}/{name}"] = hashlib.sha256(text.encode()).hexdigest()[:12]
    assert told == PUBLISHED


def _without_prose(part):
    if isinstance(part, list):
        return [_without_prose(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {name: _without_prose(each) for name, each in part.items() if name != "description"}
