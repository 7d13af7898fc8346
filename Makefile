# make demo   build, and replay a small generated log
# make test   everything CI runs
# make bench  most tables of BENCHMARKS.md (except groups, parts, Python and builds)
# make help   all targets

# FEATURES=--no-default-features leaves out HiGHS and CBC, so the build needs only a Rust toolchain and gcc.
FEATURES ?=
# Features that `make demo` leaves out: the baseline models, which only tests use, and `gleaner harvest`. They need no
# further system packages.
EXTRAS := --features baselines,harvest
CARGO ?= cargo
# All crates except the one that depends on polars, which `make small` builds. The Python crate has
# no Rust tests. It is included so that `make python` reuses the crates that are built for tests.
ALL := --workspace --exclude gleaner-frames
# Crates that are built in the development profile. In the release profile, polars takes minutes to build. The solvers
# are tested here without HiGHS and CBC.
SMALL := -p gleaner-frames -p gleaner-solvers --no-default-features
# The variables that `cargo clippy -- -D warnings` sets. With these variables, other cargo commands also compile the
# workspace's crates with clippy. Each command lints the crates that it builds, and later commands reuse these crates.
CLIPPY := RUSTC_WORKSPACE_WRAPPER="$$(rustc --print sysroot)/bin/clippy-driver" \
	CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
TARGET := $(or $(CARGO_TARGET_DIR),target)
GLEANER := $(TARGET)/release/gleaner

.PHONY: help demo demo-driple demo-harvest test torch slurm soak lint unit small python recipes book build install uninstall dataset bench fuzz clean native release lint-release

help:
	@sed -n 's/^# //p' Makefile | head -4
	@echo "make demo-driple  predict the resource use of training jobs, and schedule jobs with the predictions"
	@echo "make demo-harvest train tasks on local nodes that come and go, for about a minute"
	@echo "make install  the program, shell completions, manual pages and workloads, under PREFIX (/usr/local)"
	@echo "make dataset  regenerate dataset/"
	@echo "make small    lint and test the data frames (polars), the solvers without libraries, and the library as a dependency; part of make test"
	@echo "make python   build the Python package into $(TARGET)/python and test it; part of make test"
	@echo "make slurm    install Slurm for the tests that need it (Debian, root); part of make test"
	@echo "make soak     the property tests with a random seed and SOAK_FACTOR (20) times the cases"
	@echo "make recipes  follow recipes of ARCHITECTURE.md in a copy of the tree (ONLY=policy,option selects some of them)"
	@echo "make book     build the book of docs/ in $(TARGET)/book with mdBook, and check its links"
	@echo "make release  archives and the wheel of a release for this platform, in $(TARGET)/dist (scripts/release.sh)"
	@echo "make lint-release  lint workflows, images, recipes and the licences of dependencies (scripts/lint-release.sh)"
	@echo "make fuzz     fuzz every reader of logs, traces and messages for FUZZ_SECONDS (60)"

native:
	@FEATURES="$(FEATURES)" scripts/install-native.sh

# Installs PyTorch for the tests that need it.
torch:
	@scripts/torch.sh

build: native
	$(CARGO) build --release --locked --features cli $(FEATURES)

demo: build
	@echo
	@echo "100 nodes over two days, idle for 8.8 % of their time; 20 training tasks:"
	@echo
	$(GLEANER) replay --events dataset/idle.csv --tasks dataset/tasks.toml --t-fwd 120 --out demo-out
	@echo
	@echo "The tables are in demo-out/: steps, tasks, allocations and timings, as CSV and Parquet."

demo-driple: build
	scripts/demo-driple.sh $(GLEANER) demo-driple-out
	@echo
	@echo "Everything is in demo-driple-out/: graphs, data sets, models, profiles, and three run directories."

demo-harvest: native
	$(CARGO) build --release --locked --features cli,harvest $(FEATURES)
	scripts/demo-harvest.sh $(GLEANER) demo-harvest-out

# Package builds set DESTDIR to a staging directory, which is prepended to every installation path.
PREFIX ?= /usr/local
DESTDIR ?=

install: build
	scripts/install.sh install "$(DESTDIR)$(PREFIX)" "$(GLEANER)"

uninstall:
	scripts/install.sh uninstall "$(DESTDIR)$(PREFIX)"

test: native torch slurm lint unit python small

lint:
	scripts/version.sh
	$(CARGO) fmt --all --check
	# cargo fmt does not find modules that macros declare.
	rustfmt --edition 2024 --check crates/simulate/src/policies/*.rs crates/simulate/src/policies/lucid/mod.rs crates/simulate/src/placers/*.rs
	$(CLIPPY) $(CARGO) check --release --locked $(ALL) --all-targets $(FEATURES) $(EXTRAS)
	RUSTDOCFLAGS="-D warnings" $(CLIPPY) $(CARGO) doc --release --locked $(ALL) --no-deps $(FEATURES) $(EXTRAS)

unit:
	scripts/test.sh $(ALL) $(FEATURES) $(EXTRAS)

# Clippy compiles these tests, so it also lints the workspace crates that they depend on, without optional features.
# The last command tests the library as a dependency, in a crate outside the workspace.
small:
	$(CLIPPY) $(CARGO) test --locked $(SMALL)
	CARGO="$(CARGO)" scripts/test-light.sh "$(TARGET)"

# Creates a virtual environment with the Python package and the requirements of its tests, and runs the tests.
python: native
	CARGO="$(CARGO)" FEATURES="$(FEATURES)" scripts/wheel.sh "$(TARGET)/python"

# The tests in tests/slurm start their own cluster. Without Slurm, they are skipped.
slurm:
	scripts/slurm.sh install || [ $$? -eq 77 ]

# scripts/soak.sh explains SOAK_FACTOR and PROPTEST_RNG_SEED.
soak: native
	scripts/soak.sh $(ALL) $(FEATURES) $(EXTRAS)

# This target is not part of `make test`, because it rebuilds everything.
recipes: native
	CARGO="$(CARGO)" python3 scripts/recipes/run.py $(if $(ONLY),--only $(ONLY)) --release $(ALL) $(FEATURES) $(EXTRAS)

# The book is not part of `make test`, because mdBook takes two minutes to build. A test in tests/cli/documents.rs checks
# the list of chapters.
book:
	CARGO="$(CARGO)" scripts/book.sh "$(TARGET)"

dataset: build
	scripts/make-dataset.sh $(GLEANER) dataset

bench: build
	$(CARGO) bench --locked -p gleaner-solvers
	$(CARGO) bench --locked --features cli $(FEATURES) --bench engines
	scripts/bench-solvers.sh $(GLEANER)
	FEATURES="$(FEATURES)" scripts/bench-classes.sh
	scripts/bench-replay.sh $(GLEANER)
	FEATURES="$(FEATURES)" scripts/bench-simulate.sh
	scripts/bench-models.sh
	scripts/bench-driple.sh

FUZZ_SECONDS ?= 60

fuzz:
	scripts/fuzz.sh $(FUZZ_SECONDS)

# Set PARTS to build only some parts, for example PARTS=musl.
release:
	CARGO="$(CARGO)" scripts/release.sh $(PARTS)

lint-release:
	scripts/lint-release.sh

clean:
	$(CARGO) clean
	rm -rf demo-out demo-driple-out demo-harvest-out
