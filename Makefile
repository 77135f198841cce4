# Every target sets up what it needs by itself; see `make help`.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PORT ?= 8000
SET ?= ps2
course = $(if $(COURSE),"$$COURSE",$(error Say where the course is: make $(1) COURSE=../course))
sets = $(if $(SETS),"$$SETS",$(error Say where your sets are: make $(1) SETS=../my-sets))
# The set that was asked for, and not the one that stands here.
named = $(if $(filter command line,$(origin SET)),$(SET))
# The laboratories, and what takes more than ten seconds: `make test-notebooks` runs their code in the
# Spanish edition, on every change, and `make test-laboratories` in the English one, each week; a test
# compares the two, but for L06 and L10, where each edition asks models of its own language. What takes
# minutes on an older processor runs each week in both.
LONG := $(wildcard notebooks/en/L*.ipynb) \
  $(addprefix notebooks/en/,08_training.ipynb 11_landscape.ipynb 12_language_model.ipynb A2_documents.ipynb A3_text_applications.ipynb)
MINUTES := $(patsubst %,notebooks/es/%.ipynb,11_landscape A3_text_applications L04_multi_head L05_encoder_decoder L06_masking \
  L08_training L10_applications L11_landscape)
OTHER = $(BIN)/python tests/other_processor.py $(BIN)/python -m pytest --nbval -n 2 --dist loadfile --no-loadscope-reorder
BIN := .venv/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1

# One thread, so that numbers are the same on every machine and every run.
export OMP_NUM_THREADS := 1
export PYTHONHASHSEED := 0

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^##@ /{printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Readers: the site and its editions

.PHONY: book
book: .venv/book.stamp ## Build the site in build/site, in both languages (MODELS=no: without the language model)
	@$(BIN)/python book/build.py

.PHONY: serve
serve: book ## Show the site at http://localhost:8000 (PORT=8123)
	@$(BIN)/python book/serve.py '$(PORT)'

.PHONY: editions
editions: .venv/full.stamp book ## Make the PDF, the EPUB and the zip of notebooks of each language
	@$(BIN)/python book/editions

##@ Learners: notebooks, exercises, models

.PHONY: lab
lab: .venv/full.stamp models ## Open the course in JupyterLab
	@JUPYTER_CONFIG_PATH="$(CURDIR)$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}" $(BIN)/jupyter lab notebooks/

# Without a network the rest goes on: the course shows its stored results, and the last lines of the
# tests name those that were left out. In CI nothing may be missing.
.PHONY: models
models: .venv/full.stamp ## Fetch the two pretrained models (190 MB, once; or ATTN_MODELS names a folder)
	@$(BIN)/python -m attn fetch smollm2 minilm || [ -z "$$CI" ]

.PHONY: model
model: .venv/full.stamp ## Train the two translators of real sentences again (about three hours)
	@OMP_NUM_THREADS=1 $(BIN)/python -m attn train --corpus mixture --device cpu --quantised --out attn/applications/models/tatoeba_translator
	@OMP_NUM_THREADS=1 $(BIN)/python -m attn train --corpus mixture --from es --device cpu --quantised --out attn/applications/models/tatoeba_translator_es

.PHONY: grammar-model
grammar-model: .venv/full.stamp ## Train the translator of the grammar again (ten minutes)
	@$(BIN)/python -m attn train --steps 16000 --device cpu --quantised --out attn/applications/models/grammar_translator

.PHONY: emoji
emoji: .venv/full.stamp ## Fetch emoji (143 MB, once), train the model of chapter 11 again and measure it (ten minutes)
	@rm -f notebooks/data/emoji.json
	@$(BIN)/python -m experiments emoji

##@ Instructors: problem sets and marks

.PHONY: demo-class
demo-class: .venv/full.stamp ## Show a class of twelve from release to feedback (SET=ps3)
	@$(BIN)/python -m assignments.demo_class $(SET)

.PHONY: release
release: .venv/full.stamp ## Release problem sets as two nbgrader courses (COURSE=folder SETS=folder SET=name VARIANT=yes)
	@$(BIN)/python -m assignments.release $(call course,release) $(named) $(if $(SETS),--sets $(call sets,release)) $(if $(VARIANT),--variant)

