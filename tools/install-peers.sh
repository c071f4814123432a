#!/usr/bin/env bash
# Installs the engines that `make bench` compares Saltus with. Nothing else needs them.
# Debian packages, and PyPI packages in their own environment build/peers. Idempotent; a peer that
# cannot be installed is reported and left out of the table, not an error.
set -euo pipefail
cd "$(dirname "$0")/.."

# One group a peer, so that one that fails does not take the others along.
groups=(
  "libbenchmark-dev"
  "libsimbody-dev"
  "libdart-dev"
  "libbullet-dev"
  "libode-dev"
  "libsiconos-numerics-dev"
  "clang"
)
# Header templates of Pinocchio (compiled with our compiler and flags), MuJoCo's C library, PyElastica.
python_packages=("pin==4.1.0" "mujoco==4.0.0" "pyelastica==1.0.0")
venv=build/peers

failed=()
if [[ $(id -u) -eq 0 ]]; then
  as_root=(env)
elif command -v sudo >/dev/null; then
  as_root=(sudo env)
else
  as_root=()
fi
apt() {
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"
}
installed() { dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

updated=false
for package in "${groups[@]}"; do
  installed "$package" && continue
  if ((${#as_root[@]} == 0)); then
    failed+=("$package (neither root nor sudo)")
    continue
  fi
  if ! apt install -y -q --no-install-recommends "$package"; then
    $updated || apt update -q || true
    updated=true
    apt install -y -q --no-install-recommends "$package" || failed+=("$package")
  fi
done

wanted=$(printf '%s\n' "${python_packages[@]}")
if [[ ! -x $venv/bin/python ]] || [[ "$(cat $venv/installed 2>/dev/null)" != "$wanted" ]]; then
  rm -rf $venv
  if /usr/bin/python3 -m venv $venv; then
    good=true
    for package in "${python_packages[@]}"; do
      $venv/bin/python -m pip install --quiet --disable-pip-version-check "$package" ||
        { failed+=("$package"); good=false; }
    done
    ! $good || printf '%s\n' "$wanted" >$venv/installed
  else
    failed+=("the Python environment $venv")
  fi
fi

if ((${#failed[@]})); then
  echo "install-peers: could not install: ${failed[*]}" >&2
else
  echo "install-peers: all peers are installed"
fi
