# Everything the project needs is installed into .venv by these targets; only Python 3.11+ and git must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-gateway check bench docs clean install-dev install-bench torture mutate attack dist site

demo: $(VENV)/installed
	@$(BIN)/haversack demo

test: install-dev
	@$(BIN)/python tools/install_inspector.py
	$(BIN)/python -m pytest -n 2 $(if $(filter postgresql,$(STORE)),--engine postgres -rs)

test-gateway: install-dev
	@$(BIN)/python tools/install_servers.py
	$(BIN)/python -m pytest tests/gateway

.PHONY: test-conformance
test-conformance: install-dev
	@$(BIN)/python tools/install_inspector.py
	$(BIN)/python -m pytest -rs tests/http/test_http_conformance.py

.PHONY: test-hosts
test-hosts: install-dev
	@$(BIN)/python tools/install_hosts.py
	$(BIN)/python -m pytest tests/hosts/real --real-hosts -rs $(ARGS)

.PHONY: test-postgres
ROOMS ?= tests/store tests/memory tests/worklog tests/packs tests/tools tests/contract tests/library tests/cli tests/mcp tests/http
test-postgres: install-dev
	$(BIN)/python -m pytest -n 2 --engine postgres $(ROOMS)

check: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 src/haversack
	$(BIN)/lint-imports

docs: install-dev
	$(BIN)/python tools/write_docs.py

bench: install-bench
	$(BIN)/python bench/run.py $(ARGS)

bench-%: install-bench
	$(BIN)/python bench/bench_$(subst -,_,$*).py $(ARGS)

.PHONY: bench-before
bench-before: install-dev
	$(BIN)/python bench/bench_before.py $(if $(BASE),--base $(BASE)) $(ARGS)

site: install-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[site]'
	$(BIN)/python -m mkdocs build --strict --quiet
	@echo "the documentation is in site/index.html"

dist: install-dev
	$(BIN)/python tools/make_dist.py $(ARGS)

mutate: install-dev
	$(BIN)/python -m tools.mutation $(ARGS)

torture: install-dev
	$(BIN)/python bench/torture.py $(if $(STORE),--store $(STORE)) $(ARGS)

attack: install-dev
	$(BIN)/python -m attack $(ARGS)

.PHONY: attack-gateway
attack-gateway: install-dev
	$(BIN)/python -m attack gateway --count 60000 --seconds 3600 $(ARGS)
	$(BIN)/python -m attack gateway-deaths --seconds 600

install-dev: $(VENV)/installed-dev
install-bench: $(VENV)/installed-bench

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "haversack needs Python 3.11 or newer")'
	@test -x $(BIN)/python || { echo "making $(VENV) ..."; $(PYTHON) -m venv $(VENV); }
	@echo "installing haversack into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@echo "installing what tests and checks need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed-dev
	@echo "installing what benchmarks need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache bench/out
