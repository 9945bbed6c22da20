"""Reports: floors and what follows from them, made to be read.

A report is one list of sections. Each knows its data, its text and its HTML::

    X, y or a Table ── source ──── names for rows and columns
                         │
                         ├─────── figures       floors, the learned floor, the class tree: computed once;
                         │                      by `trust` again where leaks, groups or time spoil them
                         ├─────── verdict       trust, limit, next steps: decided once, for all sentences
                         │
                         ├─────── sections/     which there are, and one dict of plain values from all of them
                         │           │
                         │           ├── text       a terminal    difficulty_report(...).to_text()
                         │           │              Markdown      .to_markdown()
                         │           └── page/      HTML          .to_html(), and in notebooks
                         │
                         └─────── result        the dict as JSON  .to_json()
                                                MLflow            .log_to_mlflow(), by mlflow_run

Whether the target is a class or a number decides which figures are computed and which sections there are.
`difficulty` holds it all together with `difficulty_report`. It is not loaded with this room, because it needs all of
scikit-learn. ``README.md`` beside this file tells more.
"""
