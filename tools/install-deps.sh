#!/usr/bin/env bash
# Installs the Debian packages Saltus needs to build, test and lint.
# Does nothing (and needs no rights) when all of them are already there.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache clang-format clang-tidy
  clang libclang-rt-14-dev
  libeigen3-dev libyaml-cpp-dev libhdf5-dev libgtest-dev libcli11-dev
  libfmt-dev nlohmann-json3-dev libqhull-dev libtbb-dev libnlopt-dev libpugixml-dev libpng-dev libbenchmark-dev
  python3 python3-venv git make pkg-config
  libcpp-httplib-dev chromium fonts-dejavu-core
)
# The viewer is built with Node 18 or newer, from wherever it comes.
command -v npm >/dev/null || packages+=(nodejs npm)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install-deps: this is not a Debian-like system; install by hand: ${packages[*]}" >&2
  exit 1
fi

# One dpkg-query for all: it lists those it knows and complains about the others.
installed=" $(dpkg-query -W -f='${db:Status-Status}:${Package}\n' "${packages[@]}" 2>/dev/null |
  sed -n 's/^installed://p' | tr '\n' ' ' || true) "
missing=()
for package in "${packages[@]}"; do
  [[ "$installed" == *" $package "* ]] || missing+=("$package")
done

if ((${#missing[@]} == 0)); then
  echo "install-deps: all ${#packages[@]} packages are installed"
  exit 0
fi
echo "install-deps: missing: ${missing[*]}"

if [[ $(id -u) -eq 0 ]]; then
  as_root=(env)
elif command -v sudo >/dev/null; then
  as_root=(sudo env)
else
  echo "install-deps: neither root nor sudo is available; as root, run:" >&2
  echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

apt() {
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"
}
install() {
  apt install -y -q --no-install-recommends "${missing[@]}"
}

# The package lists are refreshed only when they do not know a package, or when
# the install fails because they are stale.
known() {
  local package
  for package in "${missing[@]}"; do
    apt-cache show "$package" >/dev/null 2>&1 || return 1
  done
}
if known && install; then
  :
else
  apt update -q
  install
fi
echo "install-deps: done"
