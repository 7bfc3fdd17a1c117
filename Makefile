# make lab    everything from a bare machine with Python 3.11 to the first notebook
# make serve  the same set-up, then the notebooks as pages without code (Voila)
# make docs   the same set-up, then the notebooks and docs/ as a static site in build/site, nothing run
# make test   the same set-up and Chromium, then the whole suite
#
# Every target does its own set-up (.ci/setup.sh), which costs a fraction of a second when nothing has changed.

# Which Python makes .venv; empty: python3.11 if there is one, else any newer.
PYTHON ?=
# JupyterLab's port, or Voila's; empty: 8888 or 8866, or the next free one.
PORT ?=
# Where the static site goes.
SITE ?= build/site
# More options for JupyterLab (--no-browser), Voila (--no-browser), pytest (-k topk) and uv (--upgrade).
LAB_FLAGS ?=
SERVE_FLAGS ?=
TEST_FLAGS ?=
LOCK_FLAGS ?=

setup := PYTHON="$(PYTHON)" sh .ci/setup.sh
python := .venv/bin/python
# So that a notebook's `!expandlab` and the tests' subprocesses are this environment's.
with_path := PATH="$(CURDIR)/.venv/bin:$$PATH"
notebooks := find notebooks -name '*.ipynb' -not -path '*/.ipynb_checkpoints/*'

.DEFAULT_GOAL := help
.PHONY: help lab serve docs test soak lint format lock clean

help:
	@echo "make lab      set up, then open JupyterLab on the first notebook (PORT=, LAB_FLAGS=)"
	@echo "make serve    set up, then show the notebooks as pages without code (PORT=, SERVE_FLAGS=)"
	@echo "make docs     set up, then write the notebooks and docs/ as a static site (SITE=, by default build/site)"
	@echo "make test     set up, then run all tests (TEST_FLAGS='-k topk'; EXPANDLAB_REQUIRE=gpu,browser: no skips)"
	@echo "make soak     the generated tests with 500 examples each"
	@echo "make soak-hour    random cases against NumPy for an hour, with the memory that they leave"
	@echo "make test-newest  the suite with the newest of every dependency; test-oldest: with the oldest lock;"
	@echo "                  test-wheel: the built wheel in an empty environment, away from this folder"
	@echo "make lint     ruff and nbstripout, changing nothing"
	@echo "make format   let both of them repair what they can"
	@echo "make lock     write the locks and environment.yml anew (LOCK_FLAGS=--upgrade: newest versions)"
	@echo "make clean    remove .venv, caches and builds; what you exported stays"
	@echo "PYTHON=/path/to/python3 chooses the Python that .venv is made with"

# On the loopback address and with its token, as Jupyter has it by default: said here so that a user's own
# configuration cannot open it wider by accident. root_dir lets a notebook reach the docs and the shaders.
lab:
	@$(setup) python driver
	@set --; \
	if [ "$$(id -u)" = 0 ]; then set -- "$$@" --allow-root; fi; \
	if [ "$$(uname -s)" = Linux ] && [ -z "$${DISPLAY:-}$${WAYLAND_DISPLAY:-}" ]; then set -- "$$@" --no-browser; fi; \
	if [ -n "$(PORT)" ]; then set -- "$$@" --port="$(PORT)" --ServerApp.port_retries=0; fi; \
	$(with_path) exec $(python) -m jupyterlab --ip=127.0.0.1 --ServerApp.root_dir="$(CURDIR)" \
		--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb \
		--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate --LabApp.news_url=None \
		"$$@" $(LAB_FLAGS)

# On the loopback address with a token of its own, and nothing but the notebooks' folder: readers of these pages press
# buttons, they run no code.
serve:
	@$(setup) python driver
	@set --; \
	if [ "$$(uname -s)" = Linux ] && [ -z "$${DISPLAY:-}$${WAYLAND_DISPLAY:-}" ]; then set -- "$$@" --no-browser; fi; \
	if [ -n "$(PORT)" ]; then set -- "$$@" --port="$(PORT)" --Voila.port_retries=0; fi; \
	cd notebooks && PATH="$(CURDIR)/.venv/bin:$$PATH" exec "$(CURDIR)/$(python)" -m voila . \
		--Voila.ip=127.0.0.1 --token "$$@" $(SERVE_FLAGS)

# To be read without a server: open build/site/index.html.
docs:
	@$(setup) python
	$(python) docs/site/build.py "$(SITE)"

test:
	@$(setup) python driver browser
	$(with_path) bash .ci/test.sh $(TEST_FLAGS)

# Environments of their own under build/, so that .venv stays as it is.
.PHONY: test-newest test-oldest test-wheel
test-newest test-oldest test-wheel:
	@$(setup) python driver
	PYTHON="$(PYTHON)" sh .ci/against.sh $(@:test-%=%) $(TEST_FLAGS)

# One core for an hour. `python tests/soak.py --only NUMBER --seed SEED` runs one of its cases again.
.PHONY: soak-hour
soak-hour:
	@$(setup) python driver
	$(with_path) nice -n 19 $(python) tests/soak.py --minutes 60

# The generated tests alone: the others are the same with any number of examples.
soak: export EXPANDLAB_HYPOTHESIS = soak
soak:
	@$(setup) python driver
	$(with_path) $(python) -m pytest -m hypothesis --timeout 3600 -v $(TEST_FLAGS)

# All three run, so that one round shows everything.
lint:
	@$(setup) python
	@status=0; \
	$(python) -m ruff check . || status=1; \
	$(python) -m ruff format --check . || status=1; \
	$(notebooks) -exec $(python) -m nbstripout --keep-id --verify {} + || status=1; \
	exit $$status

format:
	@$(setup) python
	$(python) -m ruff check --fix . || true
	$(python) -m ruff format .
	$(notebooks) -exec $(python) -m nbstripout --keep-id {} +

lock:
	@$(setup) python
	LOCK_FLAGS="$(LOCK_FLAGS)" sh .ci/lock.sh

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
	find . -name .ipynb_checkpoints -prune -exec rm -rf {} +
