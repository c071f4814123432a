# `make help` lists the targets. C++ is built by CMake and Ninja; this file only strings tools together.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
JOBS ?= $(shell nproc)
VENV := .venv
FCLIB ?= ../shared/fclib
FUZZ_RUNS ?= 10000000
BIN := $(CURDIR)/build/release/bin
started := $(shell date +%s)
stage = @printf '\n==> %s\n' "$(1)"

.PHONY: help deps peers bench bench-build bench-clang fclib venv viewer build cli debug asan tsan fuzz fuzz-build test demo soak accept format lint clean \
        configure format-check layers ctest package python pytest \
        browser-tests

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' Makefile

deps:  ## install the Debian packages that are missing
	@tools/install-deps.sh

venv:  ## the project's Python environment, remade when tools/requirements.txt changes
	@if cmp -s tools/requirements.txt $(VENV)/requirements.txt \
	    && $(VENV)/bin/python -c '' 2>/dev/null; then \
	  echo "venv: up to date"; \
	else \
	  rm -rf $(VENV); \
	  $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); /usr/bin/python3 -m venv $(VENV); } || { \
	    echo "venv: neither '$(PYTHON)' nor /usr/bin/python3 can make a virtual environment;" \
	      "install python3-venv ('make deps') or name another with PYTHON=..." >&2; exit 1; }; \
	  $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tools/requirements.txt; \
	  cp tools/requirements.txt $(VENV)/requirements.txt; \
	fi

# An existing build configures itself again when it has to.
configure:
	@[[ -f build/release/build.ninja ]] || cmake --preset release

# The viewer is one page, viewer/dist/index.html, that CMake puts into the command line.
viewer: viewer/dist/index.html  ## the viewer's page, rebuilt when its sources change

viewer/node_modules/.package-lock.json: viewer/package.json viewer/package-lock.json
	@npm --prefix viewer ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

viewer/dist/index.html: viewer/node_modules/.package-lock.json viewer/index.html \
    viewer/vite.config.js viewer/tsconfig.json $(shell find viewer/src -type f 2>/dev/null)
	@npm --prefix viewer run --silent build --loglevel=error

build: viewer configure  ## library, command line and tests, optimised, in build/release
	@cmake --build --preset release

cli: viewer configure  ## the command line alone, in build/release/bin
	@cmake --build --preset release --target saltus_cli

debug:  ## the same with asserts and without optimisation, in build/debug
	@[[ -f build/debug/build.ninja ]] || cmake --preset debug
	@cmake --build --preset debug

asan:  ## build with address and undefined-behaviour sanitizers and run ctest
	@[[ -f build/asan/build.ninja ]] || cmake --preset asan
	@cmake --build --preset asan
	@ctest --preset asan -j $(JOBS)

tsan:  ## build with the thread sanitizer and run ctest
	@[[ -f build/tsan/build.ninja ]] || cmake --preset tsan
	@cmake --build --preset tsan
	@ctest --preset tsan -j $(JOBS)

# What reads and builds is compiled by clang with the sanitizers; the rest is that of build/release.
fuzz-build: configure
	@cmake --build --preset release --target saltus
	@[[ -f build/fuzz/build.ninja ]] || cmake --preset fuzz
	@cmake --build --preset fuzz

fuzz: fuzz-build  ## libFuzzer with sanitizers on all that reads files: robots, scenes, meshes, maps, problems, runs (FUZZ_RUNS=10000000)
	@tests/fuzz/run.sh $(FUZZ_RUNS)

peers:  ## install the engines that `make bench` compares with; nothing else needs them
	@tools/install-peers.sh

# Benchmarks have a build of their own: configured with the peers, and without the tests.
bench-build: peers
	@cmake --preset release -B build/bench -DSALTUS_BENCH=ON -DSALTUS_TESTS=OFF >/dev/null
	@cmake --build build/bench

bench: bench-build  ## build and run every benchmark, into build/bench/*.md (BENCH_ARGS=--quick)
	@build/bench/bin/saltus bench all $(BENCH_ARGS) | tee build/bench/table.md
	@build/bench/bin/saltus bench fclib --problems $(FCLIB) | tee build/bench/fclib.md
	@build/bench/bin/saltus bench quadruped $(BENCH_ARGS) | tee build/bench/quadruped.md

fclib: bench-build  ## the friction problems in FCLIB=../shared/fclib, beside Siconos
	@build/bench/bin/saltus bench fclib --problems $(FCLIB) | tee build/bench/fclib.md

# Ours and Pinocchio by clang with the same flags; -Werror is for the compiler of the project.
bench-clang: peers  ## the dynamics benchmark compiled by clang
	@cmake --preset release -B build/bench-clang -DCMAKE_CXX_COMPILER=clang++ \
	  -DCMAKE_C_COMPILER=clang -DSALTUS_BENCH=ON -DSALTUS_TESTS=OFF -DSALTUS_WERROR=OFF >/dev/null
	@cmake --build build/bench-clang --target saltus_cli dynamics_bench
	@build/bench-clang/bin/saltus bench dynamics | tee build/bench-clang/table.md

