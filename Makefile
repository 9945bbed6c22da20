# Two commands do everything: `make demo` and `make test`. `make help` lists the rest.
# Needs Python >= 3.11 and pip, no compiler. Another interpreter: make demo PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BENCH_VENV := .venv-bench
FLOOR_VENV := .venv-floor
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --only-binary=:all:

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint bench bench-floor venv clean

help:
	@echo 'make demo       set up .venv and count cross edges in the forests of the digits'
	@echo 'make test       set up .venv with the test extras; ruff, mypy and the whole suite'
	@echo 'make test-slow  only the tests that take minutes or gigabytes'
	@echo 'make lint       ruff and mypy'
	@echo 'make bench      speed beside the peers, in .venv-bench, into benchmarks/results/'
	@echo 'make bench-floor  all floors beside dataeval, in .venv-floor, into benchmarks/results/'
	@echo 'make venv       only set up .venv, test extras included'
	@echo 'make clean      remove environments, caches and compiled kernels'

demo: $(VENV)/installed
	@$(VENV)/bin/python examples/digits.py

test: lint
	$(VENV)/bin/python -m pytest

test-slow: $(VENV)/installed-test
	$(VENV)/bin/python -m pytest -m slow --timeout=3600

lint: $(VENV)/installed-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

bench: $(BENCH_VENV)/installed
	$(BENCH_VENV)/bin/python benchmarks/forests.py

bench-floor: $(FLOOR_VENV)/installed
	$(FLOOR_VENV)/bin/python benchmarks/floor.py

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

$(BENCH_VENV)/created $(FLOOR_VENV)/created:
	$(create_venv)

$(VENV)/installed: $(VENV)/created pyproject.toml
	@$(VENV)/bin/python $(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/installed-test: $(VENV)/created pyproject.toml
	@$(VENV)/bin/python $(PIP_INSTALL) --editable '.[test]'
	@touch $(VENV)/installed $@

$(BENCH_VENV)/installed: $(BENCH_VENV)/created pyproject.toml benchmarks/requirements.txt
	@$(BENCH_VENV)/bin/python $(PIP_INSTALL) --editable . --requirement benchmarks/requirements.txt
	@touch $@

$(FLOOR_VENV)/installed: $(FLOOR_VENV)/created pyproject.toml benchmarks/requirements-floor.txt
	@$(FLOOR_VENV)/bin/python $(PIP_INSTALL) --editable . --requirement benchmarks/requirements-floor.txt
	@touch $@

clean:
	rm -rf $(VENV) $(BENCH_VENV) $(FLOOR_VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
