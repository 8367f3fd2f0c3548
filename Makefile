# The commands of this repository. Each one first brings what it needs onto the machine (tools/setup.sh), and a second
# run does nothing twice. `make` alone explains them.

PREFIX ?= /usr/local
# A file that includes torch takes up to 2 GB to compile.
MEMORY_JOBS := $(shell awk '/MemAvailable/ { print int($$2 / 2e6) + 1 }' /proc/meminfo)
JOBS ?= $(shell printf '%s\n' $$(nproc) $(MEMORY_JOBS) | sort -n | head -1)
BUILD := build

.DEFAULT_GOAL := help
.PHONY: help setup-system setup-torch setup-oracle setup-assets configure compile build test test-full demo-build demo demo-quick bench \
        fuzz notebook notebook-build notebook-test notebook-bench install docs format lint clean

help:
	@echo 'make build             set up and build: programs in build/bin, libraries in build/lib'
	@echo 'make test              set up, build and run the tests'
	@echo 'make test-full         the same with the long tests'
	@echo 'make demo              fine-tune a language model on film reviews, on two processes'
	@echo 'make demo-quick        the same with text messages, in about a minute'
	@echo 'make notebook          open the tutorial in JupyterLab, with C++ cells'
	@echo 'make notebook-test     run the notebooks and the tests of their kernel'
	@echo 'make notebook-bench    measure how fast cells and launches are, beside clang-repl and Python'
	@echo 'make bench             measure against the Python stack; also writes build/bench.json'
	@echo 'make fuzz              look for files that break a reader, FUZZ_SECONDS=60 for each kind'
	@echo 'make install PREFIX=…  install the library, its headers and the accelerate command'
	@echo 'make docs              write the API reference to build/docs'
	@echo 'make format            lay out the sources with clang-format'
	@echo 'make lint              check layout, names and the direction of includes'
	@echo 'make clean             remove the build directories; keeps .venv and .ccache'
	@echo
	@echo 'To use a libtorch of your own, put its directory into CMAKE_PREFIX_PATH.'

setup-system:
	@tools/setup.sh system

# Whoever brings a libtorch along does not need ours.
setup-torch: setup-system
	@$(if $(CMAKE_PREFIX_PATH),true,tools/setup.sh torch)

setup-oracle: setup-torch
	@tools/setup.sh oracle

setup-assets: setup-system
	@tools/setup.sh assets

configure:
	@cmake --preset release $(CMAKE_ARGS)

compile:
	@cmake --build $(BUILD) --parallel $(JOBS)

build: setup-torch
	@$(MAKE) --no-print-directory configure
	@$(MAKE) --no-print-directory compile

test:
	@tools/test.sh

test-full:
	@tools/test.sh --full

# Builds what the demonstration runs and no more, so that it begins soon.
demo-build: setup-torch setup-assets
	@$(MAKE) --no-print-directory configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target accelerate_command nlp_example

demo: demo-build
	$(BUILD)/bin/accelerate launch --num_processes 2 $(BUILD)/bin/nlp_example

demo-quick: demo-build
	$(BUILD)/bin/accelerate launch --num_processes 2 $(BUILD)/bin/nlp_example --quick

bench: build setup-oracle
	@cmake --build $(BUILD) --parallel $(JOBS) --target benchmarks
	.venv/bin/python benchmarks/run.py

fuzz: setup-oracle
	@tools/setup.sh fuzz
	@tools/fuzz.sh

notebook-build: setup-torch setup-assets
	@tools/setup.sh notebook
	@$(MAKE) --no-print-directory configure CMAKE_ARGS="-DACCELERATE_NOTEBOOK=ON $(CMAKE_ARGS)"
	@cmake --build $(BUILD) --parallel $(JOBS) --target accelerate_cells accelerate_kernel accelerate_command

# The kernel is made known to the Jupyter of .venv only. Root has to tell Jupyter that this is wanted.
NOTEBOOK_FLAGS ?= $(if $(filter 0,$(shell id -u)),--allow-root)
notebook: notebook-build
	@$(BUILD)/bin/accelerate notebook install --prefix .venv
	.venv/bin/jupyter lab $(NOTEBOOK_FLAGS) examples/notebooks/fine_tune.ipynb

notebook-test: notebook-build
	@$(if $(ACCELERATE_TEST_FULL),tools/setup.sh browser)
	@cmake --build $(BUILD) --parallel $(JOBS) --target notebook_test
	@ctest --test-dir $(BUILD) --output-on-failure -R '^notebook_' $(if $(ACCELERATE_TEST_FULL),,-LE '^full$$')

notebook-bench: notebook-build setup-oracle
	@$(BUILD)/bin/accelerate notebook install --prefix $(BUILD)/notebook
	.venv/bin/python benchmarks/notebook.py

install: build
	@cmake --install $(BUILD) --prefix $(abspath $(PREFIX)) >$(BUILD)/install.log
	@echo "Installed into $(abspath $(PREFIX)); the list of files is in $(BUILD)/install.log"

docs: setup-system
	python3 tools/make_reference.py --output $(BUILD)/docs/reference

format: setup-system
	@tools/setup.sh lint
	@tools/lint.sh --fix-format

lint: setup-torch
	@tools/setup.sh lint
	@tools/lint.sh

clean:
	rm -rf build build-*
