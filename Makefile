# Everything from nothing but Python >= 3.10 and make.
#
#   make run [DATA=dir] [DAYS=n]   the main job on the target `dev`
#   make test-fast [WORKERS=n]     the tests that start no JVM
#   make test [WORKERS=n] [CASES=n]  style, types, layers, workflows, then all tests but the long proofs
#                                  CASES: of each matrix with a JVM; COVERAGE=1 measures coverage, too
#   make test-all                  the same, the long proofs, and the product's own Spark settings
#   make warm [TESTS='path …']     tests in a JVM of their own and in a daemon: which results differ
#   make bench [CASE=glob]         benchmarks
#   make docs                      writes the generated pages of docs/
#   make site                      the documentation site, in build/site
#   make release                   what a release publishes, in release/
#   make lint | wheels | clean     PYTHON=python3.12 chooses an interpreter

PYTHON ?=
BIN := .venv/bin
COVERAGE ?=
# Cases of each matrix of tests with a JVM: one by default (tests/lanes.py).
CASES ?=
# A worker is a process with a JVM of 2 to 3 GB; a file's tests stay in one worker.
WORKERS ?= 2
PYTEST := -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=25 --durations-min=5 \
	--junitxml=build/tests.xml $(if $(COVERAGE),--cov --cov-report=term)

# Tests start hundreds of Python processes; without byte code each of them compiles the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := run
.PHONY: run test-fast test test-all warm bench docs site lint wheels release clean

# The environment's own Python checks it fastest; PYTHON, or none there yet, asks for another.
set-up-%:
	@python=$(PYTHON); \
	if test -z "$$python" && test -x $(BIN)/python && test -f .venv/lakeward-setup.json; \
	  then python=$(BIN)/python; else python=$${python:-python3}; fi; \
	command -v "$$python" >/dev/null || { \
	  echo "lakeward needs Python >= 3.10 and there is no $$python on PATH. Install Python 3.10 or newer." >&2; \
	  exit 2; }; \
	exec "$$python" -S scripts/bootstrap.py $*

# Without DATA, a made-up company's week. Its registrations are written last: where they are, it is complete.
DEMO := .lakeward/demo

# A relative DATA is meant from here; /Volumes/… and s3://… are left as they are.
run: set-up-runtime
	@set --; \
	case "$(DATA)" in \
	  '') test -n "$$(ls $(DEMO)/registrations*.json 2>/dev/null)" || \
	        $(BIN)/python -m fixtures.generate $(DEMO) --users 20 --days 7 --seed 1 || exit; \
	      set -- "$$@" --param "source=$(CURDIR)/$(DEMO)" ;; \
	  /*|*:/*) set -- "$$@" --param "source=$(DATA)" ;; \
	  *) set -- "$$@" --param "source=$(CURDIR)/$(DATA)" ;; \
	esac; \
	test -z "$(DAYS)" || set -- "$$@" --param "days=$(DAYS)"; \
	exec $(BIN)/lakeward run daily -t dev "$$@"

lint: set-up-dev
	@$(BIN)/python scripts/lint.py

# The lanes are described in tests/lanes.py.
test-fast: set-up-dev
	@LAKEWARD_TEST_LANE=fast $(BIN)/python $(PYTEST) -m "not slow and not process and not spark"

test: lint
	@LAKEWARD_TEST_LANE=default LAKEWARD_TEST_CASES=$(CASES) $(BIN)/python $(PYTEST)

test-all: lint
	@LAKEWARD_TEST_LANE=all $(BIN)/python $(PYTEST) -m ""

warm: set-up-dev
	@$(BIN)/python scripts/warm_and_cold.py -m "not slow and not process" $(TESTS)

bench: set-up-bench
	@$(BIN)/python -m benchmarks "$(or $(CASE),*)"

docs: set-up-dev
	@PYTHONPATH=.:scripts $(BIN)/python -m pages

site: set-up-runtime
	@$(BIN)/python scripts/build_site.py

# The runtime's wheel, the one that the bundle deploys, and the one with Delta's jars for closed networks.
wheels: set-up-dev
	@$(BIN)/python -m build --no-isolation --wheel --outdir dist .
	@$(BIN)/python -m build --no-isolation --wheel --outdir dist packaging/wearables
	@$(BIN)/python -m build --no-isolation --wheel --outdir dist packaging/lakeward-jars

# What PyPI and the container image get: not the bundle's wheel.
release: set-up-dev
	@rm -rf release
	@$(BIN)/python -m build --no-isolation --outdir release .
	@$(BIN)/python -m build --no-isolation --wheel --outdir release packaging/lakeward-jars

# Keeps the tables in .lakeward and the jars in the cache.
clean:
	rm -rf .venv dist release build .coverage .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