.PHONY: roster
roster: .venv/full.stamp ## Import the students from a table of Moodle or Canvas (COURSE=folder FROM=file.csv)
	@$(BIN)/python -m grader roster $(call course,roster) $(if $(FROM),--from "$$FROM")

.PHONY: collect
collect: .venv/full.stamp ## Collect submissions (COURSE=folder SET=ps2 FROM=folder or zip)
	@$(BIN)/python -m grader collect $(call course,collect) $(SET) $(if $(FROM),--from "$$FROM") $(OPTIONS)

.PHONY: grade
grade: .venv/full.stamp ## Grade submissions (COURSE=folder SET=ps2; one student: STUDENT=id)
	@$(BIN)/python -m grader grade $(call course,grade) $(SET) $(if $(STUDENT),--student '$(STUDENT)') $(OPTIONS)

.PHONY: stats
stats: .venv/full.stamp ## Show how many students made each mistake (COURSE=folder SET=ps2)
	@$(BIN)/python -m grader stats $(call course,stats) $(SET) $(OPTIONS)

.PHONY: similar
similar: .venv/full.stamp ## List submissions that resemble each other (COURSE=folder SET=ps2 OPTIONS="--archive folder")
	@$(BIN)/python -m grader similar $(call course,similar) $(SET) $(OPTIONS)

.PHONY: leaderboard
leaderboard: .venv/full.stamp ## Measure the translators of the project (COURSE=folder)
	@$(BIN)/python -m assignments.leaderboard $(call course,leaderboard) $(OPTIONS)

.PHONY: new-set
new-set: .venv/full.stamp ## Begin a problem set of your own (SETS=folder SET=name FROM=ps2)
	@$(BIN)/python -m assignments.new_set $(call sets,new-set) $(or $(named),$(error Say what the set is called: make new-set SETS=../my-sets SET=quiz1)) $(if $(FROM),--template $(FROM))

.PHONY: prove
prove: .venv/full.stamp ## Prove that your sets are right and fair (SETS=folder; one: SET=name)
	@$(BIN)/python -m grader.problem_sets $(call sets,prove) $(named)
	@$(BIN)/python tests/lint_hints.py $(call sets,prove)
	@ONLY=$(named) $(BIN)/python -m pytest tests/test_assignments/test_private_sets.py -m grader -p no:nbval -n 2

.PHONY: hub
hub: .venv/hub.stamp ## Install JupyterHub and its proxy, for assignments/hub

##@ Maintainers: change, test, measure, publish

.PHONY: lint
lint: .venv/full.stamp ## Check style, imports, hints, types and workflows
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/python -W ignore -m deptry attn attn_course
	@$(BIN)/python -W ignore -m deptry . --config tests/deptry.toml
	@$(BIN)/python tests/lint_hints.py
	@$(BIN)/mypy
	@$(BIN)/jactionlint --strict-exit --shellcheck=
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff

.PHONY: test
test: .venv/full.stamp book models ## Run the tests of package, notebooks and site; the last lines say what is left out
	@$(BIN)/python -m tests.machine browser sandbox
	@$(BIN)/python -m pytest --nbval -n 2 --dist loadfile --no-loadscope-reorder $(LONG:%=--ignore=%)

.PHONY: test-fast
test-fast: .venv/full.stamp ## Run the quick tests of package and sources (a minute)
	@$(BIN)/python -m pytest attn attn_course tests --ignore=tests/test_site --ignore=tests/grader --ignore=tests/test_assignments \
	  -m "not grader and not slow" -p no:nbval --hypothesis-profile=quick -n 2 --dist worksteal

.PHONY: test-changed
test-changed: .venv/full.stamp book ## Run the tests that a change reaches (since a commit: BASE=main)
	@$(BIN)/python tests/changed.py $(or $(BASE),HEAD)

