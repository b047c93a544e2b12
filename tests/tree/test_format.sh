# Every C file is formatted as .clang-format says.
cd "$CAIRN_SOURCE" || exit 1
if ! command -v clang-format >/dev/null; then
    echo "skipped: no clang-format"
    exit 77
fi
if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "skipped: not a git checkout, so there is no list of its files"
    exit 77
fi
exec tools/check_format
