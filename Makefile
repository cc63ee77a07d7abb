# Every target builds its own environment in .venv: Python 3.11 or newer and make are all it needs.

VENV := .venv
BIN := $(VENV)/bin
# Keyed on content, so a fresh checkout or a touched file does not install again.
SUM := $(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
STAMP := $(VENV)/.installed-$(SUM)
# The demo has an environment with the product alone; where the development packages are, it uses theirs.
DEMO := $(if $(wildcard $(STAMP)),$(VENV),build/demo)
PRODUCT := build/demo/.installed-$(SUM)
# Four workers for two processors: part of its time a test waits for programs that it has started.
PYTEST := $(BIN)/pytest -n 4

# Without .pyc files every import costs 5 to 10 times as much.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check attack audit bench chaos cluster compiled dist docs errors-page flaky format fuzz clean lint man matrix \
	models-data node-packages packages proto sbom screenshots soak web-vendor
.DEFAULT_GOAL := check

demo: $(or $(wildcard $(STAMP)),$(PRODUCT)) ## answer a first prompt; installs the product and no development packages
	@PATH="$(CURDIR)/$(DEMO)/bin:$$PATH" bash examples/demo.sh

check: lint node-packages ## before every commit: format, lint, types, import contracts, quick tests
	$(PYTEST) -m "not slow" -q

test: packages node-packages ## the same checks and every test
	@$(MAKE) --no-print-directory -j 2 lint compiled
	@$(PYTEST); status=$$?; [ $$status -eq 1 ] || exit $$status; \
	echo "what failed runs once more, alone: a fault fails again, a bound of time on a busy machine does not"; \
	$(BIN)/pytest --last-failed --last-failed-no-failures none --maxfail 3

packages: ## what the tests need of the system: a sandbox, a browser, a terminal, a balancer
	@bash scripts/system_packages.sh bwrap:bubblewrap chromium:chromium haproxy:haproxy tmux:tmux

node-packages: $(STAMP) ## what the tests need of Node.js: real servers to talk to
	@bash scripts/node_packages.sh $(VENV) tests/node/package.json

cluster: $(STAMP) ## start PostgreSQL, workers and gateways on this machine, as deploy/compose.yaml says
	$(BIN)/python -m scripts.cluster up

chaos: $(STAMP) packages node-packages ## many runs while workers, gateways and PostgreSQL die; then every surface on the cluster
	$(BIN)/python -m tests.scale.chaos $(ARGS)
	BRIDLE_CONFORMANCE=all $(PYTEST) -q tests/conformance/test_clustered.py

bench: $(STAMP) packages ## measure beside peers and bare parts, name regressions; ARGS=--record renews docs/benchmarks.md
	$(BIN)/python bench/run.py $(ARGS)

soak: $(STAMP) packages node-packages ## all surfaces, models, kernels and servers for minutes, with crashes and faults
	$(BIN)/python -m tests.endurance.soak $(ARGS)

flaky: $(STAMP) packages node-packages ## every test in random order on a busy machine; ARGS="--rounds 5", or --seed of a round
	$(BIN)/python -m scripts.flaky $(ARGS)

matrix: $(STAMP) packages ## every test on each Python, as root and as an ordinary user, from a path with spaces
	$(BIN)/python -m scripts.matrix $(ARGS)

fuzz: $(STAMP) packages ## hostile input for every parser, command lines that run unasked, all orders of events for the loop
	$(BIN)/python -m tests.fuzz $(ARGS)
	$(BIN)/python -m tests.core.exploration --depth 6

attack: $(STAMP) packages node-packages ## attack every promise of SECURITY.md, write docs/security-report.md
	$(BIN)/python -m scripts.assurance.attack $(ARGS)

audit: $(STAMP) ## dependencies: pins, files, licences, known flaws where they can be looked up; secrets in git
	$(BIN)/python -m scripts.assurance.audit $(ARGS)
	$(BIN)/python -m scripts.assurance.licences --check
	$(BIN)/python -m scripts.assurance.repository --history

sbom: $(STAMP) ## write build/sbom.json (CycloneDX 1.6)
	$(BIN)/python -m scripts.assurance.sbom

docs: $(STAMP) ## build the documentation as pages with a search: build/docs/index.html
	$(BIN)/python -m scripts.docs_site

errors-page: $(STAMP) ## make docs/errors.md from the code and scripts/errors.toml
	$(BIN)/python -m scripts.make_error_pages

man: $(STAMP) ## make the manual pages anew from the words of the command line
	$(BIN)/python -m scripts.make_man

dist: $(STAMP) man ## build a release twice, look into it, install it in empty environments and try it
	$(BIN)/python -m scripts.dist $(ARGS)

screenshots: $(STAMP) packages ## take the pictures of the README anew
	$(BIN)/python -m scripts.screenshots

web-vendor: $(STAMP) ## bring the libraries of the page (needs a package registry)
	$(BIN)/python scripts/vendor_web.py

models-data: $(STAMP) ## renew what is known about models: windows, abilities, prices (needs a package index)
	$(BIN)/python scripts/make_model_data.py

proto: $(STAMP) ## make the code of the gRPC wire from proto/
	$(BIN)/python scripts/make_proto.py

format: $(STAMP) ## rewrite the code in the project's format
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

# Beside the linters, which leave a processor free: otherwise each worker would compile all tests.
compiled: $(STAMP)
	@$(BIN)/pytest --collect-only -qq > /dev/null 2>&1 || true

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

clean: ## remove everything the other targets made
	rm -rf $(VENV) .cache build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call install,ENVIRONMENT,WHAT,NAME): PYTHON=... picks the interpreter; otherwise the first that is new enough.
# Bridle was once installed under the name of another package: that is removed, as both own the same files.
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

# The model runtime carries 77 MB of debug information, which only a debugger would read.
$(PRODUCT):
	$(call install,build/demo,the product,.[local])
	@strip --strip-debug build/demo/lib/python3*/site-packages/xllamacpp/*.so 2>/dev/null || true
	@touch $@