.PHONY: test-core
test-core: .venv/full.stamp ## Run the quick tests of attn alone (a minute; on a GPU: DEVICE=cuda)
	@$(BIN)/python -m pytest $(if $(DEVICE),,attn) tests/core \
	  -m "not grader and not slow" -p no:nbval --hypothesis-profile=quick -n 2 --dist worksteal

.PHONY: lines
HEART = attn/attention/*.py attn/layers.py attn/transformer/config.py attn/transformer/stacks.py attn/transformer/decoder_only.py
lines: ## Count the lines of attn, and of its heart: attention, the layers and one model
	@echo "attn: $$(git ls-files -z 'attn/*.py' | xargs -0 cat | wc -l) lines"
	@echo "attention, layers, one model: $$(cat $(HEART) | wc -l) lines"

.PHONY: test-newest test-oldest
test-newest: ## Run the quick tests of attn with the newest packages that pyproject.toml allows (minutes)
test-oldest: ## Run them with the oldest packages that it allows (minutes)
test-newest test-oldest:
	@rm -rf build/$@ && mkdir -p build && $(or $(PYTHON),python3) -m venv build/$@
	@build/$@/bin/python -m pip install -qq --disable-pip-version-check -e '.[course]' pytest pytest-xdist hypothesis \
	  transformers tokenizers gguf onnx onnxscript onnxruntime \
	  $(if $(filter %oldest,$@),$$(sed -nE '/^\[project\]/,$$s/.*"([a-z-]+)>=([0-9.]+).*/\1==\2/p' pyproject.toml))
	@build/$@/bin/python -m pip freeze
	@build/$@/bin/python -m pytest attn tests/core \
	  -m "not grader and not slow" -p no:nbval --hypothesis-profile=quick -n 2 --dist worksteal

# What requirements-book.txt names in its newest version, and what Jupyter Book brought.
.PHONY: book-newest
book-newest: ## Build the site with the newest Sphinx and MyST-NB, without Jupyter Book (minutes)
	@rm -rf build/$@ && mkdir -p build && $(or $(PYTHON),python3) -m venv build/$@
	@build/$@/bin/python -m pip install -qq --disable-pip-version-check myst-nb sphinx-external-toc \
	  $$(sed -nE '/^jupyter-book==/d; s/^([A-Za-z0-9-]+)==.*/\1/p' requirements-book.txt)
	@build/$@/bin/python -m pip freeze
	@build/$@/bin/python book/build.py --sphinx-alone

.PHONY: test-notebooks
test-notebooks: .venv/full.stamp models ## Run the Spanish notebooks as another processor would, but eight that take long (minutes)
	@$(OTHER) notebooks/es $(MINUTES:%=--ignore=%)

.PHONY: test-laboratories
test-laboratories: .venv/full.stamp models ## Run the long notebooks, which make test and test-notebooks leave out (an hour)
	@$(BIN)/python -m pytest --nbval $(LONG) -n 2 --dist loadfile --no-loadscope-reorder
	@$(OTHER) $(MINUTES)

.PHONY: test-grader
test-grader: .venv/full.stamp book ## Run the slow tests of the grader: all sets, attacks, PostgreSQL, JupyterHub
	@$(BIN)/python -m tests.machine browser sandbox postgresql hub
	@$(BIN)/python -m pytest tests/test_assignments tests/grader -m grader -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: test-editions
test-editions: editions ## Check the PDF, the EPUB and the zip of notebooks
	@$(BIN)/python -m tests.machine java sandbox
	@$(BIN)/python -m pytest tests/test_editions.py -p no:nbval -n 2 --dist worksteal

.PHONY: test-engines
test-engines: .venv/full.stamp book ## Test the site in Firefox and WebKit (minutes)
	@$(BIN)/python -m tests.machine firefox webkit
	@$(BIN)/python -m pytest tests/test_site/test_engines.py -m engines -p no:nbval -n 2 --dist worksteal

.PHONY: test-kernel
test-kernel: .venv/full.stamp ## Test the Triton kernel of chapter 16 in its interpreter (Linux; fetches 1 GB, once)
	@$(BIN)/python -m tests.machine triton
	@$(BIN)/python -m pytest tests/test_serving.py -k kernel -p no:nbval

