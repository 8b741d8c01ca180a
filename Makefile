# Two commands do all the set-up: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=
# Two cores have work for three: tests wait for browsers and for processes that they start.
TESTERS ?= 3

# Modules are compiled once, not by each of the hundreds of processes that tests start.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test test-all test-bounds test-random lint format web bench clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml
	@echo "setting up $(VENV) (some minutes on the first run)"
	@$(PYTHON) -m venv $(VENV)
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(READY)  ## grow a tree over the docstrings of Python, NumPy and SciPy and print it
	@$(RUN)/strod demo --out demo.strod

test: $(READY)  ## run the tests but the long ones
	$(RUN)/python -m pytest -n $(TESTERS) --dist worksteal -m "not long" $(ARGS)

test-all: $(READY)  ## run all tests: every point at which a build or a verb can be killed, too
	$(RUN)/python -m pytest -n $(TESTERS) --dist worksteal $(ARGS)

# Where kernels run: text to counts, moments, the tree, phrases, evaluation, a sample of forged
# workspaces. Machine code with checks is kept apart; rows are summed by strod.compute.plain.
BOUNDED := test_assign.py baselines/test_network.py compute/test_lanes.py corpus evaluate moments phrases tensor text tree \
	$(foreach part,0 7 14,'hostile/test_forged.py::test_forged[$(part)]')

test-bounds: $(READY)  ## run the tests of kernels with every index checked
	NUMBA_BOUNDSCHECK=1 $(RUN)/python -m pytest -n $(TESTERS) --dist worksteal -m "not long" $(ARGS) $(addprefix tests/,$(BOUNDED))

test-random: $(READY)  ## look for faults: new draws, ten times as many, tests in random order (half an hour and more)
	$(RUN)/python -m pytest -n $(TESTERS) --hypothesis-profile=random --random-order $(ARGS)

lint: $(READY)  ## ruff and mypy
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy

format: $(READY)  ## put the code into shape
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund

web: web/node_modules/.package-lock.json  ## check and build the explorer's page (needs Node)
	cd web && npm run --silent check && npm run --silent build

bench: $(READY)  ## measure against wc, scikit-learn and tomotopy, many minutes (give ARGS="file.jsonl")
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev,baselines]"
	$(RUN)/python benchmarks/ingest.py $(ARGS)
	$(RUN)/python benchmarks/tree.py $(ARGS)
	$(RUN)/python benchmarks/phrases.py --rounds 0 $(ARGS)
	$(RUN)/python benchmarks/revise.py $(ARGS)

clean:  ## remove what was made here
	rm -rf $(VENV) web/node_modules demo.strod .mypy_cache .pytest_cache .ruff_cache .hypothesis
