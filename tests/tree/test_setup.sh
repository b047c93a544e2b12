# tools/setup is quiet when all is there; where it may not install, it says what to.
set -eu

if ! command -v dpkg-query >/dev/null; then
    echo "skipped: no dpkg-query"
    exit 77
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir "$root/tools" "$root/bin"
cp "$CAIRN_SOURCE/tools/setup" "$root/tools"

echo 'dpkg    # build: surely installed' >"$root/tools/packages"
out=$("$root/tools/setup" 2>&1)
test -z "$out"
out=$("$root/tools/setup" build 2>&1)
test -z "$out"

cat >>"$root/tools/packages" <<'END'
cairn-no-such-package    # test: surely missing
cairn-none-either        # tidy: surely missing
cairn-elsewhere [none]   # test: surely missing, for another processor
END
"$root/tools/setup" build
# An id that is not root's and no sudo: PATH holds only what the script needs.
printf '#!/bin/sh\necho 1000\n' >"$root/bin/id"
chmod +x "$root/bin/id"
for tool in sh sed sort dirname dpkg-query grep apt-get; do
    ln -s "$(command -v $tool || echo /bin/false)" "$root/bin/$tool"
done
status=0
out=$(PATH="$root/bin" "$root/tools/setup" build test 2>&1) || status=$?
test "$status" -eq 1
test "$out" = "tools/setup: neither root nor sudo; install these packages, then try again:
    cairn-no-such-package"

rm "$root/bin/apt-get"
status=0
out=$(PATH="$root/bin" "$root/tools/setup" 2>&1) || status=$?
test "$status" -eq 1
test "$out" = "tools/setup: no apt-get on this system; install these packages, then try again:
    cairn-no-such-package cairn-none-either"