.PHONY: mutation
mutation: .venv/full.stamp ## Check that a test notices each small fault in attn (an hour; MODULES=masks, SAMPLE=10: minutes)
	@$(BIN)/python tests/mutation $(MODULES) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(PROCESSES),--processes $(PROCESSES))

.PHONY: notebooks
notebooks: .venv/full.stamp ## Split and run the chapters (CHAPTER=03; PROSE=yes keeps the outputs)
	@$(BIN)/python notebooks/build.py $(CHAPTER) $(if $(PROSE),--prose)

.PHONY: results
results: .venv/full.stamp ## Measure the trained systems for the page of results (minutes)
	@$(BIN)/python -m experiments.quality
	@$(BIN)/python -m experiments.charts

.PHONY: bench
bench: .venv/full.stamp book ## Measure time, memory and widgets for the page of benchmarks
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m experiments.charts

.PHONY: audit
audit: .venv/full.stamp book ## Weigh and time the pages, with Lighthouse (minutes)
	@$(BIN)/python -m benchmarks audit

.PHONY: links
links: .venv/full.stamp book ## Find dead links to other sites (minutes)
	@$(BIN)/linkchecker --config book/links.ini build/site/index.html

.PHONY: artefacts
artefacts: editions ## Build the wheel, the editions and the site for a release
	@rm -rf build/artefacts build/lib build/bdist.*  # a module that is gone would linger there
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m pip wheel . -qq --disable-pip-version-check \
	  --no-deps --no-build-isolation --wheel-dir build/artefacts
	@cp build/editions/attn-*.* build/artefacts
	@$(BIN)/python book/archive.py build/artefacts/attn-site.zip
	@ls -l build/artefacts

.PHONY: clean
clean: ## Delete what was built (.venv stays)
	rm -rf build _build .pytest_cache .hypothesis .ruff_cache *.egg-info

# The pinned packages have wheels for these versions of Python, and for no other.
.venv/bin/python:
	@set -e; for python in $(if $(PYTHON),"$(PYTHON)",python3 python3.14 python3.13 python3.12 python3.11); do \
	  if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then echo "attn needs Python 3.11 to 3.14; $(or $(PYTHON),python3) is $$("$(or $(PYTHON),python3)" --version 2>/dev/null || echo missing). Install one of them, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.13"; exit 1; fi; \
	echo "Creating .venv with $$("$$found" --version) ..."; \
	"$$found" -m venv .venv || { rm -rf .venv; echo "Python could not create .venv: its venv module is missing (Debian and Ubuntu: apt install python3-venv)."; exit 1; }

.venv/book.stamp: requirements-book.txt constraints.txt | .venv/bin/python
	@echo "Installing what the site needs (about 20 s, once) ..."
	@$(PIP) -r requirements-book.txt || { echo "The packages in requirements-book.txt could not be installed: the first run needs the network. Check it and run the same command again."; exit 1; }
	@touch $@

.venv/full.stamp: requirements.txt pyproject.toml .venv/book.stamp
	@echo "Installing everything, PyTorch included (a few minutes, once) ..."
	@$(PIP) -r requirements.txt || { echo "The packages in requirements.txt could not be installed: the first run needs the network. Check it and run the same command again."; exit 1; }
	@$(BIN)/jupyter labextension disable --level=sys_prefix @jupyterlab/apputils-extension:announcements 2>/dev/null  # no news from the network
	@touch $@

.venv/hub.stamp: requirements-hub.txt assignments/hub/package.json assignments/hub/package-lock.json .venv/full.stamp
	@echo "Installing JupyterHub and its proxy (seconds, once) ..."
	@$(PIP) -r requirements-hub.txt || { echo "JupyterHub could not be installed: the first run needs the network. Check it and run the same command again."; exit 1; }
	@mkdir -p .venv/hub && cp assignments/hub/package.json assignments/hub/package-lock.json .venv/hub
	@PYTHONPATH=book/_ext $(BIN)/python -c 'import pathlib, vendor; vendor.install(pathlib.Path(".venv/hub").resolve())'
	@touch $@
