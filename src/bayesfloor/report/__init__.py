"""Reports: floors and what follows from them, made to be read.

A report is one plain dict in the middle, and a renderer for each thing it is shown on::

    X, y or a Table ── source ──── names for rows and columns
                         │
                         ├─────── figures       floors, the learned floor, the class tree, look_alikes: computed once
                         │
                         ├─────── summary       one dict of plain values, with `sentences` that are true
                         │
                         ├─────── text          a terminal    difficulty_report(...).to_text()
                         │                      Markdown      .to_markdown()
                         ├─────── page/         HTML          .to_html(), and in notebooks
                         ├─────── (json)        JSON          .to_json()
                         └─────── mlflow_run    MLflow        .log_to_mlflow()

Where the target is a number, the files that begin with ``regression`` take the place of those for classes.
`difficulty` holds it all together: `difficulty_report` and what it returns. It is not loaded with this room, because it
needs all of scikit-learn. ``README.md`` beside this file tells more.
"""
