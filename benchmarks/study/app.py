"""The commands of the study, with their options and help."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter
from cyclopts.validators import Number

_SHOW = Group("Showing", sort_key=3)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """What to show; the number of threads is not among them, because each cell is measured with one."""

    quiet: Annotated[
        bool, Parameter(group=_SHOW, negative="", show_default=False, help="Leave out notes and progress.")
    ] = False
    debug: Annotated[
        bool, Parameter(group=_SHOW, negative="", show_default=False, help="Show where an error comes from.")
    ] = False
    json: Annotated[bool, Parameter(group=_SHOW, negative="", show_default=False, help="Print one JSON object.")] = (
        False
    )


_DEFAULTS = ShowOptions()


def _examples(*commands: str) -> str:
    return "\n  ".join(["Examples:", *(f"python -m benchmarks.study {command}" for command in commands)]) + "\n"


study = App(
    name="python -m benchmarks.study",
    help="The paper's simulation study: run it, stop it, go on with it, and make its tables and pictures.",
    help_format="plaintext",
    version_flags=(),
    suppress_keyboard_interrupt=False,
    help_epilogue=_examples("run --profile quick --out study", "table study"),
)

Folder = Annotated[str, Parameter(name="FOLDER", help="What 'run' wrote to.")]


def _names(text: str) -> Parameter:
    return Parameter(help=text, consume_multiple=True, negative="", show_default=False)


@study.command(
    help_epilogue=_examples(
        "run --profile quick --data ../shared/data --jobs 2 --out study",
        "run --profile paper --datasets segment letter --methods SmartSVM OvO --out study",
        "run --methods sklearn.ensemble:RandomForestClassifier --out study",
    )
)
def run(
    *,
    out: Annotated[str, Parameter(help="Folder of the records; what is recorded there is not measured again.")],
    profile: Annotated[
        Literal["quick", "standard", "paper"],
        Parameter(help="4 small sets in minutes, all but fars in an hour or more, or everything as in the paper."),
    ] = "quick",
    datasets: Annotated[tuple[str, ...], _names("Data sets; those of the profile by default.")] = (),
    methods: Annotated[
        tuple[str, ...],
        _names(
            "Methods: C&S, DAG, GenSVM, GenSVM19, OvO, OvR, SmartSVM, SmartSVM+, Landmarks, or "
            "module:Class for any other classifier; those of the profile by default."
        ),
    ] = (),
    splits: Annotated[
        int | None, Parameter(help="How many splits of each set; as the profile by default.", validator=Number(gte=1))
    ] = None,
    first_split: Annotated[
        int,
        Parameter(
            help="Number of the first split: 5 for splits that the paper's five are not.", validator=Number(gte=0)
        ),
    ] = 0,
    jobs: Annotated[
        int, Parameter(help="Cells at a time, each with one thread; -1 for one per core.", validator=Number(gte=-1))
    ] = 1,
    cluster: Annotated[
        str | None, Parameter(help="Address of a Dask scheduler: measure on its workers, which need the data sets.")
    ] = None,
    budget_seconds: Annotated[
        float | None,
        Parameter(help="Give a cell up after so long, and record that it was.", validator=Number(gt=0)),
    ] = None,
    scale: Annotated[
        Literal["standard", "minmax"],
        Parameter(help="Scale features by the training part: to deviation 1, or to [-1, 1]."),
    ] = "standard",
    data: Annotated[str | None, Parameter(help="Folder of data sets; $BAYESFLOOR_DATA by default.")] = None,
    options: ShowOptions = _DEFAULTS,
) -> int:
    """Measure each method on each split of each data set, and record each as soon as it is measured.

    A run that was stopped goes on where it was. Seconds are those of one thread.
    """
    from benchmarks.study.run import run_study

    return run_study(
        out=out,
        profile=profile,
        datasets=datasets,
        methods=methods,
        splits=splits,
        first_split=first_split,
        jobs=jobs,
        cluster=cluster,
        budget_seconds=budget_seconds,
        scale=scale,
        data=data,
        options=options,
    )


Time = Annotated[
    Literal["cpu", "wall"],
    Parameter(help="Seconds of the processor, which other work on the machine barely disturbs, or of the clock."),
]
OnlySets = Annotated[tuple[str, ...], _names("Only these data sets.")]
OnlyMethods = Annotated[tuple[str, ...], _names("Only these methods.")]


@study.command(help_epilogue=_examples("table study", "table study --format latex"))
def table(
    folder: Folder,
    /,
    *,
    format: Annotated[Literal["markdown", "csv", "latex"], Parameter(help="How to show them on stdout.")] = "markdown",
    datasets: OnlySets = (),
    methods: OnlyMethods = (),
    time: Time = "cpu",
    options: ShowOptions = _DEFAULTS,
) -> None:
    """Make the paper's Tables 1 to 4 from records, ours beside the paper's.

    They are written to FOLDER/tables as Markdown, CSV and LaTeX.
    """
    from benchmarks.study.show import show_tables

    show_tables(folder, options, form=format, time=time, datasets=datasets, methods=methods)


@study.command(help_epilogue=_examples("rank study", "rank study --methods OvO OvR SmartSVM"))
def rank(
    folder: Folder,
    /,
    *,
    datasets: OnlySets = (),
    methods: OnlyMethods = (),
    time: Time = "cpu",
    options: ShowOptions = _DEFAULTS,
) -> None:
    """Rank the methods over data sets, with critical differences and paired tests.

    Only data sets count on which all methods have results for all splits. They are
    written to FOLDER/tables.
    """
    from benchmarks.study.show import show_ranks

    show_ranks(folder, options, time=time, datasets=datasets, methods=methods)


@study.command(help_epilogue=_examples("figures study"))
def figures(
    folder: Folder,
    /,
    *,
    datasets: OnlySets = (),
    methods: OnlyMethods = (),
    time: Time = "cpu",
    options: ShowOptions = _DEFAULTS,
) -> None:
    """Draw rank plots and other pictures from records, into FOLDER/figures."""
    from benchmarks.study.show import draw_figures

    draw_figures(folder, options, time=time, datasets=datasets, methods=methods)
