# Every target installs what it needs into .venv. You need only Python 3.11 or newer and make.

VENV := .venv
BIN := $(VENV)/bin
# Keyed on content: a fresh checkout or a touched file does not cause a new install.
SUM := $(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
STAMP := $(VENV)/.installed-$(SUM)
# The demo installs only the product into its own environment, or uses .venv if the development packages are there.
DEMO := $(if $(wildcard $(STAMP)),$(VENV),build/demo)
PRODUCT := build/demo/.installed-$(SUM)
# Four workers on two processors: tests spend part of their time waiting for programs they started.
PYTEST := $(BIN)/pytest -n 4

# Without .pyc files, every import takes 5 to 10 times as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check attack audit bench chaos cluster compiled dist docs errors-page flaky format fuzz clean lint man matrix \
	models-data node-packages packages proto sbom screenshots soak web-vendor
.DEFAULT_GOAL := check

demo: $(or $(wildcard $(STAMP)),$(PRODUCT)) ## install only the product and answer a first prompt
	@PATH="$(CURDIR)/$(DEMO)/bin:$$PATH" bash examples/demo.sh

check: lint node-packages ## run before every commit: format, lint, types, import contracts, quick tests
	$(PYTEST) -m "not slow" -q

test: packages node-packages ## run the same checks and every test
	@$(MAKE) --no-print-directory -j 2 lint compiled
	@$(PYTEST); status=$$?; [ $$status -eq 1 ] || exit $$status; \
	echo "running the failed tests again, one at a time: a real fault fails again, a timeout on a busy machine does not"; \
	$(BIN)/pytest --last-failed --last-failed-no-failures none --maxfail 3

packages: ## install the system packages that tests need: a sandbox, a browser, a terminal, a load balancer
	@bash scripts/system_packages.sh bwrap:bubblewrap chromium:chromium haproxy:haproxy tmux:tmux

node-packages: $(STAMP) ## install the real servers and clients that tests talk to
	@bash scripts/node_packages.sh $(VENV) tests/node/package.json
	@bash scripts/meerkat_sdks.sh $(VENV)

cluster: $(STAMP) ## start the PostgreSQL, workers and gateways of deploy/compose.yaml on this machine
	$(BIN)/python -m scripts.cluster up

chaos: $(STAMP) packages node-packages ## kill workers, gateways and PostgreSQL during many runs; then test every surface on the cluster
	$(BIN)/python -m tests.scale.chaos $(ARGS)
	BRIDLE_CONFORMANCE=all $(PYTEST) -q tests/conformance/test_clustered.py

bench: $(STAMP) packages ## compare with other frameworks and earlier runs, report regressions; ARGS=--record updates docs/benchmarks.md
	$(BIN)/python bench/run.py $(ARGS)

soak: $(STAMP) packages node-packages ## run all surfaces, models, kernels and servers for minutes, with crashes and faults
	$(BIN)/python -m tests.endurance.soak $(ARGS)

flaky: $(STAMP) packages node-packages ## run every test in random order on a busy machine; ARGS="--rounds 5", or --seed N to repeat a round
	$(BIN)/python -m scripts.flaky $(ARGS)

matrix: $(STAMP) packages ## run every test on each Python, as root and as an ordinary user, from a path with spaces
	$(BIN)/python -m scripts.matrix $(ARGS)

fuzz: $(STAMP) packages ## feed hostile input to every parser, run command lines that need no approval, try all orders of events in the loop
	$(BIN)/python -m tests.fuzz $(ARGS)
	$(BIN)/python -m tests.core.exploration --depth 6

attack: $(STAMP) packages node-packages ## attack every promise of SECURITY.md and write docs/security-report.md
	$(BIN)/python -m scripts.assurance.attack $(ARGS)

audit: $(STAMP) ## check dependencies (pins, files, licences, known vulnerabilities) and search git for secrets
	$(BIN)/python -m scripts.assurance.audit $(ARGS)
	$(BIN)/python -m scripts.assurance.licences --check
	$(BIN)/python -m scripts.assurance.repository --history

sbom: $(STAMP) ## write build/sbom.json (CycloneDX 1.6)
	$(BIN)/python -m scripts.assurance.sbom

docs: $(STAMP) ## build the documentation as a site with search: build/docs/index.html
	$(BIN)/python -m scripts.docs_site

errors-page: $(STAMP) ## generate docs/errors.md from the code and scripts/errors.toml
	$(BIN)/python -m scripts.make_error_pages

man: $(STAMP) ## generate the manual pages from the command line's help
	$(BIN)/python -m scripts.make_man

dist: $(STAMP) man ## build a release twice, check its contents, and test it in empty environments
	$(BIN)/python -m scripts.dist $(ARGS)

screenshots: $(STAMP) packages ## retake the screenshots for the README
	$(BIN)/python -m scripts.screenshots

web-vendor: $(STAMP) ## download the libraries of the web page (needs a package registry)
	$(BIN)/python scripts/vendor_web.py

models-data: $(STAMP) ## update the model data: windows, abilities, prices (needs a package index)
	$(BIN)/python scripts/make_model_data.py

proto: $(STAMP) ## generate the gRPC code from proto/
	$(BIN)/python scripts/make_proto.py

format: $(STAMP) ## format the code and sort imports
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

# Compiles the tests while the linters run; otherwise each test worker would compile all of them.
compiled: $(STAMP)
	@$(BIN)/pytest --collect-only -qq > /dev/null 2>&1 || true

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

clean: ## remove everything that other targets made
	rm -rf $(VENV) .cache build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call install,ENVIRONMENT,WHAT,NAME): PYTHON=... picks the interpreter; otherwise the first that is new enough.
# Earlier checkouts installed Bridle as the package `bridle`. Both packages own the same files, so remove that one.
define install
	@set -eu; \
	new_enough='import sys; sys.exit(sys.version_info < (3, 11))'; \
	if ! $(1)/bin/python -c "$$new_enough" 2>/dev/null; then \
	    found=; \
	    for python in "$(PYTHON)" python3 python3.13 python3.12 python3.11 python3.14 python; do \
	        if "$$python" -c "$$new_enough" 2>/dev/null; then found="$$python"; break; fi; \
	    done; \
	    if [ -z "$$found" ]; then \
	        echo "bridle: no Python 3.11 or newer found (hint: install one, or make PYTHON=/path/to/python)" >&2; \
	        exit 1; \
	    fi; \
	    "$$found" -m venv --clear $(1) || { \
	        echo "bridle: $$found cannot create $(1) (hint: on Debian and Ubuntu: apt install python3-venv)" >&2; \
	        exit 1; }; \
	fi; \
	echo "installing $(2) into $(1)" >&2; \
	$(1)/bin/python -m pip -qq uninstall --yes bridle; \
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e "$(3)" || { \
	    echo "bridle: the packages could not be installed, see above" >&2; \
	    echo "hint: the first run needs a package index; offline, point pip at a local one (pip config)" >&2; \
	    exit 1; }; \
	rm -rf $(1)/.installed-* $(1)/plain
endef

$(STAMP):
	$(call install,$(VENV),the development packages,.[dev])
	@touch $@

# The model runtime contains 77 MB of debug information that only a debugger reads.
$(PRODUCT):
	$(call install,build/demo,the product,.[local])
	@strip --strip-debug build/demo/lib/python3*/site-packages/xllamacpp/*.so 2>/dev/null || true
	@touch $@
