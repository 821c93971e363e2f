# The front door. Meson does the work; these are the commands to remember.
#
#   make demo    install what is missing, build, show a real outage
#   make test    install what is missing, build, run every test
#
# `make help` lists the rest.

BUILD        ?= build
BUILDTYPE    ?= debugoptimized
PREFIX       ?= /usr/local
DESTDIR      ?=
FUZZ_SECONDS ?= 30
SOAK_COUNT   ?= 1000000
SOAK_MINUTES ?= 10
MESON        ?= meson

.DEFAULT_GOAL := all
.PHONY: all help setup demo test soak bench coverage fuzz format install clean

all: $(BUILD)/build.ninja ## build the libraries, the program and the examples
	@ninja --quiet -C $(BUILD)

# Configured once; ninja itself notices when a meson.build changes. The tests have
# build directories of their own (scripts/test.sh), and need more to be installed.
$(BUILD)/build.ninja:
	@$(MESON) setup $(BUILD) --buildtype=$(BUILDTYPE) -Dtests=false >/dev/null

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' \
		$(MAKEFILE_LIST)

setup: ## install what is missing (Debian 12, as root or with sudo)
	@scripts/setup.sh build test

demo: ## install what is missing, build, show a real outage (30 s)
	@scripts/setup.sh build
	@$(MAKE) --no-print-directory all
	@$(BUILD)/cmd/bide demo

test: ## install what is missing, build, run every test
	@scripts/setup.sh build test
	@scripts/test.sh

soak: ## chaos for SOAK_MINUTES, SOAK_COUNT requests in hostile company
	@scripts/setup.sh build test
	@SOAK_COUNT=$(SOAK_COUNT) SOAK_MINUTES=$(SOAK_MINUTES) scripts/soak.sh

bench: ## build with -O2 -DNDEBUG and print the benchmark tables
	@scripts/setup.sh build bench
	@scripts/bench.sh

coverage: ## line and branch coverage of lib/, with an HTML report
	@scripts/setup.sh build test
	@scripts/test.sh coverage

fuzz: ## fuzz each target for FUZZ_SECONDS (30) with libFuzzer
	@scripts/setup.sh build test
	@scripts/fuzz.sh $(FUZZ_SECONDS)

# Not the whole tree: there are tables in it that were laid out by hand.
format: ## apply .clang-format to the lines that are not committed yet
	@git-clang-format-14 --binary clang-format-14 --quiet --force || [ $$? -eq 1 ]
	@git ls-files -o --exclude-standard '*.c' '*.h' | xargs -r clang-format-14 -i

install: ## release build, installed under DESTDIR and PREFIX (/usr/local)
	@test -f build-release/build.ninja || \
		$(MESON) setup build-release --buildtype=release -Dtests=false
	@$(MESON) configure build-release --prefix=$(PREFIX)
	@ninja -C build-release
	@DESTDIR=$(DESTDIR) $(MESON) install -C build-release --no-rebuild

clean: ## remove every build directory
	rm -rf $(BUILD) build-test build-bench build-fuzz build-soak build-release
