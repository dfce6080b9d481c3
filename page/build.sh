#!/usr/bin/env bash
# Builds the page's program, and writes beside each module by which compiler: page/*.wasm.txt.
# trapcheck.wasm answers what is moved; runs.wasm and logs.wasm what is asked about dropped files:
# about run directories, and about others.
#
# Smallest with a toolchain that has the standard library's source, which is then built with it:
# rustup's component rust-src, or Debian's rustc-web, cargo-web, rust-web-src and lld (one version,
# from its security archive). binaryen's wasm-opt makes it smaller still. A toolchain that has only
# the target wasm32-unknown-unknown makes a larger file that answers the same. Where there is none,
# this says how to get one.
#
# `page/build.sh --check` builds elsewhere and compares with what is committed. Another compiler or
# optimiser makes other bytes: then random questions are asked of what was built instead.
set -euo pipefail
cd "$(dirname "$0")/.."
triple=wasm32-unknown-unknown
target=${CARGO_TARGET_DIR:-target}
flags="--remap-path-prefix=$PWD=."
options=(--locked --package trapcheck-wasm --profile page --target "$triple")
rustc=${RUSTC:-rustc} cargo=${CARGO:-cargo}

has_source() { [ -d "$("$1" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library" ]; }
has_target() { [ -d "$("$1" --print sysroot 2>/dev/null)/lib/rustlib/$triple/lib" ]; }
linker=$(ls /usr/bin/wasm-ld-* 2>/dev/null | tail -1 || true)

with_source() {
    # Both ask the compiler for what it does not promise yet.
    export RUSTC_BOOTSTRAP=1
    flags="-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none $flags"
    options+=(-Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size)
}

if has_source "$rustc"; then
    with_source
elif [ -n "$linker" ] && [ -x /usr/bin/cargo ] && has_source /usr/bin/rustc; then
    rustc=/usr/bin/rustc cargo=/usr/bin/cargo
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker
    with_source
elif ! has_target "$rustc"; then
    cat >&2 <<'WORDS'
no toolchain here builds for wasm32-unknown-unknown. One of these does:
  rustup component add rust-src && rustup target add wasm32-unknown-unknown
  apt-get install rustc-web cargo-web rust-web-src lld-22 binaryen     (Debian, security archive)
The page works with the committed page/*.wasm without it.
WORDS
    exit 2
fi

check=${1:-} built=$target/wasm-check
mkdir -p "$built"
same=yes
optimiser=none
! command -v wasm-opt >/dev/null || optimiser=$(wasm-opt --version)
# Other tools make other bytes, whatever they are told: only what they answer is looked at, so they
# are told to be quick.
if [ "$check" = --check ] && ! grep -qxF "compiler $("$rustc" --version)" page/trapcheck.wasm.txt; then
    export CARGO_PROFILE_PAGE_LTO=off CARGO_PROFILE_PAGE_CODEGEN_UNITS=16 CARGO_PROFILE_PAGE_OPT_LEVEL=1
    optimiser=none
fi

# Builds one module; what follows its name goes to cargo.
module() {
    local wasm=page/$1.wasm large=$target/$triple/page/trapcheck.wasm small=$built/$1.wasm
    local hash about
    shift
    RUSTC=$rustc RUSTFLAGS="$flags" "$cargo" build "${options[@]}" "$@"
    if [ "$optimiser" != none ]; then
        wasm-opt -Oz --converge --enable-bulk-memory --enable-nontrapping-float-to-int \
            --enable-sign-ext --enable-mutable-globals --strip-debug --strip-producers \
            --strip-target-features "$large" -o "$small"
    else
        cp "$large" "$small"
    fi
    hash=$(sha256sum "$small" | cut -d' ' -f1)
    about="sha256 $hash
bytes $(wc -c <"$small")
gzip -9 $(gzip -9c "$small" | wc -c)
compiler $("$rustc" --version)
optimiser $optimiser"
    echo "$about"
    if [ "$check" != --check ]; then
        cp "$small" "$wasm"
        echo "$about" >"$wasm.txt"
    elif ! grep -qxF "compiler $("$rustc" --version)" "$wasm.txt" ||
        ! grep -qxF "optimiser $optimiser" "$wasm.txt"; then
        echo "$wasm was made by other tools: its bytes are not compared"
        same=no
    elif [ "$hash" != "$(sha256sum "$wasm" | cut -d' ' -f1)" ]; then
        echo "$wasm is not what its source makes" >&2
        exit 1
    fi
}

module trapcheck
module runs --features runs
module logs --features logs

if [ "$same" = no ] && command -v node >/dev/null; then
    node tests/page/answers.mjs --bin "$target/debug/trapcheck" --page "$built" --questions 72
fi
