# Unit tests are where the sources are that they test, and a test of something else is noticed.
set -eu

"$CAIRN_SOURCE/tools/check_unit_tests" "$CAIRN_SOURCE"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/src/base/run" "$root/tests/unit/base/run"
touch "$root/src/base/run/pool.c" "$root/src/base/map.h"
touch "$root/tests/unit/base/run/pool.c" "$root/tests/unit/base/run/pool_damage.c" \
    "$root/tests/unit/base/map.c" "$root/tests/unit/base/run_order.c"
"$CAIRN_SOURCE/tools/check_unit_tests" "$root"
touch "$root/tests/unit/base/pool.c"
"$CAIRN_SOURCE/tools/check_unit_tests" "$root" >"$root/log" && exit 1
grep -q '^tests/unit/base/pool.c: ' "$root/log"
test "$(wc -l <"$root/log")" -eq 1
