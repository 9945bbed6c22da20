"""Carry out ``table``, ``rank`` and ``figures``: everything from records."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.output import say, write, write_json
from bayesfloor.runtime.files import write_whole
from benchmarks.study.app import ShowOptions
from benchmarks.study.comparison import describe_comparison, notable_differences, tally
from benchmarks.study.plan import unknown
from benchmarks.study.rank_report import ranking_to_markdown, rankings_to_csv
from benchmarks.study.ranks import Ranking, all_rankings
from benchmarks.study.records import read_records, records_file
from benchmarks.study.summary import STAND_INS, Summary, summarise
from benchmarks.study.table_formats import FORMATS, format_sheet
from benchmarks.study.tables import Sheet, make_sheets

_ENDINGS = {"markdown": "md", "csv": "csv", "latex": "tex"}


def show_tables(folder: str, options: ShowOptions, *, form: str, time: str, **chosen: Sequence[str]) -> None:
    """Write Tables 1 to 4 in all formats, and show them in one."""
    summary = _summary(folder, options, time, **chosen)
    sheets = make_sheets(summary)
    inner = _inner(folder, "tables")
    for sheet in sheets:
        for ending in FORMATS:
            write_whole(inner / f"{sheet.name}.{ending}", format_sheet(sheet, ending).encode())
    comparison = describe_comparison(summary)
    write_whole(inner / "comparison.md", comparison.encode())
    if options.json:
        result = {
            "tables": [_plain_sheet(sheet) for sheet in sheets],
            "tally": [asdict(each) for each in tally(summary)],
            "far_from_the_paper": [asdict(each) for each in notable_differences(summary)],
        }
        write_json("table", result)
    else:
        ending = _ENDINGS[form]
        write("\n".join([format_sheet(sheet, ending) for sheet in sheets] + [comparison] * (ending == "md")).rstrip())
    say(f"written to {inner}", quiet=options.quiet)


def show_ranks(folder: str, options: ShowOptions, *, time: str, **chosen: Sequence[str]) -> None:
    """Write and show average ranks and tests."""
    summary = _summary(folder, options, time, **chosen)
    rankings = all_rankings(summary, chosen.get("datasets") or None)
    if not rankings:
        raise ValueError("ranks need two data sets on which two methods have results for all splits")
    inner = _inner(folder, "tables")
    text = "\n".join(map(ranking_to_markdown, rankings))
    write_whole(inner / "ranks.md", text.encode())
    write_whole(inner / "ranks.csv", rankings_to_csv(rankings).encode())
    if options.json:
        write_json("rank", {"rankings": [_plain_ranking(each) for each in rankings]})
    else:
        write(text.rstrip())
    say(f"written to {inner}", quiet=options.quiet)


def draw_figures(folder: str, options: ShowOptions, *, time: str, **chosen: Sequence[str]) -> None:
    """Draw all pictures, and write a page of them."""
    from benchmarks.study.figures import draw_all
    from benchmarks.study.gallery import write_gallery

    summary = _summary(folder, options, time, **chosen)
    inner = _inner(folder, "figures")
    drawn = draw_all(summary, inner, datasets=chosen.get("datasets", ()))
    page = write_gallery(inner, drawn)
    if options.json:
        write_json("figures", {"figures": [{"file": name, "title": title} for name, title in drawn]})
    else:
        write("\n".join(str(inner / name) for name, _ in drawn) + f"\n{page}")


def _summary(
    folder: str, options: ShowOptions, time: str, *, datasets: Sequence[str] = (), methods: Sequence[str] = ()
) -> Summary:
    place = Path(folder)
    if not records_file(place).is_file():
        raise UsageError(f"{folder!r} has no records; 'python -m benchmarks.study run --out {folder}' makes them")
    records, complaints = read_records(place)
    for complaint in complaints:
        say(f"{complaint}; it is left out, and 'run' measures it again")
    known_sets, known_methods = ({getattr(each.cell, name) for each in records} for name in ("dataset", "method"))
    for kind, names, known in (("record of", datasets, known_sets), ("record of", methods, known_methods)):
        for name in names:
            if name not in known:
                raise UsageError(unknown(kind, name, sorted(known)))
    wanted = {*methods, *(STAND_INS[name] for name in methods if name in STAND_INS)}
    kept = [
        each
        for each in records
        if (not datasets or each.cell.dataset in datasets) and (not methods or each.cell.method in wanted)
    ]
    if not kept:
        raise UsageError(f"{folder!r} has no records yet")
    return summarise(kept, time=time)


def _inner(folder: str, name: str) -> Path:
    inner = Path(folder) / name
    inner.mkdir(exist_ok=True)
    return inner


def _plain_sheet(sheet: Sheet) -> dict[str, Any]:
    rows = [
        {
            "name": name,
            **{
                heading: {
                    "ours": place.ours.text,
                    "paper": place.paper.text if place.paper else None,
                    "best": place.ours.best,
                    "mark": place.ours.mark,
                }
                for heading, place in zip(sheet.headings[1:], places, strict=True)
            },
        }
        for name, places in sheet.rows
    ]
    return {"name": sheet.name, "title": sheet.title, "rows": rows, "notes": sheet.notes}


def _plain_ranking(ranking: Ranking) -> dict[str, Any]:
    return {
        "measure": ranking.measure,
        "datasets": ranking.datasets,
        "average_ranks": dict(zip(ranking.methods, ranking.average.tolist(), strict=True)),
        "critical_difference": ranking.critical_difference,
        "friedman_p": ranking.friedman_p,
        "tests": [asdict(test) for test in ranking.tests],
    }
