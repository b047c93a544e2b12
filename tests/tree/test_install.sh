# What `make install` runs puts the program, the library, man pages and completions where prefix
# and DESTDIR say; the man pages render without a warning.
set -eu

if ! command -v man >/dev/null; then
    echo "skipped: no man"
    exit 77
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
share=$root/opt/cairn/share

{
    cmake --build "$CAIRN_BUILD" --target share &&
        DESTDIR="$root" cmake --install "$CAIRN_BUILD" --prefix /opt/cairn
} >"$root/log" 2>&1 || {
    cat "$root/log"
    exit 1
}

cairn=$root/opt/cairn/bin/cairn
"$cairn" --version
"${cairn%/*}/cairn-uftrace" --version
"$root/opt/cairn/libexec/cairn/uftrace" --version
test ! -e "${cairn%/*}/uftrace"
for command in $("$cairn" help --list); do
    test -s "$share/man/man1/cairn-$command.1"
done
test -s "$share/bash-completion/completions/cairn"
test -s "$share/zsh/site-functions/_cairn"
test -s "$share/fish/vendor_completions.d/cairn.fish"
if [ -s "$CAIRN_BUILD/web/cairn.wasm.gz" ]; then
    grep -q 'id="cairn-engine"' "$share/cairn/cairn-viewer.html"
fi
bash -n "$share/bash-completion/completions/cairn"

lib=$(dirname "$(find "$root" -name cairn.pc)")
flags=$(PKG_CONFIG_PATH=$lib pkg-config --cflags cairn)
libs=$(PKG_CONFIG_PATH=$lib pkg-config --libs cairn)
cc -std=c17 -Wall -Wextra -Werror $flags -fsyntax-only "$CAIRN_SOURCE"/examples/*.c
echo "$libs" | tr ' ' '\n' | sed -n 's/^-L//p' | while read -r folder; do
    test -e "$folder/libcairn.so.1"
done
test -s "$lib/../cmake/cairn/cairn-config.cmake"
test -s "$share/man/man3/cairn_open.3"

# An ordinary user installs below the home folder, and nothing outside of it.
home=$root/home/.local
cmake --install "$CAIRN_BUILD" --prefix "$home" >"$root/log"
if sed -n 's/^-- \(Installing\|Up-to-date\): //p' "$root/log" | grep -v "^$home/"; then
    exit 1
fi
grep -q "$home/bin/cairn\$" "$root/log"
echo 'int main(void) { return 0; }' >"$root/none.c"
cc -pg "$root/none.c" -o "$root/none"
"$home/bin/cairn" record -q -d "$root/data" "$root/none"
"$home/bin/cairn" report "$root/data" | grep -q main
test "$(PATH=$home/bin:$PATH man -w cairn-tree)" = "$home/share/man/man1/cairn-tree.1"
PKG_CONFIG_PATH=$(dirname "$(find "$home" -name cairn.pc)")
export PKG_CONFIG_PATH
pkg-config --libs cairn | grep -q "$home/"

# Programs and Python find the library there without LD_LIBRARY_PATH. Python was not built with AddressSanitizer.
unset LD_LIBRARY_PATH
cc "$CAIRN_SOURCE/examples/hot_contexts.c" $(pkg-config --cflags --libs cairn) -o "$root/program" \
    "-Wl,-rpath,$(pkg-config --variable=libdir cairn)"
ldd "$root/program" | grep -q "libcairn.so.1 => $home/"
if [ -e "$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h" ]; then
    /usr/bin/python3 "$CAIRN_SOURCE/tools/build-python" --library "$CAIRN_BUILD/libcairn.so.1" --prefix "$home" \
        --manifest "$CAIRN_BUILD/install_manifest.txt" >"$root/log"
    preload=
    if nm -D "$CAIRN_BUILD/libcairn.so.1" | grep -q __asan_init; then
        preload=$(cc -print-file-name=libasan.so)
    fi
    HOME=${home%/.local} LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0 PYTHONDONTWRITEBYTECODE= /usr/bin/python3 -c \
        "import cairn, sys; assert cairn.__file__.startswith('$home/'); assert cairn.open(sys.argv[1]).report()" "$root/data"
fi
make -s -C "$CAIRN_SOURCE" uninstall release="$CAIRN_BUILD"
if find "$home" ! -type d | grep .; then
    exit 1
fi

# Pages that only refer to another one are rendered there.
for page in "$share"/man/man1/*.1 $(grep -L '^\.so' "$share"/man/man3/*.3); do
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" \
        >/dev/null 2>"$root/warnings"
    if [ -s "$root/warnings" ]; then
        echo "$page:"
        cat "$root/warnings"
        exit 1
    fi
done
LC_ALL=C.UTF-8 MANPAGER=cat MANWIDTH=80 man -M "$share/man" cairn >"$root/page"
grep -q '^NAME' "$root/page"
