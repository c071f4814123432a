# `make help` lists the targets. C++ is built by CMake and Ninja; this file only strings tools together.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
JOBS ?= $(shell nproc)
VENV := .venv
BIN := $(CURDIR)/build/release/bin
started := $(shell date +%s)
stage = @printf '\n==> %s\n' "$(1)"

.PHONY: help deps venv build debug asan test demo soak format lint clean \
        configure format-check layers ctest package pytest

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

build: configure  ## library, command line and tests, optimised, in build/release
	@cmake --build --preset release

debug:  ## the same with asserts and without optimisation, in build/debug
	@[[ -f build/debug/build.ninja ]] || cmake --preset debug
	@cmake --build --preset debug

asan:  ## build with address and undefined-behaviour sanitizers and run ctest
	@[[ -f build/asan/build.ninja ]] || cmake --preset asan
	@cmake --build --preset asan
	@ctest --preset asan -j $(JOBS)

demo: deps  ## build, then simulate a snake among pegs into build/demo/pegs.h5
	@$(MAKE) build
	@mkdir -p build/demo
	build/release/bin/saltus run scenes/p0/pegs.yaml -o build/demo/pegs.h5

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
	@$(MAKE) lint
	$(call stage,C++ tests)
	@$(MAKE) ctest
	$(call stage,install and example package)
	@$(MAKE) package
	$(call stage,Python tests)
	@$(MAKE) pytest
	@printf '\n==> all passed in %d s\n' $$(($$(date +%s) - $(started)))

soak: export SALTUS_SOAK = 1
soak: deps venv  ## the long tests: ctest and pytest with SALTUS_SOAK=1
	@$(MAKE) build
	@$(MAKE) ctest
	@$(MAKE) pytest

format:  ## apply clang-format
	@tools/format.sh

format-check:
	@tools/format.sh --check

lint: configure  ## clang-tidy over what has changed since it last passed
	@tools/lint.sh

layers:
	@$(PYTHON) tools/check_layers.py --self-test
	@$(PYTHON) tools/check_layers.py

ctest:
	@ctest --preset release -j $(JOBS)

# Installs, then builds and runs examples/cmake-package as a user of the installed tree would.
package:
	@rm -rf build/install build/example
	@cmake --install build/release --prefix build/install >/dev/null
	@cmake -S examples/cmake-package -B build/example -G Ninja -DCMAKE_BUILD_TYPE=Release \
	  -DCMAKE_PREFIX_PATH=$(CURDIR)/build/install >/dev/null
	@cmake --build build/example
	build/example/saltus_example

# Exit status 5 means that pytest found no test: fine only while there is none.
pytest: export SALTUS_BIN = $(BIN)/saltus
pytest:
	@status=0; $(VENV)/bin/python -m pytest -q tests || status=$$?; \
	if [[ $$status == 5 && -z "$$(find tests -name 'test_*.py' 2>/dev/null)" ]]; then \
	  echo "pytest: no tests yet"; status=0; fi; \
	exit $$status

clean:  ## remove all that was built; keep the Python environment
	rm -rf build
