# Wizard: `make run` plays, `make test` proves. Both set up what they need.

CARGO ?= cargo
# Whatever else the program shall be told: make run ARGS="--listen-addr 0.0.0.0:8080"
ARGS ?=

WEB_INSTALLED := web/node_modules/.package-lock.json
WEB_BUILT := web/dist/index.html
WEB_SOURCES := $(wildcard web/*.html web/*.ts web/*.js web/*.json) \
	$(shell find web/src web/public -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help run web secrets deploy test faults simulate compose-test bench fuzz fmt docs screenshots

help: ## Show what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

run: ## Build everything and play on http://127.0.0.1:8080
	@scripts/prepare run
	@$(MAKE) --no-print-directory web
	@$(CARGO) build --release --locked --bin wizard
	@exec target/release/wizard $(ARGS)

web: $(WEB_BUILT) ## Build the web client, which the program embeds
	@:

secrets: ## Draw what compose.yaml needs into .env
	@scripts/secrets

deploy: ## Start compose.yaml, or bring what runs up to date, one container at a time
	@scripts/compose-deploy $(ARGS)

test: ## Check and test everything, cheap to dear; stops at the first fault
	@scripts/prepare test
	@scripts/test

compose-test: ## Build the image and run compose.yaml: play, scale, replace, stop and start (half an hour)
	@tests/compose/run $(ARGS)

bench: ## Measure what the docs promise in figures
	@scripts/prepare test
	$(CARGO) bench --locked --workspace --benches
	REGISTRY_LONG_TESTS=1 $(CARGO) test --locked -p registry --test suite every_trouble_heals

faults: ## Kill, stop and cut off processes under a hundred running games
	@scripts/prepare test
	FAULTS=full $(CARGO) test --locked --release -p wizard --test system faults:: -- --test-threads 1 --nocapture

simulate: ## Run schedules of faults on a simulated clock: COUNT=…, FROM=…; SEED=… alone shows what it does
	@$(CARGO) build --locked --release -p simulation
	@exec target/release/simulate

fuzz: ## Read a million random and broken frames of each kind
	FRAMES=1000000 $(CARGO) test --locked --release -p protocol --test frames -- --nocapture

fmt: ## Format all sources
	$(CARGO) fmt --all
	cd web && npm run --silent format

docs: ## Build the book into docs/book
	@command -v mdbook >/dev/null || { echo "make docs needs mdbook: cargo install mdbook"; exit 1; }
	mdbook build docs

screenshots: $(WEB_BUILT) ## Take the book's pictures from the running program
	@scripts/prepare test
	$(CARGO) build --release --locked --bin wizard
	cd web && npx playwright test --config screenshots/playwright.config.ts

$(WEB_INSTALLED): web/package.json web/package-lock.json
	@cd web && npm ci --no-audit --no-fund
	@touch $@

$(WEB_BUILT): $(WEB_INSTALLED) $(WEB_SOURCES)
	@cd web && npm run --silent build
	@touch $@
