# Every target sets up what it needs: Python 3.11 or later, and nothing else.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.stamp

.DEFAULT_GOAL := help
.PHONY: help demo test check bench clean

help:  ## what can be made
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(STAMP)-demo  ## a provider with a hard limit of 20, with and without benni
	$(BIN)/python -m examples.demo

test: $(STAMP)-test  ## every test, on fakeredis, Valkey and (where installed) Redis
	$(BIN)/python -m pytest $(ARGS)

check: $(STAMP)-dev  ## lint, types and the repository's own rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m pytest -q tests/meta

bench: $(STAMP)-bench  ## what the figures in the docs come from
	$(BIN)/python -m bench

clean:  ## remove what the other targets made
	rm -rf $(VENV) dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(STAMP)-%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
