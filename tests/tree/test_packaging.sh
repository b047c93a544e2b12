# What packaging files say about cairn is true: its version, what it is built with, what it installs.
# `make deb-check` builds and checks the packages themselves.
set -eu
cd "$CAIRN_SOURCE"

fail() {
    echo "$1"
    exit 1
}

version=$(tools/version)
case $version in
[0-9]*.[0-9]*.[0-9]*) ;;
*) fail "the version is '$version'" ;;
esac
head -n 1 debian/changelog | grep -qF "cairn ($version) " || fail "debian/changelog is not about $version"
grep -qx "Version: *$version" packaging/rpm/cairn.spec || fail "cairn.spec is not about $version"
grep -qF "version(\"$version\", " packaging/spack/package.py || fail "package.py is not about $version"
grep -qF "\"version\": \"$version\"" web/package.json || fail "web/package.json is not about $version"
grep "^## " CHANGELOG.md | grep -vxF "## Unreleased" | head -n 1 | grep -qF "## $version " ||
    fail "CHANGELOG.md has another version than $version"

# What tools/packages lists for the build is what the package is built with.
listed=$(sed -n 's/^\([a-z][^ ]*\) .*# \(build\|web\|package\): .*/\1/p' tools/packages |
    grep -v '^\(build-essential\|debhelper\|dh-python\|lintian\|mmdebstrap\)$' | sort)
named=$(sed -n '/^Build-Depends/,/^$/p' debian/control | tr ',' '\n' |
    sed 's/^Build-Depends://; s/^ *//; s/[ (|].*//; /^$/d; /^debhelper-compat$/d; /^dh-sequence-python3$/d' | sort)
[ "$listed" = "$named" ] || fail "tools/packages and debian/control differ:
$listed

$named"

# Each package has files, and each library of cairn is in a package.
for package in $(sed -n 's/^Package: //p' debian/control); do
    [ -e "debian/$package.install" ] || [ -e "debian/$package.docs" ] || fail "$package has no files"
done
for library in $(sed -n 's/^ *add_library(\(cairn-[a-z]*\) SHARED.*/\1/p' CMakeLists.txt); do
    [ "$library" != cairn-lib ] || library=cairn
    grep -qF "lib$library.so" debian/*.install || fail "lib$library.so is in no package"
done
[ -n "$(sed -n 's/^set(CN_SOVERSION \(.*\))/Package: libcairn\1/p' CMakeLists.txt | grep -Fxf - debian/control)" ] ||
    fail "the package of libcairn has another number than the library"
for file in $(sed -n "s/^\\(packaging[^ ]*\\).*/\\1/p" debian/*.install debian/*.docs); do
    [ -e "$file" ] || fail "there is no $file"
done

for script in tools/build-deb tools/check-deb tools/check-installed tools/version; do
    sh -n "$script"
done
python3 -c 'compile(open("packaging/spack/package.py").read(), "package.py", "exec")'
if command -v systemd-analyze >/dev/null; then
    systemd-analyze verify packaging/systemd/* 2>&1 | grep -v 'is not executable\|man cairn' && fail "systemd-analyze"
    systemd-analyze security --offline=true --threshold=20 packaging/systemd/cairn-collector.service >/dev/null ||
        fail "cairn-collector.service is exposed"
fi
exit 0
