#!/bin/sh
# What the tests of this package need and most machines lack: pi and its Node.js, both pinned, kept in the cache folder.
#
#   tools.sh set-up      brings them, if they are not there yet
#   tools.sh lint        form and types
#   tools.sh test        the tests beside a pi and a sidecar that are made up
#   tools.sh test-pi     the tests with the real pi and the real program (CHAPERONE_BIN, or the debug build)
#   tools.sh node ...    that Node.js
#
# CHAPERONE_SKIP_PI=1 leaves out `test-pi`, and says so; where CI is set it fails instead.
set -eu
cd "$(dirname "$0")"

cache=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/chaperone
version=$(sed -n 's/.*"@earendil-works\/pi-coding-agent": "\([0-9.]*\)".*/\1/p' package.json)
key=$(cat package-lock.json e2e/node/package-lock.json | cksum | cut -d' ' -f1)
tools=$cache/pi-$version-$key

node() {
  for found in "$tools"/node/node_modules/node-*/bin/node; do
    if [ -x "$found" ]; then
      echo "$found"
      return
    fi
  done
  # There is no package for this machine. pi needs 22.19 or newer.
  if [ "$(command node -p 'const [a, b] = process.versions.node.split("."); a > 22 || (a == 22 && b >= 19)' 2>/dev/null)" = true ]; then
    command -v node
  else
    echo "There is no package with Node.js 22 for this machine ($(uname -sm)): install 22.19 or newer" >&2
    return 1
  fi
}

bring_npm() {
  command -v npm >/dev/null && return
  command -v apt-get >/dev/null || {
    echo "The tests with pi need npm: install it, or set CHAPERONE_SKIP_PI=1 to do without them" >&2
    return 1
  }
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  echo "Installing Debian's npm" >&2
  $sudo apt-get update -qq >&2
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends npm >&2
}

set_up() {
  if [ ! -e "$tools/complete" ]; then
    bring_npm
    echo "Fetching pi $version and its Node.js, once: some 500 MB on the disk" >&2
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/fetching.XXXXXX")
    trap 'rm -rf "$work"' EXIT INT TERM
    mkdir "$work/node" "$work/package"
    cp e2e/node/package.json e2e/node/package-lock.json "$work/node"
    cp package.json package-lock.json "$work/package"
    for folder in node package; do
      # The npm that is there may run on an older Node.js than pi wants; it only has to fetch.
      (cd "$work/$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >&2
    done
    touch "$work/complete"
    # Somebody else may have been faster.
    mv -T "$work" "$tools" 2>/dev/null || [ -e "$tools/complete" ]
  fi
  if [ -L node_modules ] || [ ! -e node_modules ]; then
    ln -sfn "$tools/package/node_modules" node_modules
  else
    echo "adapters/pi/node_modules is used as it is, and may not be what is pinned; remove it to have that" >&2
  fi
  node >/dev/null
}

case ${1:-} in
set-up) set_up ;;
lint)
  set_up
  node_modules/.bin/biome check --error-on-warnings .
  "$(node)" node_modules/typescript/bin/tsc
  ;;
test)
  set_up
  "$(node)" --test --test-reporter=dot "tests/**/*.test.ts"
  ;;
test-pi)
  if [ -n "${CHAPERONE_SKIP_PI:-}" ]; then
    echo "SKIPPED: the tests with the real pi, since CHAPERONE_SKIP_PI is set" >&2
    [ -z "${CI:-}" ] || {
      echo "... which nobody may do where CI is set" >&2
      exit 1
    }
    exit 0
  fi
  program=${CHAPERONE_BIN:-${CARGO_TARGET_DIR:-../../target}/debug/chaperone}
  [ -x "$program" ] || {
    echo "There is no program $program: build it (make build), or name it with CHAPERONE_BIN" >&2
    exit 1
  }
  set_up
  "$(node)" --test --test-reporter=spec --test-concurrency=2 "e2e/*.test.ts"
  ;;
node)
  shift
  set_up
  exec "$(node)" "$@"
  ;;
*)
  sed -n '2,/^$/s/^# \{0,1\}//p' tools.sh >&2
  exit 2
  ;;
esac
