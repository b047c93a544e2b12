# `make demo` builds what it shows and nothing more, `make` afterwards is the optimised program, and a
# timeline has letters where a thread ran or was pre-empted, however busy the machine is.
set -eu
cd "$CAIRN_SOURCE"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What make asks of CMake, without compiling.
mkdir "$scratch/bin"
cat >"$scratch/bin/cmake" <<'END'
#!/bin/sh
echo "$*" >>"$BUILD/log"
case $1 in
--preset) mkdir -p "$4" && : >"$4/build.ninja" ;;
--build) printf '#!/bin/sh\n' >"$2/cairn" && chmod +x "$2/cairn" ;;
esac
END
chmod +x "$scratch/bin/cmake"
build=$scratch/build
mkdir "$build"
PATH=$scratch/bin:$PATH make demo SETUP=: BUILD="$build" >"$scratch/out"
test "$(readlink "$build/cairn")" = quick/cairn
grep -q -- '--target cairn demo_words$' "$build/log"
PATH=$scratch/bin:$PATH make all BUILD="$build" >"$scratch/out"
test "$(readlink "$build/cairn")" = release/cairn
: >"$build/log"
PATH=$scratch/bin:$PATH make demo SETUP=: BUILD="$build" >"$scratch/out"
test "$(readlink "$build/cairn")" = release/cairn
if grep quick "$build/log"; then
    exit 1
fi

# The demonstration itself.
mkdir "$scratch/shown"
ln -s "$CAIRN_BUILD/cairn" "$scratch/shown/cairn"
CAIRN_DEMO_FILES='src/model/*/*.[ch]' tools/demo "$scratch/shown" >"$scratch/out" 2>&1 </dev/null
cat "$scratch/out"
for command in report analyze tree timeline verify; do
    grep -q "^\\$ cairn $command " "$scratch/out"
done
grep -q '0 errors and 0 warnings' "$scratch/out"
# The main thread runs or is pre-empted after its threads have ended: three quarters of its time.
row=$(sed -n 's/^THREAD 0 *//p' "$scratch/out")
letters=$(printf %s "$row" | tr -cd A-Z)
test $((4 * ${#letters})) -ge $((3 * ${#row}))
