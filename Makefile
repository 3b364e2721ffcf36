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
QUICK := not slow and not browser and not distributed and not install

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-distributed test-page test-install test-wheel test-versions \
  record check-recordings exceptions distances stages witness timings mutate names check-names \
  switches docs pictures bench site page lint clean

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
	@TF1TO2_RECIPE=0 $(BIN)/python -m pytest -q $(SPREAD) -m '$(QUICK)' $(ONLY)

test-slow: $(READY) ## the rest: unknown and generated sizes, halves, default settings
	@TF1TO2_RECIPE=0 $(BIN)/python -m pytest -q $(SPREAD) -m 'slow and not browser'
	@TF1TO2_SETTINGS=default $(BIN)/python -m pytest -q $(SPREAD) parity_tests \
	  -m 'not distributed' -k 'test_parity and not (generated or dynamic)'

test-distributed: $(READY) ## clusters of processes on this machine, killed and restarted
	@$(BIN)/python -m pytest -q -m distributed

test-page: $(VENV)/with-browser ## the site in a browser: needs Chromium; EVERY=1 opens all pages
	@$(BIN)/python -m pytest -q -m 'browser$(if $(EVERY),, and not slow)' tf1to2/tests $(ONLY)

test-install: $(VENV)/with-packaging ## what users install: a wheel in fresh environments, the hook
	@$(BIN)/python -m pytest -q -m install tf1to2/tests/test_install.py $(ONLY)

test-wheel: $(VENV)/with-packaging ## of test-install what installs no TensorFlow
	@$(BIN)/python -m pytest -q -m install tf1to2/tests/test_install.py \
	  -k 'WithoutTensorflow or WithDocs or Coverage or Build'

test-versions: $(VENV)/with-versions ## make test on Python 3.10 to 3.13 and TensorFlow 2.16 to 2.21
	@PYENV_VERSION=$${PYENV_VERSION-3.10:3.11:3.12:3.13} $(BIN)/nox $(NOX)

record: $(READY) ## have the genuine TensorFlow 1.15.5 answer anew (needs a Python 3.7)
	$(BIN)/python -m tf1to2.parity.record parity_tests
	$(BIN)/python -m tf1to2.parity.record tf1to2.parity.kernels.proof
	$(BIN)/python -m tf1to2.probes --record

check-recordings: $(READY) ## the same, compared with the recordings
	$(BIN)/python -m tf1to2.parity.record parity_tests --check
	$(BIN)/python -m tf1to2.parity.record tf1to2.parity.kernels.proof --check
	$(BIN)/python -m tf1to2.probes --check

exceptions: $(READY) ## measure anew what differs from 1.15.5 in float32, by kernel
	$(BIN)/python -m tf1to2.parity.float32 tf1to2.parity.kernels.proof
	$(BIN)/python -m tf1to2.parity.float32 parity_tests

distances: $(READY) ## measure anew how far the Keras pages are from 1.15.5
	$(BIN)/python -m tf1to2.parity.distances parity_tests

stages: $(READY) ## ask Keras 2 and Keras 3 what each does with the old lines (needs tf_keras)
	$(BIN)/python -m tf1to2.keras_stages

witness: $(READY) ## ask tf_keras all that 1.15.5 was asked of tf.keras (needs tf_keras)
	$(BIN)/python -m tf1to2.keras_witness

timings: $(READY) ## measure anew which tests take long, and leave them to test-slow
	@TF1TO2_RECIPE=0 $(BIN)/python -m pytest -q $(SPREAD) -m '$(QUICK)' --timings

mutate: $(READY) ## break every right page in every small way (hours; goes on where it was)
	$(BIN)/python -m tf1to2.parity.mutate parity_tests --results parity_tests/mutations.json

names: $(READY) ## what 1.15.5 has and what is left of it (needs a Python 3.7)
	$(BIN)/python -m tf1to2.scan.survey

check-names: $(READY) ## the same, compared with the tables
	$(BIN)/python -m tf1to2.scan.survey --check

switches: $(READY) ## what each enable_… and disable_… changes (needs a Python 3.7)
	$(BIN)/python -m tf1to2.switches
	$(BIN)/python -m tf1to2.docs

pictures: $(READY) ## draw the pictures of the guide anew
	$(BIN)/python -m tf1to2.pictures

docs: $(READY) ## the tables of the guides and proofs.json, made anew
	$(BIN)/python -m tf1to2.docs

bench: $(READY) ## both sides on the clock, then BENCHMARKS.md (needs a Python 3.7)
	$(BIN)/tf1to2 bench work --against 1.15.5 --memory --format json \
	  --output-file benchmarks/work.json
	$(BIN)/tf1to2 bench pairs --memory --format json --output-file benchmarks/pairs.json
	$(BIN)/python -m tf1to2.pictures benchmarks
	$(BIN)/python -m tf1to2.docs

site: $(READY) ## the guide and all pairs as a site that needs no server, in site/
	$(BIN)/tf1to2 page

page: site

lint: $(READY) ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

clean: ## remove the virtual environments
	rm -rf $(VENV) .venv-tf1 .nox

$(READY): setup.cfg setup.py pyproject.toml
	@test -n '$(PYTHON)' || \
	  { echo 'Python 3.10 to 3.13 is needed: make PYTHON=/path/to/python3'; exit 1; }
	@echo 'Setting up $(VENV) (TensorFlow takes a minute)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test,lint]'
	@touch $@

$(VENV)/with-%: $(READY)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[$*]'
	@touch $@
