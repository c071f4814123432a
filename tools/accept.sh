#!/usr/bin/env bash
# What a newcomer meets, and the robots of others (accept_robots.py). First: clones of HEAD in a temporary folder, each with an empty compiler cache, and
# the times of `make demo` and `make test` there. Prints both; fails if one of them fails. KEEP=1 keeps
# the folder. The aims are for two cores: 5 minutes and 20.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/saltus-accept.XXXXXX")
[[ -n ${KEEP:-} ]] || trap 'rm -rf "$folder"' EXIT
[[ ! -d $root/../shared ]] || ln -s "$(cd "$root/../shared" && pwd)" "$folder/shared"  # tests look beside the clone

[[ -z $(git -C "$root" status --porcelain) ]] || echo "accept: changes that are not committed are left out" >&2
status=0
times=()
for target in demo test; do
  git clone --quiet --no-hardlinks "$root" "$folder/$target"
  begin=$SECONDS
  result=passed
  CCACHE_DIR="$folder/ccache-$target" make -C "$folder/$target" "$target" > "$folder/$target.log" 2>&1 || {
    result=FAILED
    status=1
    tail -n 40 "$folder/$target.log" >&2
  }
  times+=("$(printf 'make %-5s %s after %5d s' "$target" "$result" $((SECONDS - begin)))")
done
begin=$SECONDS
result=passed
make -C "$root" cli > "$folder/robots.log" 2>&1 && "$root/tools/accept_robots.py" > "$folder/robots.log" 2>&1 || {
  result=FAILED
  status=1
}
tail -n 40 "$folder/robots.log"
times+=("$(printf 'robots     %s after %5d s' "$result" $((SECONDS - begin)))")
printf 'accept: %s on %s cores, empty caches\n' "$(git -C "$root" rev-parse --short HEAD)" "$(nproc)"
printf '  %s\n' "${times[@]}"
exit $status
