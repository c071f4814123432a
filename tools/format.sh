#!/usr/bin/env bash
# Formats every C++ file of the project; with --check changes nothing and fails if one is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
case "${1:-}" in
  "") ;;
  --check) mode=(--dry-run -Werror) ;;
  *) echo "usage: tools/format.sh [--check]" >&2; exit 2 ;;
esac

folders=()
for folder in saltus apps tests examples bench python; do
  [[ -d $folder ]] && folders+=("$folder")
done
find "${folders[@]}" \( -name '*.h' -o -name '*.cpp' \) -not -path '*/build/*' -print0 |
  xargs -0 -r -n 8 -P "$(nproc)" "${CLANG_FORMAT:-clang-format}" --style=file "${mode[@]}"
