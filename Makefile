# Needs Python >= 3.11 with venv, and make. Everything else is installed into .venv from the locks.
PYTHON ?= python3
ARGS ?=
WORKERS ?= 2

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
PY := $(BIN)/python
UV := $(BIN)/uv
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# pip trusts what the machine trusts (a company's own authority, say); uv does so only when told.
export UV_SYSTEM_CERTS ?= $(if $(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt),true,false)
# CDK looks for newer versions of itself and reports usage unless told not to.
export CDK_DISABLE_CLI_TELEMETRY := true
export JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION := 1
# Many a container forbids Python to keep what it compiled; here hundreds of processes would each compile it again.
unexport PYTHONDONTWRITEBYTECODE

COMPILE := $(UV) pip compile -q --generate-hashes --no-emit-index-url --custom-compile-command "make lock"

.PHONY: help setup lock format lint types imports drift schemas check test test-frameworks soak fuzz bench demo synth layer clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile

setup: .venv/ok ## the environment, from the locks

# pip sync removes what the lock does not name, our own editable install too: so that comes last.
.venv/ok: requirements/bootstrap.txt requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Relight needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@echo "Installing about 140 packages into .venv; this may take some minutes." >&2
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@$(BIN)/pip install -q --require-hashes -r requirements/bootstrap.txt
	@$(UV) pip sync -q --python $(PY) --require-hashes requirements/dev.txt
	@$(UV) pip install -q --python $(PY) --no-deps --no-build-isolation -e .
	@touch $@

# Kept versions stay unless pyproject.toml rules them out; `make lock ARGS=--upgrade` renews them.
lock: | .venv/ok ## renew requirements/*.txt from pyproject.toml and install them (ARGS=--upgrade)
	@$(COMPILE) $(ARGS) --universal --python-version 3.11 --all-extras --group dev pyproject.toml -o requirements/dev.txt
	@$(COMPILE) $(ARGS) --universal --python-version 3.11 -c requirements/dev.txt requirements/bootstrap.in -o requirements/bootstrap.txt
	@$(COMPILE) $(ARGS) --universal --python-version 3.11 -c requirements/dev.txt pyproject.toml -o requirements/agent.txt
	@$(COMPILE) $(ARGS) --python-version 3.14 --python-platform aarch64-manylinux2014 \
		-c requirements/dev.txt requirements/layer.in -o requirements/layer.txt
	@$(COMPILE) $(ARGS) --universal --python-version 3.11 --overrides requirements/frameworks.overrides \
		-c requirements/dev.txt requirements/frameworks.in -o requirements/frameworks.txt
	@$(MAKE) setup

format: .venv/ok ## rewrite the code in the house style
	@$(BIN)/ruff check -q --fix-only . && $(BIN)/ruff format -q .

lint: .venv/ok ## ruff: rules and format
	@$(BIN)/ruff check -q . && $(BIN)/ruff format -q --check .

types: .venv/ok ## mypy, strict, tests too
	@$(BIN)/mypy --no-error-summary

imports: .venv/ok ## which room may import which
	@told=$$(PYTHONPATH=training $(BIN)/lint-imports --no-logo 2>&1) || { echo "$$told"; exit 1; }

drift: .venv/ok ## are the JSON Schemas what the models say?
	@$(PY) -m tests.tools.schemas

schemas: .venv/ok ## rewrite the JSON Schemas from the models
	@$(PY) -m tests.tools.schemas --write

check: lint types imports drift ## everything but the tests

test: .venv/ok ## all tests that need no account
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

test-frameworks: build/frameworks/.ok ## the callbacks on the real Lightning and Trainer (4.5 GB, an environment of its own)
	@build/frameworks/bin/python -m pytest -q --confcutdir=tests/frameworks -o filterwarnings=default tests/frameworks $(ARGS)

build/frameworks/.ok: requirements/frameworks.txt .venv/ok
	@echo "Installing PyTorch, Lightning and transformers into build/frameworks (4.5 GB); this may take some minutes." >&2
	@test -x build/frameworks/bin/python || $(PYTHON) -m venv build/frameworks
	@$(UV) pip sync -q --python build/frameworks/bin/python --require-hashes requirements/frameworks.txt
	@touch $@

fuzz: .venv/ok ## the agent's readers on made-up bytes, if atheris is installed (ARGS=SECONDS)
	@$(PY) -m tests.fuzz $(ARGS)

SOAK_SECONDS ?= 300

soak: .venv/ok ## an hour of log through kills, cuts and rotation, in SOAK_SECONDS (300)
	@RELIGHT_SOAK_SECONDS=$(SOAK_SECONDS) $(BIN)/pytest -q -s tests/soak $(ARGS)

bench: .venv/ok ## figures, one JSON line each (ARGS=NAME, ARGS=--write)
	@$(PY) -m tests.bench $(ARGS)

demo: .venv/ok ## a GPU falls off the bus, and the run goes on (ARGS="--report demo.json")
	@$(BIN)/relight demo $(ARGS)

layer: build/layer/.ok ## the Lambda layer for python3.14 on arm64

# bin/ holds launchers with this machine's path in their first line; cel/cli.py costs a cold start 0.3 s and more
# (docs/decisions/0005).
build/layer/.ok: requirements/layer.txt .venv/ok
	@rm -rf build/layer && mkdir -p build/layer
	@$(UV) pip install -q --require-hashes --no-deps --only-binary :all: --python-version 3.14 \
		--python-platform aarch64-manylinux2014 --target build/layer/python -r requirements/layer.txt
	@rm -rf build/layer/python/bin build/layer/python/.lock
	@: > build/layer/python/cel/cli.py
	@$(PY) -m infra.elf build/layer
	@touch $@

synth: .venv/ok build/layer/.ok ## the CloudFormation template into cdk.out/ (ARGS="-c settings=my.toml")
	@$(PY) -m infra.app $(ARGS)
	@echo "The template lies in cdk.out/." >&2

clean: ## remove what was built (the environment too)
	@rm -rf .venv build cdk.out .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis demo.json demo-archive
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
