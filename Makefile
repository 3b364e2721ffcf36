# make demo and make test each do all of the set-up: Python 3.10 to 3.13 is enough.
SUPPORTED := import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for python in python3 python3.12 python3.13 python3.11 python3.10; do \
  $$python -c '$(SUPPORTED)' 2>/dev/null && echo $$python && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# Processes that share the tests; the tests of a file stay together.
JOBS ?= 2
SPREAD := -n $(JOBS) --dist loadfile
QUICK := not slow and not browser and not distributed

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-distributed test-page record \
  check-recordings docs bench page lint clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 20

demo: $(READY) ## from a legacy program to its port: scan, explain, run both, verify
	@echo '1. What is TensorFlow 1 in examples/legacy?'; echo
	@$(BIN)/tf1to2 scan --exit-zero examples/legacy
	@echo; echo '2. Its collection of penalties, for one:'; echo
	@$(BIN)/tf1to2 explain tf.add_to_collection
	@echo '3. The ported twin, beside what the original printed on TensorFlow 1.15.5:'; echo
	@cd examples/ported && TF_CPP_MIN_LOG_LEVEL=3 ../../$(BIN)/python train.py 2>/dev/null \
	  | paste ../legacy/printed.txt - | expand -t 48
	@echo; echo '4. The pairs that it was ported by, proven here and now:'; echo
	@$(BIN)/tf1to2 verify graphs.sum_of_collection scopes.make_siamese \
	  learning_rates.exponential_decay variables.seen_by losses.sparse_softmax_cross_entropy

test: $(READY) ## all proofs in the strict settings, in a few minutes
	@$(BIN)/ruff check .
	@TF1TO2_RECIPE=0 $(BIN)/python -m pytest -q $(SPREAD) -m '$(QUICK)'

test-slow: $(READY) ## the rest: float64 recipe, XLA, generated sizes, default settings
	@TF1TO2_RECIPE=0 $(BIN)/python -m pytest -q $(SPREAD) -m slow
	@TF1TO2_SETTINGS=default $(BIN)/python -m pytest -q $(SPREAD) parity_tests \
	  -m '$(QUICK)' -k test_parity

test-distributed: $(READY) ## clusters of processes on this machine, killed and restarted
	@$(BIN)/python -m pytest -q -m distributed

test-page: $(READY) ## the page in a browser: needs Chromium from your system's packages
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[browser]'
	@$(BIN)/python -m pytest -q -m browser

record: $(READY) ## have the genuine TensorFlow 1.15.5 answer anew (needs a Python 3.7)
	$(BIN)/python -m tf1to2.parity.record

check-recordings: $(READY) ## the same, compared with the recordings
	$(BIN)/python -m tf1to2.parity.record --check

docs: $(READY) ## the tables of the guides and proofs.json, made anew
	$(BIN)/python -m tf1to2.docs

bench: $(READY) ## both sides on the clock: benchmarks.json, then BENCHMARKS.md
	$(BIN)/tf1to2 bench --memory --format json --output-file benchmarks.json
	$(BIN)/python -m tf1to2.docs

page: $(READY) ## the site: one HTML file, in site/
	$(BIN)/tf1to2 page

lint: $(READY) ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

clean: ## remove the virtual environments
	rm -rf $(VENV) .venv-tf1

$(READY): setup.cfg pyproject.toml
	@test -n '$(PYTHON)' || \
	  { echo 'Python 3.10 to 3.13 is needed: make PYTHON=/path/to/python3'; exit 1; }
	@echo 'Setting up $(VENV) (TensorFlow takes a minute)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test,lint]'
	@touch $@
