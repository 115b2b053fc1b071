# The one list of commands: for people, for CI and for the documents.
# Everything is installed into .venv; what a command needs is set up before it runs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= $(PERCEPTRON_RS_DATA)
# Also where maturin calls it.
export PIP_QUIET := 1
RUST := $(shell find rust -name '*.rs') Cargo.toml Cargo.lock pyproject.toml
# Prints the packages of groups of pyproject.toml; without names, of all groups and of the package itself.
PACKAGES = $(BIN)/python -c 'import sys, tomllib; p = tomllib.load(open("pyproject.toml", "rb")); g = p["dependency-groups"]; \
	print(*([r for name in sys.argv[1:] for r in g[name]] or sum(g.values(), p["project"]["dependencies"])), sep="\n")'
# Long tests are spread unevenly over the files: a process that is done takes what others have left.
SIDE_BY_SIDE = $(BIN)/python -m pytest --numprocesses auto --dist worksteal

# Without cargo on the PATH, Rust is installed into .venv, in the same way as pip does for the source distribution.
ifeq ($(shell command -v cargo),)
export CARGO_HOME := $(abspath $(VENV))/rust/cargo
export RUSTUP_HOME := $(abspath $(VENV))/rust/rustup
export PATH := $(CARGO_HOME)/bin:$(PATH)
OWN_RUST := $(VENV)/rust/ready
endif

.PHONY: help demo test test-core test-ready test-cluster test-quick quick-tests test-deep mutants test-oldest test-other test-aarch64 test-s390x test-riscv64 test-wasm test-windows miri tsan fuzz lint bench freund-schapire docs test-pages lab test-lab picture examples golden constraints licenses deny dist rehearse wheels test-msrv valgrind instructions test-instructions clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/quick  ## train on real data with both engines and compare every bit
	@$(BIN)/python benches/demo.py

# Cargo compiles the core's tests beside pip, which fetches packages, and then beside maturin, which calls pip, too.
test:  ## all tests: the core without Python, then the package; lists what is skipped
	$(MAKE) --no-print-directory --jobs 2 test-core test-ready
	$(SIDE_BY_SIDE)

test-core: $(OWN_RUST)
	cargo test

test-ready: $(VENV)/test
	@$(MAKE) --no-print-directory $(VENV)/quick

test-cluster: $(VENV)/quick $(VENV)/test $(VENV)/cluster  ## on clusters of this machine, whose workers are killed; Spark's need Java 17
	$(BIN)/python -m pytest -m cluster tests/distributed

# Of folders whose tests have an oracle of their own, on both engines.
QUICK = arith rows online kernel/test_train.py kernel/test_budget.py mlp structured test_golden.py test_order.py test_engines.py
test-quick: $(VENV)/quick $(VENV)/test  ## within a minute: both engines against their oracles
	$(SIDE_BY_SIDE) --ignore-glob='*memory.py' --ignore-glob='*parity.py' $(addprefix tests/,$(QUICK))

quick-tests:  # for the workflow, which runs them with a wheel
	@echo $(addprefix tests/,$(QUICK))

test-deep: $(VENV)/quick $(VENV)/test  ## all tests with many more generated cases, and half a minute of each fuzz target
	CARGO_PROFILE_TEST_OPT_LEVEL=3 cargo test
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest
	$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=30

# As MUTANTS="--number 0 stream/fit.py": all of one module; --survey after new tests.
mutants: $(VENV)/quick $(VENV)/test $(VENV)/mutation  ## 100 drawn changes of the glue, each of which a test must notice (MUTANTS=options)
	$(BIN)/python scripts/mutants.py $(MUTANTS)

