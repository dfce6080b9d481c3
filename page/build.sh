#!/usr/bin/env bash
# Builds page/trapcheck.wasm, and writes beside it by which compiler: page/trapcheck.wasm.txt.
# Takes a toolchain that has the target wasm32-unknown-unknown; without one Debian's rustc-web,
# cargo-web, rust-web-src and lld (one version, from its archive); else says how to get either.
# `page/build.sh --check` builds elsewhere and compares with what is committed.
set -euo pipefail
cd "$(dirname "$0")/.."
wasm=page/trapcheck.wasm
target=${CARGO_TARGET_DIR:-target}
triple=wasm32-unknown-unknown
cargo=${CARGO:-cargo}
flags="--remap-path-prefix=$PWD=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
build=(build --locked --package trapcheck-wasm --profile page --target "$triple")

if [ -d "$("${RUSTC:-rustc}" --print sysroot)/lib/rustlib/$triple" ]; then
    rustc=${RUSTC:-rustc}
elif command -v rustup >/dev/null && rustup target add "$triple" >/dev/null 2>&1; then
    rustc=rustc
elif [ -x /usr/bin/rustc ] && linker=$(ls /usr/bin/wasm-ld-* 2>/dev/null | tail -1) && [ -n "$linker" ] &&
    [ -d "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library" ]; then
    # Debian has the compiler and the library's source, not the library built.
    rustc=/usr/bin/rustc cargo=/usr/bin/cargo
    export RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker
    flags+=" --remap-path-prefix=$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust=rust"
    build+=(-Zbuild-std=std,panic_abort)
else
    cat >&2 <<'WORDS'
no toolchain builds for wasm32-unknown-unknown here. Either of these does:
  rustup target add wasm32-unknown-unknown
  apt-get install rustc-web cargo-web rust-web-src lld     (Debian, security archive)
The page works with the committed page/trapcheck.wasm without it.
WORDS
    exit 2
fi

RUSTC=$rustc RUSTFLAGS="$flags" "$cargo" "${build[@]}"
built=$target/$triple/page/trapcheck.wasm
if command -v wasm-opt >/dev/null; then
    wasm-opt -Os --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext \
        --enable-mutable-globals --strip-producers "$built" -o "$built.small"
    optimiser=$(wasm-opt --version)
else
    cp "$built" "$built.small"
    optimiser=none
fi
hash=$(sha256sum "$built.small" | cut -d' ' -f1)
about="sha256 $hash
bytes $(wc -c <"$built.small")
gzip -9 $(gzip -9c "$built.small" | wc -c)
compiler $("$rustc" --version)
optimiser $optimiser"
echo "$about"
if [ "${1:-}" = --check ]; then
    # Another compiler makes other bytes; what they answer is for the tests to compare.
    grep -qxF "compiler $("$rustc" --version)" $wasm.txt || { echo "another compiler than the committed one"; exit 0; }
    grep -qxF "optimiser $optimiser" $wasm.txt || { echo "another optimiser than the committed one"; exit 0; }
    [ "$hash" = "$(sha256sum $wasm | cut -d' ' -f1)" ] || { echo "$wasm is not what its source makes" >&2; exit 1; }
    exit 0
fi
cp "$built.small" $wasm
echo "$about" >$wasm.txt
