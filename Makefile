# The project's commands. Each installs what is missing and builds what it needs in
# build/<preset>; JOBS=4 runs four build jobs at a time.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export JOBS
BUILD = scripts/deps.sh && scripts/build.sh
SOURCES = git ls-files '*.h' '*.cpp'

# All checkouts of this tree share the cache of ccache, if it is installed.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

.DEFAULT_GOAL := help
.PHONY: help demo build test wheel asan tsan coverage bench bench-peers bench-breadth figures size amalgamation fuzz faults libfuzzer format lint models clean

help: ## list these commands
	@grep -hE '^[a-z-]+: .*##' Makefile | sed -E 's/:[^#]*## */\t/' | expand -t 12

demo: ## export a trained classifier, run 360 images through it, compare with PyTorch's numbers
	@$(BUILD) release taper_demo
	@build/release/bin/taper_demo demo

build: ## everything, in release mode
	@$(BUILD) release

test: ## every test, in release mode, with the backends
	@scripts/deps.sh backends || echo "make test: missing backends are not built or tested" >&2
	@$(BUILD) release
	@ctest --preset release

asan: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(BUILD) asan
	@ctest --preset asan

tsan: ## what threads share, under ThreadSanitizer; RUNS=n (1000)
	@scripts/threads.sh $${RUNS:-1000}

coverage: ## which lines of what reads files the tests and fuzzers run; RUNS=n mutants (2000)
	@scripts/deps.sh backends || echo "make coverage: missing backends are left out" >&2
	@scripts/coverage.sh $${RUNS:-2000} $(LEAST)

bench: build ## the measured figures: export, load, dispatch, kernels
	@scripts/bench.sh build/release

bench-peers: ## compare Taper with ExecuTorch, ONNX Runtime, OpenVINO and others: docs/benchmarks.md
	@scripts/bench_peers.sh

bench-breadth: ## the same for many architectures, the worst first: docs/benchmarks_breadth.md
	@scripts/bench_peers.sh --breadth

figures: ## measure the tables of README and docs and write them (ONLY=export,run); CHECK=1 names old ones
	@$(if $(CHECK),,$(BUILD) release &&) python3 test/bench/figures/figures.py $(if $(CHECK),--check) $(if $(ONLY),--only $(ONLY))

wheel: ## the Python package as build/wheel/*.whl, for Python 3.10 and later and glibc 2.28 and later (ARCH=aarch64, PLATFORM=win_amd64)
	@scripts/deps.sh wheel $(if $(filter aarch64,$(ARCH)),arm64) $(if $(filter win_amd64,$(PLATFORM)),windows)
	@scripts/deps.sh backends || echo "make wheel: it will lack the missing backends" >&2
	@$(if $(PLATFORM),PLATFORM=$(PLATFORM)) $(if $(ARCH),ARCH=$(ARCH)) scripts/python.sh --wheel

size: ## bytes of the runtime on a device, with limits and stored figures (STORE=1 stores new ones)
	@$(BUILD) release taper
	@scripts/size.sh build/release $(if $(STORE),--store)

amalgamation: ## write the runtime as taper_runtime.h and taper_runtime.cpp into build/amalgamation
	@$(BUILD) release taper_schema_headers
	@scripts/amalgamate.sh build/release build/amalgamation

fuzz: ## run mutants of .pte and .pt2 under sanitizers; RUNS=n (200000)
	@$(BUILD) asan taper_fuzz
	@scripts/fuzz.sh build/asan $${RUNS:-200000}

faults: ## let every allocation fail once, of all scenarios of test/faults; FILTER='*OfTheCompiler*'
	@$(BUILD) release test_faults_test
	@scripts/faults.sh build/release $(if $(FILTER),'$(FILTER)')

libfuzzer: ## a coverage-guided fuzz target, built with clang; KIND=pte, SECONDS=n (600)
	@scripts/deps.sh clang
	@scripts/libfuzzer.sh $${KIND:-pte} $${SECONDS:-600}

format: ## run clang-format 14 on all sources
	@scripts/deps.sh clang
	@$(SOURCES) | xargs -n 20 clang-format-14 -i --style=file

lint: ## format check, clang warnings, clang-tidy 14; LOG=1 stores the result (scripts/lint_result.txt)
	@scripts/deps.sh && scripts/deps.sh clang
	@scripts/lint.sh $(if $(LOG),--log)

models: ## make the full-size models for the benchmarks (installs PyTorch, see scripts/venv.sh)
	@scripts/models.sh

clean: ## remove build/
	@rm -rf build
