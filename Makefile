# Two commands need nothing but Python 3.11 or newer with venv and pip:
#   make demo   install what is needed to run, do the main job, say where the result is
#   make test   install everything, run the whole test suite

PYTHON ?= python3
VENV ?= .venv
OUT ?= demo-output

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast lint format clean models

help:
	@echo "make demo       install the run half, generate a gallery of every condition into $(OUT)/"
	@echo "make test       install everything, run the whole test suite"
	@echo "make test-fast  the same without the slow tests"
	@echo "make lint       ruff and mypy"
	@echo "make format     rewrite the code as ruff would have it"
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
	@touch $@ $(VENV)/.run-half

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

format: $(VENV)/.everything
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# One thread: the same data, versions and kind of processor then give the same weights.
TRAIN = $(BIN)/layoutdm train --threads 1
# Two processes share a batch; each draws its own dropout, so their number is part of the recipe.
TRAIN_BY_TWO = OMP_NUM_THREADS=1 $(BIN)/torchrun --nproc_per_node 2 -m layoutdm train --threads 1
MODELS ?= models
models: $(VENV)/.everything
	@test -d "$(DATA)/rico25" -a -d "$(DATA)/publaynet" || { echo "Say where the data are: \
	make models DATA=FOLDER, a folder that holds rico25 and publaynet." >&2; exit 1; }
	$(TRAIN) $(DATA)/rico25 --out $(MODELS)/rico25-first --epochs 50 --seed 0 \
	  --set in_sequence=0.25 --set validate_steps=940 --set number_blind=true
	$(TRAIN_BY_TWO) $(DATA)/rico25 --out $(MODELS)/rico25-second --from $(MODELS)/rico25-first \
	  --epochs 48 --seed 1 --learning-rate 5e-4 --set dropout=0.1 --set ordered_tasks=true \
	  --set ordered=0.6 --set in_sequence=0.5 --set label_order=0 --set clear=0.15 \
	  --set clear_from=0.35 --set cover_most=30 --set tasks=0.42,0.22,0.10,0.12,0.14 \
	  --set base_share=0.5 --set validate_steps=1128
	$(TRAIN_BY_TWO) $(DATA)/rico25 --out $(MODELS)/rico25-third --from $(MODELS)/rico25-second \
	  --epochs 4 --seed 2 --learning-rate 6e-5 --set warmup_steps=50 --set ordered_tasks=true \
	  --set ordered=0.6 --set in_sequence=0.4 --set label_order=0 --set clear=0.15 \
	  --set clear_from=0.35 --set tasks=0.42,0.22,0.10,0.12,0.14 --set number_weight=0.1 \
	  --set number_every=2 --set base_share=0.5 --set number_epochs=8 --set label_epochs=12 \
	  --set validate_steps=188
	$(TRAIN_BY_TWO) $(DATA)/rico25 --out $(MODELS)/rico25 --from $(MODELS)/rico25-third \
	  --epochs 14 --seed 3 --learning-rate 1e-4 --set warmup_steps=50 --set ordered_tasks=true \
	  --set ordered=0.6 --set in_sequence=0.5 --set label_order=0 --set clear=0.3 \
	  --set clear_from=0.35 --set clear_room=true --set tasks=0.36,0.20,0.10,0.20,0.14 \
	  --set number_weight=0.1 --set number_every=2 --set base_share=0.5 --set number_epochs=8 \
	  --set label_epochs=12 --set validate_steps=376
	$(TRAIN) $(DATA)/publaynet --out $(MODELS)/publaynet-first --epochs 28 --seed 0 \
	  --bin-count 256 --set validate_steps=1205 --set number_blind=true
	$(TRAIN) $(DATA)/publaynet --out $(MODELS)/publaynet-second --from $(MODELS)/publaynet-first \
	  --epochs 34 --seed 1 --learning-rate 5e-4 --set dropout=0.1 --set validate_steps=1205 --set number_blind=true
	$(TRAIN_BY_TWO) $(DATA)/publaynet --out $(MODELS)/publaynet-third --from $(MODELS)/publaynet-second \
	  --epochs 36 --seed 2 --learning-rate 5e-4 --set dropout=0.1 --set ordered_tasks=true \
	  --set ordered=0.7 --set in_sequence=0.7 --set tasks=0.40,0.26,0.10,0.13,0.11 \
	  --set validate_steps=1440 --set number_blind=true
	$(TRAIN_BY_TWO) $(DATA)/publaynet --out $(MODELS)/publaynet-fourth --from $(MODELS)/publaynet-third \
	  --epochs 24 --seed 3 --learning-rate 3e-4 --set dropout=0.1 --set ordered_tasks=true \
	  --set ordered=0.8 --set in_sequence=0.7 --set label_order=0.45 --set next_element=0.6 \
	  --set tasks=0.36,0.34,0.08,0.12,0.10 --set validate_steps=1440 --set number_blind=true
	$(TRAIN_BY_TWO) $(DATA)/publaynet --out $(MODELS)/publaynet-fifth --from $(MODELS)/publaynet-fourth \
	  --epochs 23 --seed 4 --learning-rate 3e-4 --set dropout=0.1 --set ordered_tasks=true \
	  --set ordered=0.8 --set in_sequence=0.7 --set label_order=0 --set next_element=0.6 \
	  --set clear=0.2 --set cover_most=30 --set tasks=0.15,0.40,0.15,0.18,0.12 \
	  --set validate_steps=1440 --set number_blind=true
	$(TRAIN_BY_TWO) $(DATA)/publaynet --out $(MODELS)/publaynet --from $(MODELS)/publaynet-fifth \
	  --epochs 22 --seed 5 --learning-rate 3e-4 --set dropout=0.1 --set ordered_tasks=true \
	  --set ordered=0.8 --set in_sequence=0.7 --set label_order=0 --set next_element=0.6 \
	  --set clear=0.3 --set clear_room=true --set cover_most=30 \
	  --set tasks=0.14,0.34,0.14,0.24,0.14 --set base_share=0.3 --set label_epochs=12 \
	  --set validate_steps=480

clean:
	rm -rf $(VENV) $(OUT)
