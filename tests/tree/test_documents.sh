# The documents name files that exist, and the rules that are checked.
set -eu
"$CAIRN_SOURCE/tools/check_documents"
# It finds what is wrong.
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir "$root/tools"
cp "$CAIRN_SOURCE"/*.md "$root"
cp "$CAIRN_SOURCE/tools/check_documents" "$CAIRN_SOURCE/tools/check_layers" "$root/tools"
for folder in src docs web tests include examples python bench demo; do
    ln -s "$CAIRN_SOURCE/$folder" "$root/$folder"
done
sed -i 's|^| |; 1s|^|`src/base/nothing.c` |' "$root/CONTRIBUTING.md"
sed -i 's/"s3": \["base"\]/"s3": ["base", "model"]/' "$root/tools/check_layers"
"$root/tools/check_documents" >"$root/out" && exit 1
grep -q '^CONTRIBUTING.md:1: there is no src/base/nothing.c$' "$root/out"
grep -q 'other rules than tools/check_layers' "$root/out"
"$root/tools/check_documents" --fix >"$root/out" || true
grep -q '^| `s3` | base, model |$' "$root/ARCHITECTURE.md"
