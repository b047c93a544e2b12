# tests/cli/run notices a wrong line, a wrong status and unexpected talk on stderr.
set -eu

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/data" "$root/case"
printf '#!/bin/sh\necho "cairn $*"\n' >"$root/bin/cairn"
chmod +x "$root/bin/cairn"

run() {
    "$CAIRN_SOURCE/tests/cli/run" --cairn "$root/bin/cairn" --testdata "$root/data" \
        "$@" "$root/case"
}

# expect STATUS: what the runner returns for the case as it is now.
expect() {
    status=0
    run >"$root/log" 2>&1 || status=$?
    if [ "$status" -ne "$1" ]; then
        echo "status $status, expected $1, for:"
        cat "$root/case/cmd" "$root/log"
        exit 1
    fi
}

echo 'cairn tree; test -d testdata && test "$TERM" = dumb' >"$root/case/cmd"
expect 1
echo 'cairn tree' >"$root/case/stdout"
expect 0
echo 'cairn tree; echo talk >&2; exit 3' >"$root/case/cmd"
expect 1
echo talk >"$root/case/stderr"
expect 1
echo 3 >"$root/case/status"
expect 0
echo 'cairn flat' >"$root/case/cmd"
run --update >/dev/null
expect 0
grep -qx 'cairn flat' "$root/case/stdout"
test ! -e "$root/case/stderr"
test ! -e "$root/case/status"
echo 'echo no data; exit 77' >"$root/case/cmd"
expect 77
echo 'exit 77' >"$root/case/cmd"
expect 1
grep -q 'printed no reason' "$root/log"

# On real data it expects what the folder `real` has, and runs only tests that have one.
echo 'cairn "$data"' >"$root/case/cmd"
echo 'cairn testdata' >"$root/case/stdout"
expect 0
run --real "$root/data" >"$root/log"
mkdir "$root/case/real"
run --real "$root/data" >"$root/log" && exit 1
echo 'cairn ../fixtures' >"$root/case/real/stdout"
run --real "$root/data" >"$root/log"
expect 0
