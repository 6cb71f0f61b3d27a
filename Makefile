# Thin wrappers; `make help` lists them.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo lint format test test-all test-browser mutants test-load docs tables bench bench-scale bench-retrieval bench-serve clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: $(READY) ## Create the environment in .venv and install the package

# The tested torch is installed first and alone, so that nothing else can pull in another build of it.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY) ## Train, explain and report on a built-in corpus
	$(BIN)/rationalize demo

lint: $(READY) ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# One thread per worker: two workers that each use all cores wait for each other most of the time.
# A file's tests stay together, so that what they share is made once; and what was compiled is kept for the next run.
test: export OMP_NUM_THREADS = 1
test: export PYTHONDONTWRITEBYTECODE =
test: $(READY) ## Run the tests
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test-all: export OMP_NUM_THREADS = 1
test-all: export HYPOTHESIS_PROFILE = searching
test-all: $(READY) ## Run every test, the slow ones too
	$(BIN)/python -m pytest -n auto -m 'not browser'

test-browser: export OMP_NUM_THREADS = 1
test-browser: $(READY) ## Run the tests that drive a browser (they need Chromium)
	$(BIN)/python -m pytest -m browser tests/browser

mutants: export OMP_NUM_THREADS = 1
mutants: $(READY) ## Change metrics and losses in one place at a time and see whether the tests notice
	$(BIN)/python -m tools.mutants

test-load: export RATIONALIZE_LOAD_SECONDS = 300
test-load: $(READY) ## Put the service under load for some minutes
	$(BIN)/python -m pytest -m slow -s tests/load/test_service_load.py

docs: $(READY) ## Write docs/methods.md from the methods themselves
	$(BIN)/python -m tools.make_methods_doc

tables: $(READY) ## Make benchmarks/tables from the committed results
	$(BIN)/python -m benchmarks.tables

# What is answered in benchmarks/speed/answers is not measured again. For instance: make bench BENCH='--quick --data DATA'
bench: $(READY) ## Measure speed beside what people use instead, and write docs/performance.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.speed $(BENCH)

# What is answered in benchmarks/scale/answers is not measured again. For instance: make bench-scale SCALE='--sizes 1000 10000'
bench-scale: $(READY) ## Measure what grows with the number of texts, up to a million, and write docs/scale.md
	$(BIN)/python -m benchmarks.scale $(SCALE)

bench-retrieval: $(READY) ## Measure the search for near words among 100,000, beside brute force
	$(BIN)/python -m benchmarks.retrieval

bench-serve: $(READY) ## Measure the HTTP service, beside the same model called directly
	$(BIN)/python -m benchmarks.serve

clean: ## Remove the environment and caches
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
