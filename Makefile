# `make` shows what there is; `make run` and `make test` need nothing but Python >= 3.11 and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEPENDENCIES := --constraint constraints.txt --editable ".[dev]"
NUMBERS := src tests/golden tests/unit/test_demo.py tests/unit/test_data_card.py tests/e2e/test_readme.py
UV ?= $(shell command -v uv)
SIDE_BY_SIDE := -n 2 --dist loadfile
PYTHONS ?= python3.11 python3.12 python3.13
PEERS ?= $(wildcard .venv-peers/bin/python)
TRAINING_PEERS ?= $(wildcard $(VENV)-differential-models/bin/python)

.DEFAULT_GOAL := help

same-python:
	@test "$(origin PYTHON)" = file || ! test -x $(BIN)/python || test "$$($(BIN)/python -V)" = "$$($(PYTHON) -V)" || \
	  { echo "$(VENV) holds another Python than $(PYTHON). Give this one a folder of its own: VENV=.venv-other"; exit 1; }

$(INSTALLED): pyproject.toml constraints.txt | same-python
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "recgauge needs Python >= 3.11: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@uv="$(UV)"; test -n "$$uv" || { echo "fetching uv, which installs fast"; \
	  $(BIN)/python -m pip install --quiet uv && uv=$(BIN)/uv; }; \
	echo "installing recgauge and its dependencies into $(VENV) with $${uv:-pip}: about half a minute, 2 minutes with pip"; \
	{ test -n "$$uv" && $$uv pip install --compile-bytecode --python $(BIN)/python $(DEPENDENCIES); } || \
	  { echo "with pip now:"; $(BIN)/python -m pip install $(DEPENDENCIES); }
	@touch $@

install: $(INSTALLED)  ## make .venv with everything that running and testing need

run: install  ## train and evaluate svd on the demo data set; ARGS="model=popularity" changes it
	$(BIN)/python run.py $(ARGS)

test: install  ## run the default tests; ARGS="-k ndcg" chooses some
	$(BIN)/python -m pytest -m "not slow" $(SIDE_BY_SIDE) $(ARGS)

test-plain-cpu: install  ## run what holds numbers (README, demo, golden, doctests) as on a processor without vector code
	NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4" OPENBLAS_CORETYPE=Haswell NUMBA_CPU_NAME=generic \
	  $(BIN)/python -m pytest -m "not slow" $(SIDE_BY_SIDE) $(NUMBERS) $(ARGS)

test-pythons:  ## run the default tests on each of PYTHONS="python3.11 python3.12 python3.13"
	set -e; for python in $(PYTHONS); do \
	  version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  $(MAKE) test PYTHON=$$python VENV=$(VENV)-$$version; done

test-lowest:  ## run the default tests with the oldest versions of libraries that pyproject.toml allows
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 13))' || \
	  { echo "The oldest versions have no wheels for Python >= 3.13: make test-lowest PYTHON=python3.11"; exit 1; }
	test -x $(VENV)-lowest/bin/pip || $(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet --constraint constraints-lowest.txt --editable ".[test]"
	NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)-lowest/numba $(VENV)-lowest/bin/python -m pytest -m "not slow" \
	  $(SIDE_BY_SIDE) -W ignore::DeprecationWarning $(ARGS)

test-slow: install  ## run the slow tests
	$(BIN)/python -m pytest -m "slow and not isolated and not server and not clusters" $(SIDE_BY_SIDE) $(ARGS)

server-tests: install  ## take MLflow servers and a PostgreSQL of their own away in the middle of sweeps (half an hour)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[server]"
	$(BIN)/python -m pytest -m server $(ARGS)

isolated: install  ## install RecBole, LensKit and RecTools in environments of their own (minutes, up to 12 GB) and test them
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[isolated]"
	RECGAUGE_REQUIRE_PEERS=1 $(BIN)/python -m pytest -m isolated $(ARGS)

clusters: $(VENV)-clusters/.installed  ## run sweeps and judge lists on a Ray of two nodes, on Dask and Spark and, where Debian's slurm-wlm and munge are, on a Slurm
	$(<D)/bin/python -m pytest -m clusters tests/clusters tests/e2e/test_pages.py -p no:cacheprovider $(ARGS)

