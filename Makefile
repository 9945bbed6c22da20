# Two commands do everything: `make demo` and `make test`. `make help` lists the rest.
# Needs Python >= 3.11 and pip, no compiler. Another interpreter: make demo PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BENCH_VENV := .venv-bench
FLOOR_VENV := .venv-floor
DATA ?= ../shared/data
DOCS_VENV := .venv-docs
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --only-binary=:all:

.DEFAULT_GOAL := help
.PHONY: help demo test browser test-slow lint bench bench-floor docs study venv clean

help:
	@echo 'make demo       set up .venv and report on the digits: on the terminal, and in digits-report.html'
	@echo 'make test       set up .venv with the test extras; ruff, mypy and the whole suite'
	@echo 'make test-slow  only the tests that take minutes or gigabytes'
	@echo 'make lint       ruff and mypy'
	@echo 'make bench      speed beside the peers, in .venv-bench, into benchmarks/results/'
	@echo 'make bench-floor  all floors beside dataeval, in .venv-floor, into benchmarks/results/'
	@echo 'make docs       the pages of docs/ and the API reference as HTML, in .venv-docs'
	@echo 'make study      the paper'\''s study in small, a few minutes, into study/; data sets from ../shared/data or DATA=…'
	@echo 'make venv       only set up .venv, test extras included'
	@echo 'make clean      remove environments and caches'

demo: $(VENV)/installed
	@$(VENV)/bin/bayesfloor report digits --out digits-report.html

test: lint browser
	$(VENV)/bin/python -m pytest

# The report is tested in a real browser. Where none can be installed its tests are skipped, and say so.
browser:
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo 'installing chromium for the tests of the report (once)' >&2; \
	  { apt-get -qq update && apt-get -qq install -y chromium chromium-driver; } >/dev/null 2>&1 || true; fi

test-slow: $(VENV)/installed-test
	$(VENV)/bin/python -m pytest -m slow --timeout=3600

lint: $(VENV)/installed-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

bench: $(BENCH_VENV)/installed
	$(BENCH_VENV)/bin/python benchmarks/forests.py

bench-floor: $(FLOOR_VENV)/installed
	$(FLOOR_VENV)/bin/python benchmarks/floor.py

# -n names every reference that leads nowhere; -W fails the build on a warning, after all were shown; -E reads all pages
# anew, since a warning is not repeated for a page that has not changed.
docs: $(DOCS_VENV)/installed
	$(DOCS_VENV)/bin/python -m sphinx -b html -E -n -W --keep-going --quiet docs docs/_build/html
	@echo 'The pages are in docs/_build/html/index.html'

study: $(VENV)/installed-study
	$(VENV)/bin/python benchmarks/study run --profile quick --data $(DATA) --jobs -1 --out study
	@$(VENV)/bin/python benchmarks/study table study > study/tables.md
	@$(VENV)/bin/python benchmarks/study rank study > study/ranks.md
	$(VENV)/bin/python benchmarks/study figures study

venv: $(VENV)/installed-test

# Each environment has one stamp per install step, so that a second run starts at once and a
# changed pyproject.toml installs again.

define create_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "bayesfloor needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one, for example: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "setting up $(@D) (once)" >&2
	@$(PYTHON) -m venv $(@D)
	@touch $@
endef

$(VENV)/created:
	$(create_venv)

$(BENCH_VENV)/created $(FLOOR_VENV)/created $(DOCS_VENV)/created:
	$(create_venv)

$(VENV)/installed: $(VENV)/created pyproject.toml
	@$(VENV)/bin/python $(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/installed-test: $(VENV)/created pyproject.toml
	@$(VENV)/bin/python $(PIP_INSTALL) --editable '.[test]'
	@$(VENV)/bin/python $(PIP_INSTALL) torch==2.13.0 || \
	  echo "PyTorch cannot be installed here: the tests of the GPU engine will be skipped." >&2
	@touch $(VENV)/installed $@

$(VENV)/installed-study: $(VENV)/created pyproject.toml benchmarks/requirements-study.txt
	@$(VENV)/bin/python $(PIP_INSTALL) --editable . --requirement benchmarks/requirements-study.txt
	@touch $(VENV)/installed $@

$(BENCH_VENV)/installed: $(BENCH_VENV)/created pyproject.toml benchmarks/requirements.txt
	@$(BENCH_VENV)/bin/python $(PIP_INSTALL) --editable . --requirement benchmarks/requirements.txt
	@touch $@

$(FLOOR_VENV)/installed: $(FLOOR_VENV)/created pyproject.toml benchmarks/requirements-floor.txt
	@$(FLOOR_VENV)/bin/python $(PIP_INSTALL) --editable . --requirement benchmarks/requirements-floor.txt
	@touch $@

$(DOCS_VENV)/installed: $(DOCS_VENV)/created pyproject.toml
	@$(DOCS_VENV)/bin/python $(PIP_INSTALL) --editable '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) $(BENCH_VENV) $(FLOOR_VENV) $(DOCS_VENV) docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
