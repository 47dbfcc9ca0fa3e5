# Everything from a fresh clone: make grade, make test. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# uv installs faster where it is there. It reads no pip.conf: where that names a package index, give uv
# the same one (UV_DEFAULT_INDEX), or say `make UV= …` to install with pip
UV ?= $(shell command -v uv)
# $(call install,PYTHON): the versions are those of constraints.txt either way
install = $(if $(UV),$(UV) pip install --quiet --python $1,$1 -m pip install --quiet --disable-pip-version-check) -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup grade test test-slow test-frameworks test-pyodide test-slurm slurm-up slurm-down hub-env hub-up hub-down test-hub hub-pictures \
  tensorflow horovod lint docs wheel lab labs references verify bench gpu gpu-wheels clean

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 14

setup: $(READY) ## install everything into .venv (the other targets do it when it is needed)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	  || { echo "grading needs Python 3.11 to 3.13: say PYTHON=/path/to/python3.11 make …"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(call install,$(BIN)/python) torch
	$(call install,$(BIN)/python) -e '.[grader,lti,deploy,dev]'
	touch $@

grade: $(READY) ## grade the demonstration class: one table, then where the feedback pages lie
	$(BIN)/distlab grade --demo

# all tests of a file run in one of the two processes: what they share is made once
SIDE_BY_SIDE := -n 2 --dist loadfile

test: $(READY) lint ## lint and the test suite
	$(BIN)/python -m pytest -m 'not slow and not slurm' $(SIDE_BY_SIDE)

AXE := tests/viz/node_modules/.package-lock.json

# axe-core, which finds pictures that not everybody can use
$(AXE): tests/viz/package-lock.json
	if command -v npm >/dev/null; then npm ci --prefix tests/viz --no-audit --no-fund --loglevel=error && touch $@; \
	  else echo "npm is not here, which installs axe-core: apt-get install npm"; fi

test-slow: $(READY) $(AXE) ## the slower suites: programs that hang or dawdle on real ranks (SLOW=short: those of seconds)
	$(BIN)/python -m pytest -m 'slow and not alone and not slurm $(SHORT)' $(SIDE_BY_SIDE)
	$(BIN)/python -m pytest -m 'slow and alone and not slurm $(SHORT)' $(call with,mark\.alone)

# the files with such marks: to collect from all others takes longer than most of these tests
with = $(shell grep -rlE '$1' --include='test_*.py' tests)

SHORT = $(if $(filter short,$(SLOW)),and not long)

test-frameworks: $(READY) ## labs 07 and 08, where Horovod and TensorFlow are installed (SLOW=all: all collected answers)
	$(BIN)/python -m pytest -m 'frameworks $(if $(filter all,$(SLOW)),,and not slow)' $(call with,mark\.frameworks|import optional|from optional)

test-slurm: $(READY) ## every lab on a real Slurm of two nodes on this machine (as root; SLURM=short: some)
	$(BIN)/python -m pytest $(if $(filter short,$(SLURM)),-m 'slurm and not slow' $(SLURM_SHORT),-m slurm tests/slurm)

SLURM_SHORT := tests/slurm/test_slurm_cluster.py tests/slurm/test_lab_jobs.py

slurm-up: $(READY) ## start that Slurm and leave it up (as root)
	$(BIN)/python deploy/slurm/cluster.py up

slurm-down: ## end it
	$(PYTHON) deploy/slurm/cluster.py down

tensorflow: $(READY) ## install TensorFlow for lab 08 and one exercise of lab 07
	$(call install,$(BIN)/python) -e '.[tensorflow]'

horovod: $(READY) ## build Horovod for lab 07, keep its wheel and install it
	deploy/horovod/install $(BIN)/python

# other users run it: so it lies where they can read it, and its Python is one that they can run
HUB_ENV ?= /opt/distlab
HUB_PYTHON ?= $(firstword $(wildcard /usr/bin/python3.13 /usr/bin/python3.12 /usr/bin/python3.11) $(PYTHON))
HUB_READY := $(HUB_ENV)/ready
HUB_PROXY := deploy/hub/node_modules/.package-lock.json