demo: deps  ## build the command line, simulate a snake among pegs, make a page that replays it
	@$(MAKE) cli
	@mkdir -p build/demo
	build/release/bin/saltus run scenes/p0/pegs.yaml -o build/demo/pegs.h5
	build/release/bin/saltus report build/demo/pegs.h5 -o build/demo/pegs.html
	@printf '\nOpen the replay in a browser:\n  file://%s\n' "$(CURDIR)/build/demo/pegs.html"

test:  ## everything that has to hold before a commit
	$(call stage,packages)
	@$(MAKE) deps
	$(call stage,Python environment)
	@$(MAKE) venv
	$(call stage,layers)
	@$(MAKE) layers
	$(call stage,format)
	@$(MAKE) format-check
	$(call stage,build)
	@$(MAKE) build
	$(call stage,lint)
	@tools/lint.sh --changed
	$(call stage,C++ tests)
	@$(MAKE) ctest
	$(call stage,install and example package)
	@$(MAKE) package
	$(call stage,Python package)
	@$(MAKE) python
	$(call stage,Python tests)
	@$(MAKE) pytest
	$(call stage,browser tests)
	@$(MAKE) browser-tests
	@printf '\n==> all passed in %d s\n' $$(($$(date +%s) - $(started)))

soak: export SALTUS_SOAK = 1
soak: deps venv  ## the long tests: ctest and pytest with SALTUS_SOAK=1, clang-tidy over all and its analyzer
	@$(MAKE) build
	@tools/lint.sh
	@tools/lint.sh --deep
	@$(MAKE) ctest
	@$(MAKE) python
	@$(MAKE) pytest
	@$(MAKE) browser-tests

# Not in `make test`: it needs the machine for itself, and for longer.
accept:  ## a fresh clone with an empty compiler cache: make demo and make test there, timed; robots of others
	@tools/accept.sh

format:  ## apply clang-format
	@tools/format.sh

format-check:
	@tools/format.sh --check

lint: configure  ## clang-tidy over all that has changed since it last passed
	@tools/lint.sh

layers:
	@$(PYTHON) tools/check_layers.py --self-test
	@$(PYTHON) tools/check_layers.py

ctest:
	@ctest --preset release -j $(JOBS)

# Installs, then builds and runs examples/cmake-package as a user of the installed tree would; and every
# installed header compiles, so none of those it includes is missing.
package:
	@rm -rf build/install build/example
	@cmake --install build/release --prefix build/install >/dev/null
	@cmake -S examples/cmake-package -B build/example -G Ninja -DCMAKE_BUILD_TYPE=Release \
	  -DCMAKE_PREFIX_PATH=$(CURDIR)/build/install >/dev/null
	@cmake --build build/example
	build/example/saltus_example
	@cd build/install/include && find saltus -name '*.h' -printf '#include "%p"\n' | sort | \
	  c++ -std=c++20 -fsyntax-only -I. -isystem /usr/include/eigen3 -x c++ - && \
	  echo "package: $$(find saltus -name '*.h' | wc -l) headers"

# The package as `pip install .` makes it, but in a build folder that is kept, and by the compiler's
# name in build/release: so ccache knows the library already.
python: $(VENV)/saltus-installed  ## build and install the Python package into the environment

$(VENV)/saltus-installed: CMakeLists.txt python/CMakeLists.txt pyproject.toml $(wildcard $(VENV)/requirements.txt) \
    $(shell find saltus python/saltus python/src scenes cmake -not -path '*/__pycache__*')
	@CC=cc CXX=c++ $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --no-build-isolation -C build-dir=build/python .
	@touch $@

# Exit status 5 means that pytest found no test: fine only while there is none.
pytest: export SALTUS_BIN = $(BIN)/saltus
pytest:
	@status=0; $(VENV)/bin/python -m pytest -q -n $(JOBS) --dist loadfile tests || status=$$?; \
	if [[ $$status == 5 && -z "$$(find tests -name 'test_*.py' 2>/dev/null)" ]]; then \
	  echo "pytest: no tests yet"; status=0; fi; \
	exit $$status

# The viewer in Debian's Chromium, headless, with a software renderer.
browser-tests: export SALTUS_BIN = $(BIN)/saltus
browser-tests: export SALTUS_PYTHON = $(CURDIR)/$(VENV)/bin/python
browser-tests: viewer/node_modules/.package-lock.json
	@cd viewer && node --test --test-concurrency=1 --test-timeout=600000 --test-reporter=spec tests/*.test.mjs

clean:  ## remove all that was built; keep the Python environment and node_modules
	rm -rf build viewer/dist