$(VENV)-clusters/.installed: pyproject.toml constraints.txt
	test -x $(@D)/bin/pip || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt --editable ".[test,ray,slurm,dask,spark]"
	@touch $@

differential: differential-metrics differential-models differential-export  ## compare metrics, models, statistics and exported files live with other libraries

differential-metrics: PEER_TESTS := tests/differential/test_fuzz.py
differential-metrics: export RECGAUGE_FUZZ_CASES ?= 300
differential-models: PEER_TESTS := $(wildcard tests/differential/test_models_*.py) tests/differential/test_comparison.py \
  tests/contracts/test_adapters.py 'tests/e2e/test_pages.py::test_a_page_does_what_it_says[models]'
differential-metrics differential-models: differential-%: $(VENV)-differential-%/.installed
	RECGAUGE_REQUIRE_PEERS=1 $(<D)/bin/python -m pytest $(PEER_TESTS) -p no:cacheprovider $(ARGS)

differential-export: $(VENV)-differential-metrics/.installed  ## evaluate exported files with ranx, trec_eval, RecTools and RecBole
	RECGAUGE_REQUIRE_PEERS=1 $(<D)/bin/python -m pytest tests/differential/test_export.py -p no:cacheprovider $(ARGS)

$(VENV)-differential-%/.installed: pyproject.toml
	test -x $(@D)/bin/pip || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --editable ".[differential-$*]"
	@touch $@

docs: $(VENV)/.docs  ## write the generated pages of docs/ and build the site: build/site/index.html
	$(BIN)/python docs/generators
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs auto -c docs -d build/doctrees . build/site
	@echo "the site: build/site/index.html"

$(VENV)/.docs: $(INSTALLED)
	@$(if $(UV),$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python,$(BIN)/python -m pip install --quiet) \
	  --constraint constraints.txt --editable ".[docs]"
	@touch $@

lint: install  ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install  ## check types
	$(BIN)/mypy

check: lint types test  ## all that must pass before a commit

bench: install  ## measure every hot path beside its peers (half an hour), see benchmarks/README.md
	$(BIN)/python benchmarks/topk.py
	$(BIN)/python benchmarks/item_weights.py
	$(BIN)/python benchmarks/evaluate.py --peers "$(PEERS)"
	$(BIN)/python benchmarks/metrics.py --peers "$(PEERS)"
	$(BIN)/python benchmarks/recorded_lists.py --peers "$(PEERS)"
	$(BIN)/python benchmarks/load.py --peers "$(PEERS)"
	$(BIN)/python benchmarks/largest_stages.py
	$(BIN)/python benchmarks/training.py --peers "$(TRAINING_PEERS)"
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/list_files.py
	$(BIN)/python benchmarks/comparison.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/tables.py

bench-quick: install  ## the same with fewer users, under two minutes
	$(BIN)/python benchmarks/topk.py --quick
	$(BIN)/python benchmarks/item_weights.py --quick
	$(BIN)/python benchmarks/evaluate.py --quick --peers "$(PEERS)"
	$(BIN)/python benchmarks/metrics.py --quick --peers "$(PEERS)"
	$(BIN)/python benchmarks/recorded_lists.py --quick --peers "$(PEERS)"
	$(BIN)/python benchmarks/load.py --quick --peers "$(PEERS)"
	$(BIN)/python benchmarks/list_files.py --quick
	$(BIN)/python benchmarks/comparison.py --quick

experiments: install  ## run all experiments whose data and libraries are there; again, it does only what is missing
	$(BIN)/recgauge experiments --run

ui: install  ## open the tracked results: prints the address, Ctrl-C stops
	$(BIN)/recgauge ui

clean:  ## remove the environment, caches and outputs; tracked results stay
	rm -rf $(VENV) $(VENV)-clusters $(VENV)-differential-* $(VENV)-lowest $(VENV)-3.* build dist outputs .pytest_cache .mypy_cache .ruff_cache .hypothesis htmlcov .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## show this
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: same-python install run test test-plain-cpu test-pythons test-lowest test-slow server-tests isolated clusters differential
.PHONY: differential-metrics differential-models differential-export docs lint types
.PHONY: check bench bench-quick experiments ui clean help
