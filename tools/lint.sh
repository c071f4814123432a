#!/usr/bin/env bash
# Runs clang-tidy over saltus/ and apps/ with the compile commands of build/release. A file that
# passed is not checked again until it, a project header it reaches, .clang-tidy or the compile
# commands change; what passed is remembered under build/lint/.
#   tools/lint.sh [--deep] [FILE.cpp ...]   all sources by default; --deep: the analyzer too
#   tools/lint.sh --changed                 those of the last commit and since, as a clone of two
#                                           cores takes a quarter of an hour for all
set -euo pipefail
cd "$(dirname "$0")/.."
tidy=${CLANG_TIDY:-clang-tidy}
stamps=build/lint/passed
if [[ ${1:-} == --deep ]]; then
  shift
  export LINT_DEEP=1
fi
# Inside Eigen's templates the analyzer finds leaks and garbage that are not there.
arguments=(-quiet -p build/lint --extra-arg={-Xclang,-analyzer-config,-Xclang,c++-template-inlining=false})
if [[ -n ${LINT_DEEP:-} ]]; then
  arguments+=(--checks=clang-analyzer-*,-clang-analyzer-optin.cplusplus.UninitializedObject,-clang-analyzer-optin.performance.Padding)
fi

# Prints the file and every project header it reaches.
reach() {
  local -A seen=([$1]=1)
  local queue=("$1") file name path
  while ((${#queue[@]})); do
    file=${queue[0]} queue=("${queue[@]:1}")
    echo "$file"
    while read -r name; do
      for path in "$name" "${file%/*}/$name"; do
        if [[ -f $path && ! -v seen[$path] ]]; then
          seen[$path]=1 queue+=("$path")
        fi
      done
    done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/\1/p' "$file")
  done
}

if [[ ${1:-} == --one ]]; then  # called by this script, below
  file=$2
  mapfile -t files < <(reach "$file" | sort)
  key=$({ sha256sum "${files[@]}"; echo "$LINT_KEY $file"; } | sha256sum | cut -c1-40)
  [[ -e $stamps/$key ]] && exit 0
  if output=$("$tidy" "${arguments[@]}" "$file" 2>&1); then
    touch "$stamps/$key"
    echo "lint: $file"
  else
    echo "lint: $file: FAILED"
    grep -vE '^[0-9]+ warnings? (generated|treated as error)|^Suppressed ' <<<"$output" || true
    exit 1
  fi
  exit 0
fi

database=build/release/compile_commands.json
if [[ ! -f $database ]]; then
  echo "lint: $database is missing; run 'cmake --preset release' first" >&2
  exit 1
fi
mkdir -p "$stamps"
# clang cannot read g++'s precompiled headers, and judges by .clang-tidy, not by -Werror.
sed -E 's/ -include [^ ]*cmake_pch\.hxx//g; s/ -Winvalid-pch//g; s/ -Werror( |$)/ /g' \
  "$database" >build/lint/compile_commands.json
LINT_KEY=$({ "$tidy" --version; echo "${LINT_DEEP:-}"; cat .clang-tidy tools/lint.sh
  # the set of different flags, not the list of files
  grep '"command"' build/lint/compile_commands.json | sed -E 's/ -o .*//' | sort -u
} | sha256sum)
export LINT_KEY

# Sources that differ from the commit before the last; of a header the source of its name, or the
# first that includes it.
changed() {
  local file twin
  { git diff --name-only HEAD~1 -- saltus apps; git ls-files --others --exclude-standard saltus apps; } |
    sort -u | while read -r file; do
      [[ -f $file ]] || continue
      case $file in
        *.cpp) echo "$file" ;;
        *.h)
          twin=${file%.h}.cpp
          [[ -f $twin ]] || twin=$(grep -rlF --include='*.cpp' "\"$file\"" saltus apps | sort | head -n 1) || twin=
          [[ -z $twin ]] || echo "$twin"
          ;;
      esac
    done | sort -u
}

if [[ ${1:-} == --changed ]] && git rev-parse --quiet --verify HEAD~1 >/dev/null 2>&1; then
  list=$(changed)
  mapfile -t sources <<<"$list"
  [[ -n $list ]] || sources=()
elif (($#)) && [[ $1 != --changed ]]; then sources=("$@"); else
  mapfile -t sources < <(find saltus apps -name '*.cpp' 2>/dev/null | sort)
fi
((${#sources[@]})) || { echo "lint: nothing to check"; exit 0; }
find "$stamps" -type f -mtime +30 -delete
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" "$0" --one || {
  echo "lint: FAILED" >&2
  exit 1
}
echo "lint: ${#sources[@]} files pass"
