"""Reports and pictures: floors and what follows from them, made to be read.

A report is one plain dict in the middle, and a renderer for each thing it is shown on::

    X, y or a Table ── source ──── names for rows and columns
                         │
                         ├─────── figures       floors, the learned floor, the class tree, look_alikes: computed once
                         │
                         ├─────── summary       one dict of plain values, with `sentences` that are true
                         │
                         ├─────── terminal      text          difficulty_report(...).to_text()
                         ├─────── markdown      Markdown      .to_markdown()
                         ├─────── page          HTML          .to_html(), and in notebooks
                         └─────── (json)        JSON          .to_json()

`difficulty` holds both; it is not loaded with this room, because it needs all of scikit-learn.
"""
