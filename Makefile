# Set up, build, run, test: `make run` and `make test` do all of it on a fresh machine.

CARGO ?= cargo
CHAPERONE = $(CARGO) run --quiet --package chaperone --
DEMO := target/demo
SESSIONS := $(sort $(wildcard monitors-examples/sessions/*.jsonl))
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/chaperone/tools

.PHONY: run test test-pi build toolchain lint deny bench clean

## run: the three bundled monitors and the stop guard on recorded sessions of a real agent, judged by a script
run: build
	@mkdir -p $(DEMO)/.pi
	@$(CHAPERONE) monitors init --cwd $(DEMO)
	@$(CHAPERONE) run $(SESSIONS) --cwd $(DEMO) --script monitors-examples/sessions/demo.script.yaml --command work-quality

## test: all tests
test: toolchain
	$(CARGO) test --workspace
	@$(MAKE) --no-print-directory test-pi

## test-pi: the adapter for pi, by itself and with the real pi; CHAPERONE_SKIP_PI=1 leaves the real pi out, and says so
test-pi: build
	@sh adapters/pi/tools.sh test
	@sh adapters/pi/tools.sh test-pi

## build: the program, with its built-in components
build: toolchain
	@$(CARGO) build --package chaperone

## toolchain: what compiles the guests to WebAssembly; CHAPERONE_GUEST_TOOLCHAIN=installed|rustup|debian forces one
toolchain:
	@sh guest/toolchain.sh set-up

## lint: format, clippy, licences, unused dependencies
lint: toolchain deny
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- --deny warnings
	@sh adapters/pi/tools.sh lint

deny: $(TOOLS)/bin/cargo-deny $(TOOLS)/bin/cargo-machete
	$(TOOLS)/bin/cargo-deny --log-level error check bans licenses sources
	$(TOOLS)/bin/cargo-machete

$(TOOLS)/bin/%:
	$(CARGO) install --quiet --locked --root $(TOOLS) $*

## bench: what hooks cost; prints the figures of README's table
bench: toolchain
	$(CARGO) bench --package chaperone-tests
	$(CARGO) bench --package chaperone --bench hook

clean:
	$(CARGO) clean
