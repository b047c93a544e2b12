# tools/soak runs each item at least once, with the environment that it promises, keeps what failed and counts it.
set -eu

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir "$root/items"
cat >"$root/items/fine" <<'END'
#!/bin/sh
echo "$CAIRN_STRICT $CAIRN_THOROUGH $SOAK_SECONDS $SOAK_ROUND" >>"$(dirname "$0")/../seen"
test "$CAIRN_SEED" -gt 0 && test -d "$CAIRN_SOURCE/tests"
END
cat >"$root/items/wrong" <<'END'
#!/bin/sh
echo "it broke" && exit 3
END
chmod +x "$root"/items/*
export CAIRN_SOAK="$root/items" CAIRN_SOAK_LOGS="$root/logs"
"$CAIRN_SOURCE/tools/soak" 0 >"$root/log" && exit 1
grep -qx '1 1 0 0' "$root/seen"
grep -q '^fine  *1 ' "$root/log"
grep -q '^found: wrong: round 0, CAIRN_SEED=[0-9]*, status 3: ' "$root/log"
grep -q '^2 rounds, 1 findings in ' "$root/log"
grep -qx 'it broke' "$root/logs/wrong-0.log"
test ! -e "$root/logs/fine-0.log"
"$CAIRN_SOURCE/tools/soak" 0 fine >"$root/log"
grep -q '^1 rounds, 0 findings in ' "$root/log"
"$CAIRN_SOURCE/tools/soak" 1 nothing >"$root/log" 2>&1 && exit 1
grep -q 'is called nothing' "$root/log"
