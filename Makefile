# Two commands are enough: `make run` and `make test`. `make help` lists the rest.
PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo python3.11)
VENV = .venv/bin/python
WORKERS ?= 2
# More test processes than cores, because tests wait for browsers and servers about a third of their time.
TEST_WORKERS ?= 3
COMPILE = .venv/bin/uv pip compile --quiet --generate-hashes --python-version 3.11 --no-emit-index-url pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help install run test test-quick bench calibration acceptance reproduction lint lock screenshots clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */  make \1\t/'

install:  ## only the virtual environment, as a service needs it (docs/how-to/deploy.md)
	@$(PYTHON) config/install.py runtime

run:  ## install, prepare and start everything on 127.0.0.1 (port: ASSAY_PORT, default 8000); Ctrl-C ends it
	@$(PYTHON) config/install.py runtime
	@exec $(VENV) manage.py up

test:  ## install what the tests need, then run all of them
	@$(PYTHON) config/install.py dev
	@$(VENV) config/browser.py
	@$(VENV) -m pytest -n $(TEST_WORKERS) --dist loadgroup $(ARGS)

test-quick:  ## the tests for daily work: without browser, real collections, started servers and whatever else is long
	@$(PYTHON) config/install.py dev
	@$(VENV) -m pytest -n $(TEST_WORKERS) --dist loadgroup -m "not browser and not data and not slow and not long" $(ARGS)

.PHONY: fuzz
fuzz:  ## a hundred thousand mutated files for every reader of files: nothing but FormatError (ARGS="--files 2000" for a short one)
	@$(PYTHON) config/install.py dev
	@$(VENV) -m tests.fuzz_files --processes $(WORKERS) $(ARGS)

.PHONY: soak
soak:  ## make every fault while people judge, and count what became of it (ARGS="--list", ARGS="postgresql-killed --minutes 5", ...)
	@$(PYTHON) config/install.py dev
	@$(VENV) -m tests.soak $(ARGS)

bench:  ## measure speed against the peers, one table of ratios (ARGS=--quick for a short one)
	@$(PYTHON) config/install.py dev
	@$(VENV) config/browser.py
	@$(VENV) -m benchmarks $(ARGS)

calibration:  ## simulate how often intervals cover, and write docs/evidence/calibration.md (ARGS="--trials 100" for a short one)
	@$(PYTHON) config/install.py dev
	@$(VENV) -m benchmarks.calibration --processes $(WORKERS) $(ARGS)

acceptance:  ## replay real judgements with every way of pooling, and write docs/evidence/sampling.md (ARGS="--simulations 20" for a short one)
	@$(PYTHON) config/install.py dev
	@$(VENV) -m benchmarks.acceptance $(ARGS)

reproduction:  ## make the four papers' studies of the collections at ASSAY_TEST_DATA, and write docs/evidence/reproduction.md (ARGS="NAME" for a part)
	@$(PYTHON) config/install.py dev
	@$(VENV) -m benchmarks.reproduction $(ARGS)

.PHONY: paper
paper:  ## make the five studies of the collections at ASSAY_TEST_DATA, and typeset docs/evidence/paper/paper.tex with them (needs pdflatex)
	@$(PYTHON) config/install.py dev
	@$(VENV) -m benchmarks.paper $(ARGS)

lint:  ## format, ruff and mypy
	@$(PYTHON) config/install.py dev
	@$(VENV) -m ruff format --check --quiet . && $(VENV) -m ruff check . && $(VENV) -m mypy pooling annotation analysis config assay

lock:  ## compile the dependencies of pyproject.toml into the hash-locked requirements.txt and requirements-dev.txt
	@$(PYTHON) config/install.py dev
	@$(COMPILE) --extra server -o requirements.txt
	@$(COMPILE) --all-extras --group dev --group lint --group docs -c requirements.txt -o requirements-dev.txt

.PHONY: audit
audit:  ## look the locked packages up in a list of known faults, in the network (PyPI's; ARGS="-s osv" for that of OSV)
	@$(PYTHON) config/install.py dev
	@.venv/bin/uv tool run pip-audit --require-hashes --disable-pip -r requirements.txt -r requirements-dev.txt $(ARGS)

.PHONY: docs
docs:  ## build the documentation site into var/site; warnings are errors
	@$(PYTHON) config/install.py dev
	@$(VENV) -m sphinx --quiet --fail-on-warning --keep-going docs var/site
	@echo "Open var/site/index.html"

.PHONY: words
words:  ## find what pages, mails and scripts say, merge it into locale/, compile; fails where a translation is missing
	@$(PYTHON) config/install.py dev
	@$(VENV) -m config.catalogues

screenshots:  ## photograph every page, every task (docs/evidence/usability.md) and every state of the judging page into var/screenshots
	@$(PYTHON) config/install.py dev
	@$(VENV) config/browser.py
	@$(VENV) -m tests.screenshots
	@$(VENV) -m tests.tasks
	@ASSAY_SCREENSHOTS=var/screenshots/states $(VENV) -m pytest -q tests/browser/test_judging.py tests/browser/test_judging_states.py tests/browser/test_judging_text.py

clean:  ## remove the virtual environment and caches; the data in var/ stay
	rm -rf .venv .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
