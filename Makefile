# make demo and make test each do all of the set-up: Python 3.10 to 3.13 is enough.
SUPPORTED := import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for python in python3 python3.12 python3.13 python3.11 python3.10; do \
  $$python -c '$(SUPPORTED)' 2>/dev/null && echo $$python && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# Processes that share the tests; the tests of a file stay together. In test-slow, the
# tools come first: few tests that take minutes, for which all would wait in the end.
JOBS ?= 2
SPREAD := -n $(JOBS) --dist loadfile
OWN := not browser and not distributed and not install and not tables
QUICK := not slow and $(OWN)
SLOW := slow and $(OWN)
# Of all proofs, what is asked again in TensorFlow's default settings: what users run.
# With SINCE, the slow ones of them are left out: `make test-all` asks these, too.
IN_DEFAULT := test_parity and (_eager or _function) and not (generated or dynamic)
DEFAULTS = not distributed$(if $(SINCE), and not slow)
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt
# Of what the change since the commit SINCE touches, what has slow tests to run: topics,
# and whether tools; all without SINCE. "broadcasting" is added to any topic, since it
# has tests of every kind: if pytest finds none, the selection is wrong. No topic is
# called "failed", so its tests fail.
CHANGED = $(BIN)/python .ci/changed.py $(SINCE)
TOPICS = $(sort $(patsubst %,% broadcasting,$(shell $(CHANGED) --slow || echo failed)))
HAZARDS = $(if $(TOPICS),parity_tests/hazards)
PROOFS = $(if $(SINCE),$(TOPICS:%=parity_tests/test_%.py) $(HAZARDS),parity_tests)
TOOLS = $(if $(SINCE),$(filter tools,$(shell $(CHANGED) --parts)),tools)
# A message may be quoted by a slow test of any topic.
QUOTES = $(if $(SINCE),$(filter messages,$(shell $(CHANGED) --parts)))

.DEFAULT_GOAL := help
.PHONY: help demo lint test test-slow test-distributed test-page test-wheel \
  test-install test-versions test-all upkeep check-upkeep mutate bench site page \
  constraints clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 20

demo: SHOWN := basics.train_classifier graphs.sum_of_collection scopes.make_siamese
demo: $(READY) ## from a legacy program to its port: scan, explain, run both, verify
	@echo '1. A legacy program: what is TensorFlow 1 in it?'
	@echo '   $$ tf1to2 scan examples/legacy'; echo
	@$(BIN)/tf1to2 scan --exit-zero examples/legacy | sed '1,/^$$/d'
	@echo; echo '2. What does one of these names become?'
	@echo '   $$ tf1to2 explain tf.add_to_collection'; echo
	@$(BIN)/tf1to2 explain tf.add_to_collection | sed -n 1,5p
	@echo; echo '3. The port runs. Left: what the legacy program printed on TensorFlow 1.15.5.'
	@echo '   $$ python examples/ported/train.py'; echo
	@cd examples/ported && out=$$(../../$(BIN)/python train.py 2>/dev/null) && \
	  echo "$$out" | paste ../legacy/printed.txt - | expand -t 44 && \
	  [ "$$out" = "$$(cat ../legacy/printed.txt)" ]
	@echo; echo '4. Is code from the guide right on this machine? Compared with 1.15.5, in three ways:'
	@echo '   $$ tf1to2 verify $(SHOWN)'; echo
	@status=0; out=$$($(BIN)/tf1to2 verify $(SHOWN)) || status=$$?; \
	  [ $$status = 0 ] || { echo "$$out"; exit $$status; }; \
	  echo "$$out" | awk -F '  +' \
	    '/^pair|^[a-z_]+\./ {printf "%-28s%-14s%-14s%s\n", $$1, $$2, $$5, $$6}'
	@echo; echo 'The port prints what TensorFlow 1.15.5 printed.'
	@echo 'Next: $(BIN)/tf1to2 scan YOUR_PROGRAM'

test: $(READY) ## all proofs in the strict settings, in a few minutes
	@$(BIN)/python -m pytest -q $(SPREAD) -m '$(QUICK)' $(ONLY)

test-slow: $(READY) ## all sizes, float16, default settings; SINCE=HEAD~3: only what changed since
	@proofs='$(PROOFS)' tools='$(TOOLS:%=tf1to2/tests)' quotes='$(QUOTES)' status=0; \
	  [ -n "$$proofs$$tools$$quotes" ] || { echo 'no slow test is needed'; exit 0; }; \
	  [ -z "$$proofs$$tools" ] || $(BIN)/python -m pytest -q $(SPREAD) \
	    --no-loadscope-reorder -m '$(SLOW)' $$tools $$proofs || status=1; \
	  [ -z "$$quotes" ] || $(BIN)/python -m pytest -q $(SPREAD) -m '$(SLOW) and quotes' \
	    parity_tests || status=1; \
	  [ -z "$$proofs" ] || TF1TO2_SETTINGS=default $(BIN)/python -m pytest -q $(SPREAD) \
	    -m '$(DEFAULTS)' -k '$(IN_DEFAULT)' $$proofs || status=1; \
	  exit $$status

