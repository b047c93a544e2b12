# The front door. The build itself is described in CMakeLists.txt; these targets need
# nothing but make, git and, to install what is missing, apt.
#
# Where packages come from elsewhere, `make test SETUP=:` skips installing them. `make WEB=OFF`
# builds without the viewer, which needs Node.js and npm.

SHELL := /bin/sh
BUILD ?= build
SETUP ?= tools/setup
prefix ?= /usr/local
WEB ?= ON
TARGET ?=
SECONDS ?= 60
MINUTES ?= 60

release := $(BUILD)/release
quick := $(BUILD)/quick
fuzz := $(BUILD)/fuzz
target := $(patsubst fuzz_%,%,$(TARGET))

.PHONY: all demo quick test check soak install uninstall python bench deb deb-check fuzz tidy format docs clean help

all: ## build the optimised program, build/cairn
	@[ -f $(release)/build.ninja ] || cmake --preset release -B $(release) -DCN_WEB=$(WEB) --log-level=WARNING
	@cmake --build $(release)
	@ln -sfn release/cairn $(BUILD)/cairn
	@ln -sfn release/cairn $(BUILD)/cairn-uftrace

demo: ## install what is missing, build quickly, and show cairn at work
	@$(SETUP) build web
	@if [ -e $(release)/cairn ]; then $(MAKE) --no-print-directory all; \
	    else $(MAKE) --no-print-directory quick; fi
	@tools/demo $(BUILD)

# Without optimisations that take long, libcairn, man pages and the engine of pages without a server.
quick:
	@[ -f $(quick)/build.ninja ] || cmake --preset quick -B $(quick) -DCN_WEB=$(WEB) --log-level=WARNING
	@cmake --build $(quick) --target cairn demo_words
	@ln -sfn quick/cairn $(BUILD)/cairn
	@ln -sfn quick/cairn $(BUILD)/cairn-uftrace

test: ## install what is missing, build, and run every test
	@$(SETUP) build web test
	@tools/run-tests

check: ## build what changed since main and run the tests near it, in under two minutes
	@$(SETUP) build web test
	@tools/check-changes $(BASE)

soak: ## look for rare failures, with new seeds: make soak MINUTES=60
	@$(SETUP) build web test
	@cmake --preset dev --log-level=WARNING >/dev/null
	@cmake --build --preset dev >/dev/null
	@tools/soak $(MINUTES) $(ITEMS)

install: all ## install below $(DESTDIR)$(prefix): program, library, Python module, man pages, completions
	@DESTDIR='$(DESTDIR)' cmake --install $(release) --prefix '$(prefix)'
	@tools/build-python --library $(release)/libcairn.so.1 --prefix '$(prefix)' --root '$(DESTDIR)' \
	    --manifest $(release)/install_manifest.txt
	@if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

uninstall: ## remove what `make install` installed last, below the same $(DESTDIR)
	@sed 's|^|$(DESTDIR)|' $(release)/install_manifest.txt | xargs -d '\n' rm -f --
	@sed -n 's|/__init__.py$$|/__pycache__|p' $(release)/install_manifest.txt | sed 's|^|$(DESTDIR)|' | \
	    xargs -r -d '\n' rm -rf --
	@sed -n 's|\(.*/cairn\)/[^/]*$$|$(DESTDIR)\1|p' $(release)/install_manifest.txt | sort -u | \
	    xargs -r -d '\n' rmdir --ignore-fail-on-non-empty --

python: ## build the Python module, a wheel in build/python
	@$(SETUP) build web test
	@$(MAKE) --no-print-directory all
	@tools/build-python --library $(release)/libcairn.so.1 --wheel $(BUILD)/python

bench: ## measure the optimised program
	@$(SETUP) build web
	@$(MAKE) --no-print-directory all
	@bench/run

deb: ## build the Debian packages, build/deb/*.deb
	@$(SETUP) build web package
	@tools/build-deb $(BUILD)/deb

deb-check: deb ## check them: built twice, lintian, a clean chroot
	@tools/check-deb $(BUILD)/deb

fuzz: ## fuzz one target: make fuzz TARGET=NAME SECONDS=60
	@$(SETUP) build test
	@[ -f tests/fuzz/fuzz_$(target).c ] || { echo "make fuzz TARGET=NAME, one of:" && \
	    ls tests/fuzz | sed -n 's/^fuzz_\(.*\)\.c$$/  \1/p'; exit 2; }
	@[ -f $(fuzz)/build.ninja ] || cmake --preset fuzz -B $(fuzz) --log-level=WARNING
	@cmake --build $(fuzz) --target fuzz_$(target) fuzz_$(target)_replay
	@mkdir -p $(fuzz)/corpus/$(target)
	@$(fuzz)/tests/fuzz_$(target)_replay --write-seeds $(fuzz)/corpus/$(target)
	@$(fuzz)/tests/fuzz_$(target) -max_total_time=$(SECONDS) \
	    -artifact_prefix=$(fuzz)/ $(fuzz)/corpus/$(target) $(wildcard tests/fuzz/corpus/$(target))

tidy: ## static analysis of the sources with clang-tidy
	@$(SETUP) build test tidy
	@cmake --preset fuzz -B $(fuzz) --log-level=WARNING
	@find src -name '*.c' | sort | xargs -P "$$(nproc)" -n 1 \
	    clang-tidy --quiet --warnings-as-errors='*' -p $(fuzz)

format: ## format the sources
	@tools/check_format --fix
	@[ ! -d web/node_modules/prettier ] || npm --prefix web run --silent format -- --write

docs: ## write the tables of docs/http-api.md, from its schema
	@node web/schema.mjs docs

clean: ## remove everything that was built
	@rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | \
	    while IFS='|' read -r name text; do printf 'make %-9s %s\n' "$$name" "$$text"; done
