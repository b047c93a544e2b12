# tools/build-web fails where the viewer cannot be built; --placeholder needs nothing.
set -eu
cd "$CAIRN_SOURCE"
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# A PATH without Node.js.
mkdir "$scratch/bin"
for program in sh dirname mkdir cat; do
    ln -s "$(command -v $program)" "$scratch/bin/$program"
done

if PATH="$scratch/bin" tools/build-web "$scratch/viewer" 2>"$scratch/message"; then
    echo "tools/build-web succeeds without Node.js"
    exit 1
fi
grep -q 'Node.js or npm is missing' "$scratch/message"
grep -q 'CN_WEB=OFF' "$scratch/message"

PATH="$scratch/bin" tools/build-web --placeholder "$scratch/page"
grep -q 'without its viewer' "$scratch/page/index.html"
test -e "$scratch/page/app.js"
test -e "$scratch/page/app.css"

# A fresh folder without the viewer can be configured.
cmake -S . -B "$scratch/build" -G Ninja -DCN_WEB=OFF -DCN_TESTS=OFF -DCN_MPI=OFF >"$scratch/message" 2>&1 || {
    cat "$scratch/message"
    exit 1
}
