# Two commands matter: `make demo` and `make test`. Each sets up what it needs; both are quick the second time.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
UV := .tools/bin/uv
BIN := .venv/bin
CORES := $(shell nproc)
export UV_PYTHON_DOWNLOADS := never
BESIDE := $(MAKE) --no-print-directory -j2 --output-sync=line

# Where it is set, each run of pytest would compile all tests again.
unexport PYTHONDONTWRITEBYTECODE

# What is set up for tests or the demo alone is quickly compiled; an optimised build that is there stays.
BUILT := $(filter release,$(shell cat python/jostle/bin/profile 2>/dev/null))
check release runtimes test test-python fuzz format: export JOSTLE_PROFILE := $(or $(BUILT),checked)
demo: export JOSTLE_PROFILE := $(or $(BUILT),quick)

.PHONY: audit docs help release release-tools setup runtimes demo check check-rust check-python test test-rust test-unit \
	test-python test-beside test-alone fuzz format bench truth wheel clean

help:           ## Say what there is.
	@grep -hE '^[a-z-]+: .*##|^[a-z-]+:  *##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 16

setup: ## Tools, the locked environment, the engine and the reference servers.
	@scripts/setup.sh

demo: ## Set up the command, and race two real servers; some 4 minutes the first time.
	@scripts/demo.sh

check: setup ## Formatting, lints, types, import arrows, unused code, documents made from the code, licences, known holes.
	@$(BESIDE) check-rust check-python

# What is linted is compiled, and the tests are what is linted: with clippy in the compiler's place nothing is done twice.
check-rust test-rust: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
check-rust test-rust: export CLIPPY_ARGS := -Dwarnings

check-rust:
	cargo fmt --all --check
	cargo test --profile checked --locked --workspace --no-run --quiet
	cargo metadata --locked --format-version 1 --manifest-path crates/engine/fuzz/Cargo.toml >/dev/null # its own lock

check-python:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/unused.py
	$(BIN)/python scripts/docs --check
	$(BIN)/python scripts/engine_layers.py
	$(BIN)/python scripts/audit

runtimes: setup ## Debian packages: the runtimes of all contestants, the browser for the page's tests, and peers.
	@$(BIN)/jostle contestants install --all
	@scripts/install-test-tools.sh

# Installing packages takes little of the cores: meanwhile what needs none of them is built and tested.
test: setup ## All tests: beside the installation of the runtimes, then side by side, and last those that measure.
	@$(BESIDE) runtimes test-rust test-unit
	@$(MAKE) --no-print-directory test-beside
	@$(MAKE) --no-print-directory test-alone

test-rust:
	cargo test --profile checked --locked --workspace --quiet

fuzz: setup ## Look for inputs that break the engine, a minute for each fuzz target; longer: SECONDS=300.
	scripts/fuzz.sh $(SECONDS)

# Tests run real servers beside one another, and the machine may stall: what failed is run once more, with nothing beside
# it. A defect fails again; what passes then stays in the output as a failure of the first run.
AGAIN := $(BIN)/pytest --last-failed --last-failed-no-failures none

test-python:    ## Those of the Python package: side by side, then alone those that measure; once more what failed.
	@$(MAKE) --no-print-directory test-unit
	@$(MAKE) --no-print-directory test-beside
	@$(MAKE) --no-print-directory test-alone

UNIT := tests/unit tests/oracles
REAL := $(UNIT:%=--ignore %)

test-unit:
	$(BIN)/pytest $(UNIT) -n $(CORES) --dist loadfile || { [ $$? = 1 ] && $(AGAIN) $(UNIT); }

# Tests with real servers mostly wait: two for each core.
test-beside:
	$(BIN)/pytest $(REAL) -m "not alone" -n $(shell expr $(CORES) \* 2) --dist loadfile --no-loadscope-reorder || { [ $$? = 1 ] && $(AGAIN) $(REAL) -m "not alone"; }

test-alone:
	$(BIN)/pytest -m alone tests/integration || { [ $$? = 1 ] && $(AGAIN) -m alone tests/integration; }

release-tools:
	@UV_PROJECT_ENVIRONMENT=.tools/release $(UV) sync --locked --quiet --only-group release --no-install-project

audit: setup release-tools ## Known holes, licences, bills of materials, pins; the wheel built twice, byte by byte the same.
	$(BIN)/python scripts/audit
	$(BIN)/python scripts/audit --wheel

format: setup ## Format everything.
	cargo fmt --all
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: setup ## jostle against its peers and its bars, in one run; ONLY=memory,devices: some sections; QUICK=1: a trial.
	$(BIN)/python bench/run.py $(if $(ONLY),--only $(ONLY)) $(if $(APPS),--apps $(APPS)) $(if $(QUICK),--quick)

truth: setup ## Is what is called 95 % 95 %? Tables for the documents, simulated; SERVERS=1, GATE=1, ACTION=1, VERDICT=1: on real servers; QUICK=1: a trial.
	PYTHONPATH=bench $(BIN)/python -m truth $(if $(SERVERS),--servers) $(if $(GATE),--gate) $(if $(ACTION),--action) $(if $(VERDICT),--verdict) $(if $(QUICK),--quick)

docs: ## The site of docs/, into target/site: strict, searchable, to be opened as files.
	@scripts/website.sh

wheel: setup ## The wheel and the source distribution, into dist/.
	$(UV) build

release: setup release-tools ## Wheels for all machines, source distribution, checksums, into dist/release; ONLY=TRIPLE,…: some.
	$(BIN)/python scripts/release $(if $(ONLY),--only $(ONLY))

clean: ## Everything that was built; not the cache of contestants.
	rm -rf target crates/engine/fuzz/target .venv .tools dist python/jostle/bin python/jostle/*.so
