# The commands of the project. Each installs what is missing and builds what it needs into
# build/<preset>; JOBS=4 makes builds wider.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export JOBS
BUILD = scripts/deps.sh && scripts/build.sh
SOURCES = git ls-files '*.h' '*.cpp'

# ccache, where there is one, serves every checkout of this tree.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

.DEFAULT_GOAL := help
.PHONY: help demo build test asan bench bench-peers size amalgamation fuzz libfuzzer format lint models clean

help: ## what there is
	@grep -hE '^[a-z-]+: .*##' Makefile | sed -E 's/:[^#]*## */\t/' | expand -t 12

demo: ## export a trained classifier, run 360 images through it, compare with PyTorch's numbers
	@$(BUILD) release taper_demo
	@build/release/bin/taper_demo demo

build: ## everything, release
	@$(BUILD) release

test: ## every test, release, with the backends
	@scripts/deps.sh backends || echo "make test: goes on without backends: what they run is not tested" >&2
	@$(BUILD) release
	@ctest --preset release

asan: ## every test under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(BUILD) asan
	@ctest --preset asan

bench: build ## the measured figures: export, load, dispatch, kernels
	@scripts/bench.sh build/release

bench-peers: ## Taper beside ExecuTorch, ONNX Runtime, OpenVINO and others, into docs/benchmarks.md
	@scripts/bench_peers.sh

size: ## bytes of the runtime on a device, beside limits and stored figures (STORE=1 stores them)
	@$(BUILD) release taper
	@scripts/size.sh build/release $(if $(STORE),--store)

amalgamation: ## the runtime as taper_runtime.h and taper_runtime.cpp, in build/amalgamation
	@$(BUILD) release taper_schema_headers
	@scripts/amalgamate.sh build/release build/amalgamation

fuzz: ## mutants of .pte and .pt2 under sanitizers; RUNS=n (200000)
	@$(BUILD) asan taper_fuzz
	@scripts/fuzz.sh build/asan $${RUNS:-200000}

libfuzzer: ## coverage-guided fuzz targets, built with clang into build/fuzz/bin
	@scripts/deps.sh clang
	@$(BUILD) fuzz

format: ## clang-format 14 over the tree
	@scripts/deps.sh clang
	@$(SOURCES) | xargs -n 20 clang-format-14 -i --style=file

lint: ## format check, clang warnings, clang-tidy 14
	@scripts/deps.sh clang
	@$(SOURCES) | xargs -n 20 clang-format-14 --dry-run -Werror --style=file
	@$(BUILD) clang
	@git ls-files '*.cpp' ':!test/firmware' | xargs -P $(JOBS) -n 4 clang-tidy-14 --quiet -p build/clang

models: ## the full-size models that the benchmarks export (scripts/venv.sh makes the Python for it)
	@scripts/models.sh

clean: ## removes build/
	@rm -rf build
