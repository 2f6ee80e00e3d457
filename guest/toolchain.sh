#!/bin/sh
# The Rust toolchain that compiles the guests to wasm32-unknown-unknown.
#
#   toolchain.sh set-up   brings one, if there is none yet
#   toolchain.sh find     prints where it is: `default`, or the paths of its cargo and rustc, a line each
#
# They are tried in this order; CHAPERONE_GUEST_TOOLCHAIN names one of them to allow no other:
#   installed   the toolchain in use has the target
#   rustup      `rustup target add` brings it
#   debian      Debian's rustc-web, cargo-web and rust-web-src, with a standard library that is built once and cached
set -eu

target=wasm32-unknown-unknown
wanted=${CHAPERONE_GUEST_TOOLCHAIN:-any}
cache=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/chaperone
packages="rustc-web cargo-web rust-web-src"

case $wanted in
any | installed | rustup | debian) ;;
*)
  echo "CHAPERONE_GUEST_TOOLCHAIN is '$wanted'; it may be installed, rustup or debian" >&2
  exit 2
  ;;
esac

allowed() { [ "$wanted" = any ] || [ "$wanted" = "$1" ]; }

has_target() {
  [ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/$target/lib" ]
}

has_debian_packages() {
  [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] && [ -d /usr/lib/rustlib/src/rust/library ]
}

debian_sysroot() {
  echo "$cache/guest-toolchain-$(/usr/bin/rustc --version | cut -d' ' -f2)"
}

find_toolchain() {
  if { allowed installed || allowed rustup; } && has_target; then
    echo default
  elif allowed debian && has_debian_packages && [ -e "$(debian_sysroot)/complete" ]; then
    sysroot=$(debian_sysroot)
    printf '%s\n' "$sysroot/bin/cargo" "$sysroot/bin/rustc"
  else
    return 1
  fi
}

add_with_rustup() {
  command -v rustup >/dev/null || return 1
  echo "Adding the target $target with rustup" >&2
  timeout 300 rustup target add "$target" >&2 && has_target
}

install_debian_packages() {
  command -v apt-get >/dev/null || {
    echo "this system has no apt-get to install $packages with" >&2
    return 1
  }
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  echo "Installing Debian's $packages" >&2
  $sudo apt-get update -qq >&2 &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >&2
}

# Debian ships no standard library for the target, but its source. The bitcode is kept in it, so that it serves guests
# with and without link-time optimisation.
build_debian_sysroot() {
  sysroot=$(debian_sysroot)
  host=$(/usr/bin/rustc -vV | sed -n 's/^host: //p')
  linker=$(ls "${RUSTUP_HOME:-$HOME/.rustup}"/toolchains/*/lib/rustlib/"$host"/bin/rust-lld /usr/bin/lld-[0-9]* /usr/bin/lld 2>/dev/null | head -n 1)
  [ -n "$linker" ] || {
    echo "there is no linker for $target: install Debian's lld, or a toolchain with rustup, which has one" >&2
    return 1
  }
  echo "Building the standard library for $target, once; this takes a minute or two" >&2
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/building.XXXXXX")
  trap 'rm -rf "$work"' EXIT INT TERM
  mkdir -p "$work/crate/src"
  echo '#![no_std]' >"$work/crate/src/lib.rs"
  cat >"$work/crate/Cargo.toml" <<TOML
[package]
name = "guest-sysroot"
version = "0.0.0"
edition = "2021"
[workspace]
TOML
  (
    cd "$work/crate"
    unset RUSTUP_TOOLCHAIN CARGO_TARGET_DIR RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CARGO_ENCODED_RUSTFLAGS
    RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Cembed-bitcode=yes \
      /usr/bin/cargo build --quiet --release --target "$target" -Zbuild-std=std,panic_abort
  ) >&2
  new=$work/sysroot
  mkdir -p "$new/bin" "$new/lib/rustlib/$target/lib" "$new/lib/rustlib/$host/bin"
  cp "$work/crate/target/$target/release/deps/"*.rlib "$new/lib/rustlib/$target/lib/"
  rm -f "$new/lib/rustlib/$target/lib/"libguest_sysroot-*
  ln -s "/usr/lib/rustlib/$host/lib" "$new/lib/rustlib/$host/lib"
  ln -s "$linker" "$new/lib/rustlib/$host/bin/rust-lld"
  ln -s /usr/bin/cargo "$new/bin/cargo"
  printf '#!/bin/sh\nexec /usr/bin/rustc --sysroot="%s" "$@"\n' "$sysroot" >"$new/bin/rustc"
  chmod +x "$new/bin/rustc"
  touch "$new/complete"
  rm -rf "$sysroot"
  mv "$new" "$sysroot"
}

set_up() {
  find_toolchain >/dev/null && return
  if allowed rustup && add_with_rustup; then return; fi
  if allowed debian; then
    if has_debian_packages || install_debian_packages; then
      build_debian_sysroot && return
    fi
  fi
  cat >&2 <<HELP
There is no Rust toolchain for $target, and none could be set up ($wanted was allowed). One of these mends it:
  rustup target add $target
  apt-get install --no-install-recommends $packages    (Debian 12), then this script again
HELP
  exit 1
}

case ${1:-} in
set-up) set_up ;;
find)
  find_toolchain || {
    echo "there is no Rust toolchain for $target yet: run 'make toolchain', or 'rustup target add $target'" >&2
    exit 1
  }
  ;;
*)
  echo "usage: toolchain.sh set-up|find" >&2
  exit 2
  ;;
esac