hub-env: $(HUB_READY) $(HUB_PROXY) ## install JupyterHub, for all users of this machine, into HUB_ENV

# by pip: uv links files from a cache of its own, which other users may not be able to read
$(HUB_READY): pyproject.toml constraints.txt $(shell find src/distlab -name '*.py' -o -name '*.js' -o -name '*.css')
	umask 022 && $(HUB_PYTHON) -m venv $(HUB_ENV)
	umask 022 && $(HUB_ENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	umask 022 && $(HUB_ENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt '.[grader,lti,hub]'
	touch $@

$(HUB_PROXY): deploy/hub/package-lock.json
	if command -v npm >/dev/null; then npm ci --prefix deploy/hub --no-audit --no-fund --loglevel=error && touch $@; \
	  else echo "npm is not here, which installs the Hub's proxy: apt-get install npm"; fi

hub-up: hub-env ## a JupyterHub to try out, with a lecturer and two students (as root: it makes users)
	$(HUB_ENV)/bin/python deploy/hub/trial.py up

hub-down: ## end it, and remove its users and files
	$(HUB_ENV)/bin/python deploy/hub/trial.py down

test-hub: hub-env ## a lab's whole way over JupyterHub, in headless Chromium
	$(HUB_ENV)/bin/python -m pytest -p no:cacheprovider --durations=12 deploy/hub/tests

hub-pictures: test-hub ## the same walk, and its pictures into docs/pictures
	for one in docs/pictures/hub-*.png; do cp deploy/hub/pictures/$${one##*/hub-} $$one; done

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

PYODIDE := tests/pyodide/node_modules/.package-lock.json

# Python for a page
$(PYODIDE): tests/pyodide/package-lock.json
	if command -v npm >/dev/null; then npm ci --prefix tests/pyodide --no-audit --no-fund --loglevel=error && touch $@; \
	  else echo "npm is not here, which installs Pyodide: apt-get install npm"; fi

test-pyodide: $(READY) $(PYODIDE) $(AXE) ## prover, simulator and the page without a server, in WebAssembly (fetches NumPy for it, up to 106 MB)
	$(BIN)/python tests/pyodide/fetch.py
	$(BIN)/python -m pytest -m '' tests/pyodide

docs: $(READY) $(PYODIDE) ## the documentation as a site, in build/site; a warning or a broken link ends it
	$(call install,$(BIN)/python) -e '.[docs]'
	$(BIN)/python docs/pictures.py live
	$(BIN)/zensical build --clean --strict
	$(BIN)/python docs/playground.py build build/site/playground

wheel: $(READY) ## what students install on a laptop: dist/distlab-….whl, the labs in it
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w dist .

lab: $(READY) ## JupyterLab on the students' notebooks
	cd labs && ../$(BIN)/jupyter lab

labs: $(READY) ## generate labs/ from solutions/
	$(BIN)/nbgrader generate_assignment '*' --force --no-db --log-level=ERROR

references: $(READY) ## record the reference outputs, on every GPU there is
	DISTLAB_SECRET=public $(BIN)/distlab reference record
	$(MAKE) labs

verify: $(READY) ## run the solutions again and compare with the recorded outputs
	$(BIN)/distlab reference verify

bench: $(READY) ## all benchmarks, as ratios
	$(BIN)/distlab bench

# the machine's own, with its own PyTorch; pretending needs no GPU, and takes that of .venv
GPU_PYTHON ?= $(if $(PRETEND),$(BIN)/python,$(PYTHON))

gpu: $(if $(filter $(BIN)/python,$(GPU_PYTHON)),$(READY)) ## all that a GPU has to show, without a network (PRETEND=1: on the CPU, small)
	$(GPU_PYTHON) -m grader.gpu $(if $(PRETEND),--pretend) $(if $(RESULTS),--results $(RESULTS)) $(if $(STEPS),--only $(STEPS))

gpu-wheels: ## fetch what a machine with a GPU lacks, images beside it, into build/carry
	$(PYTHON) -m grader.gpu wheels $(if $(IMAGES),--images $(IMAGES)) $(if $(PYTHONS),--pythons $(PYTHONS))

clean: ## remove what was built and installed; submissions and grades stay
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
