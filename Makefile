# Two commands need nothing but Python 3.11 or newer with venv and pip:
#   make demo   install what is needed to run, do the main job, say where the result is
#   make test   install everything, run the whole test suite

PYTHON ?= python3
VENV ?= .venv
OUT ?= demo-output

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo studio test test-fast lint format wheel clean models

help:
	@echo "make demo       install the run half, generate a gallery of every condition into $(OUT)/"
	@echo "make studio     install the run half and the server, open the studio in the browser"
	@echo "make test       install everything, run the whole test suite"
	@echo "make test-fast  the same without the slow tests"
	@echo "make lint       ruff, mypy, and the types of the studio's JavaScript"
	@echo "make format     rewrite the code as ruff would have it"
	@echo "make wheel      build the wheel into dist/"
	@echo "make models     train both embedded models anew from DATA=folder, into MODELS=folder; hours"
	@echo "make clean      remove $(VENV)/ and $(OUT)/"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The stamps say what the environment holds, so that a second run installs nothing.
$(VENV)/.run-half: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the run half into $(VENV)/ ..."
	$(PIP) -e .
	@touch $@

$(VENV)/.everything: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing everything, torch included, into $(VENV)/ ..."
	$(PIP) -e '.[dev,serve]'
	@touch $@ $(VENV)/.run-half $(VENV)/.studio

$(VENV)/.studio: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the studio into $(VENV)/ ..."
	$(PIP) -e '.[serve,pptx,parquet]'
	@touch $@ $(VENV)/.run-half

studio: $(VENV)/.studio
	@$(BIN)/layoutdm studio

demo: $(VENV)/.run-half
	@$(BIN)/python examples/demo.py $(OUT)

test: $(VENV)/.everything
	$(BIN)/python -m pytest

test-fast: $(VENV)/.everything
	$(BIN)/python -m pytest -m "not slow"

lint: $(VENV)/.everything
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	tools/check_js.sh

format: $(VENV)/.everything
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: $(VENV)/.everything
	rm -rf dist
	$(BIN)/python -m build --wheel

# The recipe, as users have it. One thread: the same data, versions and kind of processor then give
# the same weights.
TRAIN = $(BIN)/layoutdm train --threads 1
MODELS ?= models
models: $(VENV)/.everything
	@test -d "$(DATA)/rico25" -a -d "$(DATA)/publaynet" || { echo "Say where the data are: \
	make models DATA=FOLDER, a folder that holds rico25 and publaynet." >&2; exit 1; }
	$(TRAIN) $(DATA)/rico25 --out $(MODELS)/rico25 --epochs 30
	$(TRAIN) $(DATA)/publaynet --out $(MODELS)/publaynet --epochs 45
	@echo "python tools/embed_model.py $(MODELS)/NAME NAME puts one into the package"

clean:
	rm -rf $(VENV) $(OUT)
