# Two commands do everything: `make demo` and `make test`. `make help` lists the rest.
# Needs Python >= 3.11 and pip, no compiler. Another interpreter: make demo PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BENCH_VENV := .venv-bench
DATA ?= ../shared/data
DOCS_VENV := .venv-docs
LOWEST_VENV := .venv-lowest
DIST_VENV := .venv-dist
ASV_VENV := .venv-asv
# to compile all packages to bytecode would take longer than to install them: .ci/compile_bytecode.py takes those needed
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --only-binary=:all: --no-compile
# Without bytecode each start of a command takes 2 s longer, and the suite has hundreds of them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test prepare suite test-all mutants browser test-bench test-slow test-bounds test-lowest coverage lint dist bench bench-history docs study venv clean

help:
	@echo 'make demo       set up .venv and report on the digits: on the terminal, and in digits-report.html'
	@echo 'make test       set up .venv with the test extras; ruff, mypy and the suite'
	@echo 'make test-all   what is not for every commit as well: slow tests, those of the benchmarks, mutants'
	@echo 'make mutants    which of 300 changes of the package, drawn at random, the tests find'
	@echo 'make test-bench  the tests of the scripts in benchmarks/, the paper'\''s study among them'
	@echo 'make test-slow  only the tests that take minutes or gigabytes'
	@echo 'make test-bounds  the whole suite with every index of compiled code checked, and tests of kernels by the interpreter'
	@echo 'make test-lowest  the whole suite on the lowest versions that pyproject.toml allows, in .venv-lowest'
	@echo 'make coverage   which lines the suite runs; htmlcov/index.html shows them'
	@echo 'make lint       ruff and mypy'
	@echo 'make dist       build wheel and sdist into dist/, check what is in them, and try each in an empty environment'
	@echo 'make bench      speed beside the peers, in .venv-bench, into benchmarks/results/'
	@echo 'make bench-history  ten timings of this commit, by asv, into benchmarks/asv/history/; COMMITS=a..b for others'
	@echo 'make docs       the pages of docs/, the gallery and the API reference as HTML, in .venv-docs'
	@echo 'make study      the paper'\''s study in small, a few minutes, into study/; data sets from ../shared/data or DATA=…'
	@echo 'make venv       only set up .venv, test extras included'
	@echo 'make clean      remove environments and caches'

demo: $(VENV)/installed
	@$(VENV)/bin/bayesfloor report digits --out digits-report.html

# Each step says how long it took.
define timed
	@began=$$(date +%s); $(MAKE) --no-print-directory $(1) || exit 1; echo "$(1): $$(($$(date +%s) - began)) s" >&2

endef

test:
	$(foreach step,venv browser lint prepare suite,$(call timed,$(step)))

# Machine code of kernels, and what the product says of six problems by its defaults: see tests/prepare.py.
prepare: $(VENV)/installed-test
	@$(VENV)/bin/python tests/prepare.py

suite: $(VENV)/installed-test
	$(VENV)/bin/python -m pytest

# What is not for every commit: nightly, and before a change of many rooms lands.
test-all: test test-slow test-bench mutants

# Which of 300 changes at random, and of the faults planted by hand, the tests find.
mutants: $(VENV)/installed-test
	$(VENV)/bin/python -m pytest -n 2 --cov --cov-context=test --cov-report= --junitxml=durations.xml
	$(VENV)/bin/python -m benchmarks.tools.mutants select
	$(VENV)/bin/python -m benchmarks.tools.mutants run
	$(VENV)/bin/python -m benchmarks.tools.mutants faults --out faults-found.jsonl

# The report is tested in a real browser. Where none can be installed its tests are skipped, and say so.
browser:
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo 'installing chromium for the tests of the report (once)' >&2; \
	  { apt-get -qq update && apt-get -qq install -y chromium chromium-driver; } >/dev/null 2>&1 || true; fi

test-bench: $(VENV)/installed-test
	$(VENV)/bin/python -m pytest benchmarks/tests -n 2

test-slow: $(VENV)/installed-test
	$(VENV)/bin/python -m pytest tests benchmarks/tests -m slow --timeout=3600

# Compiled code reads behind an array in silence. NUMBA_BOUNDSCHECK has it raise IndexError, from files of its own in the
# folder of kernels. The interpreter raises anyway, and NumPy looks at shapes and kinds of arrays there; it warns of the
# random numbers of kernels, which overflow by design.
BOUNDS_CACHE ?= $(CURDIR)/.kernel-cache-bounds
test-bounds: $(VENV)/installed-test
	NUMBA_DISABLE_JIT=1 $(VENV)/bin/python -m pytest -n 0 tests/kernels/learn -m interpreted \
	  -W 'ignore:overflow encountered:RuntimeWarning'
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(BOUNDS_CACHE) $(VENV)/bin/python -m pytest --timeout=900