test-distributed: $(READY) ## clusters of processes on this machine, killed and restarted
	@$(BIN)/python -m pytest -q -m distributed

test-page: $(VENV)/with-browser ## the site in a browser: needs Chromium; EVERY=1 opens all pages
	@$(BIN)/python -m pytest -q -m 'browser$(if $(EVERY),, and not slow)' tf1to2/tests $(ONLY)

test-install test-wheel: export PIP_CONSTRAINT = $(CURDIR)/constraints.txt
test-install test-wheel: export PIP_BUILD_CONSTRAINT = $(CURDIR)/constraints.txt

test-install: $(VENV)/with-packaging ## install the wheel in new environments, as users do; the pre-commit hook
	@$(BIN)/python -m pytest -q -m install tf1to2/tests/test_install.py $(ONLY)

test-wheel: $(VENV)/with-packaging ## the part of test-install that needs no TensorFlow
	@$(BIN)/python -m pytest -q -m install tf1to2/tests/test_install.py \
	  -k 'WithoutTensorflow or WithDocs or Coverage or Build'

test-versions: $(VENV)/with-versions ## make test on Python 3.10 to 3.13 and TensorFlow 2.16 to 2.21
	@PYENV_VERSION=$${PYENV_VERSION-3.10:3.11:3.12:3.13} $(BIN)/nox $(NOX)

test-all: ## all tests and comparisons, on this Python; does not stop at a failure
	@$(MAKE) -k --no-print-directory -j1 EVERY=1 SINCE= lint test test-slow \
	  test-distributed test-page test-install && \
	  $(MAKE) --no-print-directory check-upkeep SINCE=none

upkeep: $(READY) ## after any change: update the generated files that it affects (SINCE=REV)
	@$(BIN)/python -m upkeep all --since $(or $(SINCE),landed)

check-upkeep: $(READY) ## compare the generated files, write nothing; SINCE=none: all of them
	@$(BIN)/python -m upkeep all --check --since $(or $(SINCE),landed)

mutate: $(READY) ## break every right page in every small way (takes hours; can be resumed)
	$(BIN)/tf1to2 mutate parity_tests --results parity_tests/mutations.json

bench: WHOLE := $(patsubst v1_graph/%.py,%.train,$(wildcard v1_graph/models_*.py))
bench: $(READY) ## time both sides, then update BENCHMARKS.md (needs Python 3.7)
	$(BIN)/tf1to2 bench work --against 1.15.5 --memory --format json \
	  --output-file benchmarks/work.json
	$(BIN)/tf1to2 bench pairs --format json --output-file benchmarks/pairs.json
	$(BIN)/tf1to2 bench $(WHOLE) --against 1.15.5 --format json \
	  --output-file benchmarks/models.json
	$(BIN)/python -m upkeep pictures docs

site: $(READY) ## build the site, with the guide and all pairs, in site/; it needs no server
	$(BIN)/tf1to2 page

page: site

lint: $(READY) ## check the style: ruff check, ruff format, words of the prose
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m upkeep.prose

constraints: ## update constraints.txt from the ranges of pyproject.toml
	@PYENV_VERSION=$${PYENV_VERSION-3.10:3.11:3.12:3.13} python3.13 .ci/constraints.py \
	  python3.10 python3.11 python3.12 python3.13

clean: ## remove the virtual environments
	rm -rf $(VENV) .venv-tf1 .nox

# The build of the package, which is in isolation, is constrained by the environment.
$(READY) $(VENV)/with-%: export PIP_CONSTRAINT = constraints.txt
$(READY) $(VENV)/with-%: export PIP_BUILD_CONSTRAINT = constraints.txt

$(READY): setup.cfg setup.py pyproject.toml constraints.txt
	@test -n '$(PYTHON)' || \
	  { echo 'Python 3.10 to 3.13 is needed: make PYTHON=/path/to/python3'; exit 1; }
	@echo 'Setting up $(VENV) (TensorFlow takes a minute)'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e '.[test,lint]'
	@touch $@

$(VENV)/with-%: $(READY)
	@$(PIP) -e '.[$*]'
	@touch $@

# What CI runs needs no other environment.
$(VENV)/with-all: $(VENV)/with-browser $(VENV)/with-packaging
	@touch $@