test-oldest: $(VENV)/quick $(VENV)/oldest/ready  ## the package's tests on Python 3.11 with the oldest versions it promises to work with
	rm -rf $(VENV)/oldest/wheel
	$(BIN)/maturin build --release --quiet --interpreter $(BIN)/python --out $(VENV)/oldest/wheel
	$(VENV)/oldest/bin/pip install --no-deps --force-reinstall $(VENV)/oldest/wheel/*.whl
	$(VENV)/oldest/bin/python -m pytest

# The compiled module is the same for all Pythons, so it is not built anew.
OTHER_PYTHON ?= python3.13
test-other: $(VENV)/quick $(VENV)/test  ## the package's tests on another Python, without a build (OTHER_PYTHON=python3.13, TESTS=files)
	@command -v $(OTHER_PYTHON) > /dev/null || { echo "$(OTHER_PYTHON) is not installed; name another one: make OTHER_PYTHON=path test-other"; exit 1; }
	rm -rf $(VENV)/other/wheel
	test -d $(VENV)/other/bin || $(OTHER_PYTHON) -m venv $(VENV)/other
	$(BIN)/maturin build --profile quick --quiet --interpreter $(BIN)/python --out $(VENV)/other/wheel
	$(VENV)/other/bin/pip install --requirement $(VENV)/test.txt --constraint constraints.txt
	$(VENV)/other/bin/pip install $(VENV)/other/wheel/*.whl --constraint constraints.txt
	$(VENV)/other/bin/pip install --force-reinstall --no-deps $(VENV)/other/wheel/*.whl
	$(VENV)/other/bin/python -m pytest --numprocesses auto --dist worksteal $(TESTS)

lint: export PYO3_PYTHON = $(abspath $(BIN)/python)
lint: $(VENV)/quick $(VENV)/lint  ## format, warnings, types, stubs, golden files, documentation, texts of parameters
	cargo fmt --check
	cargo clippy --all-targets --features bench -- -D warnings
	cargo clippy --all-targets --features python -- -D warnings
	cargo fmt --check --manifest-path lab/Cargo.toml
	cargo clippy --locked --manifest-path lab/Cargo.toml --target-dir target/lab --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m mypy.stubtest perceptron_rs._core
	$(BIN)/python tests/golden/make.py --check
	$(BIN)/python scripts/licenses.py --check
	$(MAKE) --no-print-directory docs
	$(BIN)/python scripts/parameters.py --check

BENCHES = compare bytes sparse labels model scores threads memory voted pocket family svmlight kernel pipe margin sequences streams programs probes text words serving online_peers partitions
bench: $(VENV)/release $(VENV)/bench  ## beside peers: fails where a figure misses its bar in benches/results (real data: DATA=folder; BENCH=--write keeps the figures)
	@missed=; for bench in $(BENCHES); do echo "== $$bench"; \
		PERCEPTRON_RS_DATA="$(DATA)" $(BIN)/python benches/$$bench.py $(BENCH) || missed="$$missed $$bench"; done; \
		test -z "$$missed" || { echo "below a bar:$$missed"; exit 1; }
	cargo bench --features bench

freund-schapire: $(VENV)/release $(VENV)/bench  ## the digits table of Freund and Schapire (1999), checked, and its plot, in .venv (DATA=folder)
	PERCEPTRON_RS_DATA="$(DATA)" $(BIN)/python benches/freund_schapire.py --out $(VENV) $(OPTIONS)

# All pictures anew: that of an example may change with the package alone.
docs: $(VENV)/quick $(VENV)/docs lab  ## the documentation, in docs/_build; a warning is an error
	rm -rf docs/_build docs/generated docs/gallery
	$(BIN)/python -m sphinx -W --keep-going -n -q docs docs/_build

test-pages: $(VENV)/quick $(VENV)/test $(VENV)/browser  ## every page of the documentation in a browser: nothing is cut off, broken, fetched or without a name
	@$(NEEDS_BROWSER)
	@test -f docs/_build/index.html || $(MAKE) --no-print-directory docs
	$(SIDE_BY_SIDE) -m browser tests/browser/test_pages.py tests/browser/test_screen_reader.py

# The core for a browser, as text: what opens a file may not fetch one.
lab: docs/_static/lab/core.js  ## the lab of the documentation: the core as WebAssembly
docs/_static/lab/core.js: $(OWN_RUST) $(RUST) lab/Cargo.toml lab/Cargo.lock $(wildcard lab/src/*.rs)
	@test -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown)" \
		|| { $(NEEDS_RUSTUP); rustup target add wasm32-unknown-unknown; }
	cargo build --quiet --locked --release --manifest-path lab/Cargo.toml --target wasm32-unknown-unknown --target-dir target/lab
	{ printf 'const LAB_CORE = "'; gzip -9 -n < target/lab/wasm32-unknown-unknown/release/perceptron_lab.wasm | base64 | tr -d '\n'; \
		printf '";\n'; } > $@

test-lab: $(VENV)/quick $(VENV)/test $(VENV)/docs $(VENV)/browser lab  ## the lab in a browser: it learns the bits that Python learns
	@$(NEEDS_BROWSER)
	$(BIN)/python -m pytest -m browser tests/browser/test_lab.py tests/browser/test_lab_pictures.py

picture: $(VENV)/quick $(VENV)/docs  ## draw the picture of the README anew
	$(BIN)/python docs/picture.py docs/perceptrons.png

examples: export MPLBACKEND = agg
examples: $(VENV)/quick $(VENV)/docs  ## run all examples, one after another
	@for example in examples/plot_*.py; do echo $$example; $(BIN)/python -W error $$example > /dev/null || exit 1; done

golden: $(VENV)/quick $(VENV)/lint  ## write the golden files anew: only when learned bits change on purpose
	$(BIN)/python tests/golden/make.py

# On the oldest Python, as a version that it has is one that later ones have, too.
constraints: $(VENV)/made  ## the newest versions of all packages and crates into constraints.txt, constraints-oldest.txt and Cargo.lock
	rm -rf $(VENV)/newest $(VENV)/oldest
	$(OLDEST_PYTHON) -m venv $(VENV)/newest
	$(PACKAGES) > $(VENV)/newest/all.txt
	$(VENV)/newest/bin/pip install --requirement $(VENV)/newest/all.txt
	$(VENV)/newest/bin/pip freeze > constraints.txt
	$(MAKE) --no-print-directory PINNED= $(VENV)/oldest/ready
	$(VENV)/oldest/bin/pip freeze > constraints-oldest.txt
	cargo update
	cargo update --manifest-path fuzz/Cargo.toml
	cargo update --manifest-path lab/Cargo.toml
	$(BIN)/python scripts/licenses.py

licenses: $(VENV)/made  ## write licenses/THIRD-PARTY.txt and sbom.cdx.json anew: after a change of Cargo.lock
	$(BIN)/python scripts/licenses.py

dist: $(VENV)/made $(VENV)/dist $(OWN_RUST)  ## wheel (manylinux_2_17) and sdist in dist/, each checked, installed and tried
	$(BIN)/python scripts/dist.py

rehearse: $(VENV)/made $(VENV)/dist $(OWN_RUST)  ## what users do with wheel and sdist, in empty environments (OPTIONS="--before vX.Y.Z")
	$(BIN)/python scripts/rehearse.py $(OPTIONS)

wheels: $(VENV)/made $(VENV)/dist $(OWN_RUST)  ## the wheels for Linux, Windows and macOS, and the sdist, in dist/: checked, and tried where they run
	@$(NEEDS_RUSTUP)
	@command -v x86_64-w64-mingw32-gcc > /dev/null || $(call NEEDS_PACKAGES,gcc-mingw-w64-x86-64)
	$(BIN)/python scripts/dist.py --all

UNDER_VALGRIND = --config 'target."cfg(unix)".runner = "valgrind --quiet --error-exitcode=9"'

# The oldest Rust that Cargo.toml promises; the bindings need an interpreter.
MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
test-msrv: $(VENV)/made  ## all of it compiles with the oldest Rust that Cargo.toml promises
	@$(NEEDS_RUSTUP)
	rustup run $(MSRV) rustc --version > /dev/null 2>&1 || rustup toolchain install $(MSRV) --no-self-update --profile minimal
	PYO3_PYTHON=$(abspath $(BIN)/python) cargo +$(MSRV) check --locked --target-dir target/msrv --all-targets --features python

# Valgrind does not emulate the modes that the tests of the environment switch on.
valgrind:  ## the tests of the core's unsafe code, under valgrind
	@command -v valgrind > /dev/null || { echo "valgrind is not installed"; exit 1; }
	cargo test $(UNDER_VALGRIND) --lib -- --skip environment --skip outside::
	cargo test $(UNDER_VALGRIND) --lib -- outside::exact:: outside::instruction_sets::

# Of the build that `make test` uses. Another compiler needs new numbers.
NEEDS_VALGRIND = command -v valgrind > /dev/null || $(call NEEDS_PACKAGES,valgrind)
instructions: $(VENV)/quick  ## count instructions of kernels and small fits, by callgrind, into benches/results/instructions.json
	@$(NEEDS_VALGRIND)
	$(BIN)/python scripts/instructions.py
test-instructions: $(VENV)/quick  ## compare them: 2 % more or fewer fail, with the names of the cases
	@$(NEEDS_VALGRIND)
	$(BIN)/python scripts/instructions.py --check

# What deny.toml allows: licences and sources of crates. Advisories are in a database of GitHub's.
deny: $(VENV)/tools/bin/cargo-deny  ## licences and sources of crates (ADVISORIES=advisories: known faults, too)
	$(VENV)/tools/bin/cargo-deny --locked check bans licenses sources $(ADVISORIES)

# Installs a nightly toolchain with the components that a command needs.
NIGHTLY ?= nightly
NEEDS_RUSTUP = command -v rustup > /dev/null || { echo "rustup is not installed; get it from https://rustup.rs"; exit 1; }
NEEDS_NIGHTLY = $(NEEDS_RUSTUP); rustup run $(NIGHTLY) rustc --version > /dev/null 2>&1 \
	|| rustup toolchain install $(NIGHTLY) --no-self-update --profile minimal; \
	rustup component add --toolchain $(NIGHTLY) $(1)
# Installs Debian's packages, or says which are missing.
NEEDS_PACKAGES = { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && apt-get update -q && apt-get install -q -y $(1); } \
	|| { echo "not everything is installed; on Debian and Ubuntu: apt-get install $(1)"; exit 1; }
NEEDS_BROWSER = command -v chromium > /dev/null && command -v chromedriver > /dev/null || $(call NEEDS_PACKAGES,chromium chromium-driver)
# Leaves take minutes to compile at 3. Their bits do not depend on it.
LIGHTLY = CARGO_PROFILE_TEST_OPT_LEVEL=1 CARGO_PROFILE_TEST_DEBUG=line-tables-only

# AVX2 on, so that its leaves are interpreted too; not isolated, since tests read files. Lists of entries, which
# hold no unsafe code, would take minutes. (A variable MIRI would be read by cargo miri itself.)
INTERPRETED = arith:: rows:: model::a_pass_ text:: fuzzed:: instruction_sets::
miri: $(OWN_RUST)  ## the core's arithmetic, rows, reader of text and checks, on small sizes, interpreted by Miri
	@$(call NEEDS_NIGHTLY,miri rust-src)
	MIRIFLAGS=-Zmiri-disable-isolation RUSTFLAGS=-Ctarget-feature=+avx2 \
		cargo +$(NIGHTLY) miri test --target-dir target/miri --lib -- $(INTERPRETED) --skip rows::columns::lists --skip outside::allocation

WITH_THREADS = threads golden:: golden_kernels:: fuzzed::
tsan: $(OWN_RUST)  ## the core's tests that use threads, under ThreadSanitizer (Linux, x86-64)
	@$(call NEEDS_NIGHTLY,rust-src)
	$(LIGHTLY) RUSTFLAGS=-Zsanitizer=thread cargo +$(NIGHTLY) test -Zbuild-std --target x86_64-unknown-linux-gnu \
		--target-dir target/tsan --lib -- $(WITH_THREADS) --skip outside::allocation

# The core's tests on another machine: TARGET is Rust's name, RUNNER what runs its programs, LINKER what makes them.
ELSEWHERE = $(NEEDS_RUSTUP); rustup target add $(TARGET); $(LIGHTLY) cargo test --target $(TARGET) --lib \
	--config 'target.$(TARGET).runner = "$(RUNNER)"' $(if $(LINKER),--config 'target.$(TARGET).linker = "$(LINKER)"')

# An emulator starts threads in the standard mode.
test-aarch64: private ARCH = aarch64
test-s390x: private ARCH = s390x
test-riscv64: private ARCH = riscv64
test-aarch64 test-s390x test-riscv64: private DEBIAN = $(ARCH:aarch64=arm64)
test-aarch64 test-s390x test-riscv64: private TARGET = $(ARCH:riscv64=riscv64gc)-unknown-linux-gnu
test-aarch64 test-s390x test-riscv64: private LINKER = $(ARCH)-linux-gnu-gcc
test-aarch64 test-s390x test-riscv64: private RUNNER = qemu-$(ARCH) -L /usr/$(ARCH)-linux-gnu
test-aarch64: $(OWN_RUST)  ## the core's tests on AArch64, emulated
test-s390x: $(OWN_RUST)  ## the core's tests on s390x, which is big-endian, emulated
test-riscv64: $(OWN_RUST)  ## the core's tests on RISC-V, emulated
test-aarch64 test-s390x test-riscv64:
	@{ command -v qemu-$(ARCH) && command -v $(LINKER); } > /dev/null \
		|| $(call NEEDS_PACKAGES,qemu-user gcc-$(ARCH)-linux-gnu libc6-dev-$(DEBIAN)-cross)
	$(ELSEWHERE) -- --skip outside::allocation --skip threads_inherit_the_modes

# Addresses of 32 bits, one thread; no folder for files of tests, and a panic, also an expected one, ends the program.
test-wasm: private TARGET = wasm32-wasip1
test-wasm: private RUNNER = $(abspath $(BIN))/python $(abspath scripts/wasm.py)
test-wasm: $(OWN_RUST) $(VENV)/wasm  ## the core's tests on WebAssembly, under wasmtime
	$(ELSEWHERE) -- $(foreach test,$(NOT_ON_WASM),--skip $(test))
NOT_ON_WASM = outside::allocation threads text:: fuzzed::tests::svmlight a_set_that_the_machine_lacks

# Wine 8 lacks the one function of a library that Rust's programs call: one that has it stands beside the program.
test-windows: private TARGET = x86_64-pc-windows-gnu
test-windows: private RUNNER = wine64
test-windows: export PATH := $(PATH):/usr/lib/wine
test-windows: export WINEDEBUG = -all
test-windows: export WINEPREFIX = $(abspath target/wine)
test-windows: export WINEDLLOVERRIDES = bcryptprimitives=n
test-windows: $(OWN_RUST)  ## the core's tests on Windows, under Wine
	@{ command -v wine64 && command -v x86_64-w64-mingw32-gcc; } > /dev/null || $(call NEEDS_PACKAGES,wine64 gcc-mingw-w64-x86-64)
	mkdir -p target/$(TARGET)/debug/deps
	x86_64-w64-mingw32-gcc -shared -o target/$(TARGET)/debug/deps/bcryptprimitives.dll scripts/bcryptprimitives.c -ladvapi32
	$(ELSEWHERE)

# Not optimised, as leaves take minutes to compile, and without AddressSanitizer: indices are checked, so a wrong
# one panics. What is found lands in fuzz/artifacts, the corpus that has grown in fuzz/corpus.
FUZZ_SECONDS ?= 600
fuzz: $(VENV)/quick $(VENV)/tools/bin/cargo-fuzz  ## each fuzz target, for FUZZ_SECONDS=600
	@$(call NEEDS_NIGHTLY,rust-src)
	for target in svmlight views states; do \
		mkdir -p fuzz/corpus/$$target && PATH="$(abspath $(VENV))/tools/bin:$$PATH" \
		cargo +$(NIGHTLY) fuzz run --dev --sanitizer none --target-dir target/fuzz $$target fuzz/corpus/$$target tests/fuzzed/corpus/$$target \
		-- -max_total_time=$(FUZZ_SECONDS) -max_len=1000 -timeout=30 -verbosity=0 -print_final_stats=1 || exit 1; \
	done
	$(BIN)/python fuzz/models.py --seconds $(FUZZ_SECONDS)
	$(BIN)/python fuzz/engines.py --seconds $(FUZZ_SECONDS)
	$(BIN)/python fuzz/calls.py --seconds $(FUZZ_SECONDS)

clean:  ## remove all that was set up or built
	rm -rf $(VENV) target dist fuzz/corpus fuzz/artifacts docs/_build docs/generated docs/gallery docs/_static/lab/core.js .hypothesis .pytest_cache .mypy_cache .ruff_cache python/perceptron_rs/_core*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is older than 3.11; name another one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' \
		|| { echo "$(PYTHON) lacks the module venv; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install 'maturin>=1.9,<2' --constraint constraints.txt
	touch $@

$(VENV)/rust/ready: | $(VENV)/made
	@echo "cargo is not installed: installing Rust into $(VENV)"
	$(BIN)/pip install puccinialin
	$(BIN)/python -m puccinialin --location $(VENV)/rust --info-json $(VENV)/rust.json
	touch $@

# Editable: the Python files are used where they are, so only a change of the Rust ones rebuilds. One build is
# installed at a time: "quick" for the work, "release", which takes minutes, for what is measured.
$(VENV)/quick: OTHER := release
$(VENV)/release: OTHER := quick
$(VENV)/quick $(VENV)/release: $(VENV)/%: $(VENV)/made $(OWN_RUST) $(RUST)
	@command -v cc > /dev/null || { echo "there is no C compiler, with which Rust links; on Debian and Ubuntu: apt-get install gcc libc6-dev"; exit 1; }
	rm -f $(VENV)/$(OTHER)
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --profile $* --quiet
	touch $@

$(addprefix $(VENV)/,test cluster mutation lint bench docs dist wasm browser): $(VENV)/%: $(VENV)/made pyproject.toml constraints.txt
	$(PACKAGES) $* > $(VENV)/$*.txt
	$(BIN)/pip install --requirement $(VENV)/$*.txt --constraint constraints.txt
	touch $@

$(VENV)/tools/bin/cargo-fuzz $(VENV)/tools/bin/cargo-deny: $(VENV)/tools/bin/%: | $(VENV)/made
	cargo install --quiet --locked --root $(VENV)/tools $*

# The oldest versions have no wheels for later interpreters than 3.11. The compiled module is the same for all.
OLDEST_PYTHON ?= python3.11
$(VENV)/oldest/ready: PINNED = $(addprefix --constraint ,$(wildcard constraints-oldest.txt))
$(VENV)/oldest/ready: $(VENV)/test scripts/oldest.py
	@command -v $(OLDEST_PYTHON) > /dev/null || { echo "$(OLDEST_PYTHON) is not installed; name a Python 3.11: make OLDEST_PYTHON=path test-oldest"; exit 1; }
	rm -rf $(VENV)/oldest
	$(OLDEST_PYTHON) -m venv $(VENV)/oldest
	$(BIN)/python scripts/oldest.py > $(VENV)/oldest/oldest.txt
	$(VENV)/oldest/bin/pip install --requirement $(VENV)/oldest/oldest.txt --requirement $(VENV)/test.txt $(PINNED)
	touch $@