# Old packages use what newer ones among them have deprecated. Whether we do, the newest versions show.
test-lowest: $(LOWEST_VENV)/installed
	$(LOWEST_VENV)/bin/python -m pytest -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning

coverage: $(VENV)/installed-test
	$(VENV)/bin/python -m pytest --cov --cov-report=html --cov-report=term

dist: $(DIST_VENV)/installed
	rm -rf dist
	$(DIST_VENV)/bin/python -m build --outdir dist
	$(DIST_VENV)/bin/python .ci/check_dist.py dist

lint: $(VENV)/installed-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check --quiet .
	$(VENV)/bin/mypy

bench: $(BENCH_VENV)/installed
	$(BENCH_VENV)/bin/python -m benchmarks.speed.forests

# A history is worth something on one quiet machine only, so that it is kept there and not in the repository.
COMMITS ?= HEAD^!
bench-history: $(ASV_VENV)/installed
	cd benchmarks/asv && ../../$(ASV_VENV)/bin/asv run --show-stderr $(COMMITS)
	cd benchmarks/asv && ../../$(ASV_VENV)/bin/asv publish

# -n names every reference that leads nowhere; -W fails the build on a warning, after all were shown; -E reads all pages
# anew, since a warning is not repeated for a page that has not changed.
docs: $(DOCS_VENV)/installed
	@$(DOCS_VENV)/bin/bayesfloor warmup --quiet # the gallery's pages show what its examples print on the terminal
	$(DOCS_VENV)/bin/python -m sphinx -b html -E -n -W --keep-going --quiet docs docs/_build/html
	@echo 'The pages are in docs/_build/html/index.html'

study: $(VENV)/installed-study
	$(VENV)/bin/python -m benchmarks.study run --profile quick --data $(DATA) --jobs -1 --out study
	@$(VENV)/bin/python -m benchmarks.study table study > study/tables.md
	@$(VENV)/bin/python -m benchmarks.study rank study > study/ranks.md
	$(VENV)/bin/python -m benchmarks.study figures study

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

$(BENCH_VENV)/created $(DOCS_VENV)/created $(LOWEST_VENV)/created $(DIST_VENV)/created $(ASV_VENV)/created:
	$(create_venv)

$(VENV)/installed: $(VENV)/created pyproject.toml
	@$(VENV)/bin/python $(PIP_INSTALL) --editable .
	@$(VENV)/bin/python .ci/compile_bytecode.py
	@touch $@

$(VENV)/installed-test: $(VENV)/created pyproject.toml
	@$(VENV)/bin/python $(PIP_INSTALL) --editable '.[test]'
	@$(VENV)/bin/python $(PIP_INSTALL) --editable '.[mlflow,skore]' || \
	  echo "MLflow and skore cannot be installed here: their tests will be skipped." >&2
	@$(VENV)/bin/python $(PIP_INSTALL) torch==2.13.0 || \
	  echo "PyTorch cannot be installed here: the tests of the GPU engine will be skipped." >&2
	@$(VENV)/bin/python .ci/compile_bytecode.py
	@touch $(VENV)/installed $@

# uv finds the lowest versions of what pyproject.toml names; --upgrade has it look again at what is installed already.
$(LOWEST_VENV)/installed: $(LOWEST_VENV)/created pyproject.toml
	@$(LOWEST_VENV)/bin/python $(PIP_INSTALL) uv
	@$(LOWEST_VENV)/bin/uv pip install --quiet --python $(LOWEST_VENV)/bin/python --upgrade --resolution lowest-direct \
	  --only-binary :all: --editable '.[test]'
	@touch $@

$(DIST_VENV)/installed: $(DIST_VENV)/created
	@$(DIST_VENV)/bin/python $(PIP_INSTALL) build
	@touch $@

# where there is no wheel of asv, pip builds it, and needs a compiler
$(ASV_VENV)/installed: $(ASV_VENV)/created
	@$(ASV_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --prefer-binary asv virtualenv
	@touch $@

$(VENV)/installed-study: $(VENV)/created pyproject.toml benchmarks/requirements/study.txt
	@$(VENV)/bin/python $(PIP_INSTALL) --editable . --requirement benchmarks/requirements/study.txt
	@touch $(VENV)/installed $@

$(BENCH_VENV)/installed: $(BENCH_VENV)/created pyproject.toml benchmarks/requirements/forests.txt
	@$(BENCH_VENV)/bin/python $(PIP_INSTALL) --editable . --requirement benchmarks/requirements/forests.txt
	@touch $@

$(DOCS_VENV)/installed: $(DOCS_VENV)/created pyproject.toml
	@$(DOCS_VENV)/bin/python $(PIP_INSTALL) --editable '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) $(BENCH_VENV) $(DOCS_VENV) $(LOWEST_VENV) $(DIST_VENV) $(ASV_VENV) benchmarks/asv/env
	rm -rf docs/_build docs/gallery docs/findings htmlcov .canonical .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	rm -rf $(BOUNDS_CACHE)
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
