# Comments and documents name functions that exist, with the right number of arguments;
# tools/check_comments finds those that do not.
set -eu

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/src/base" "$root/docs"

cat >"$root/src/base/thing.h" <<'END'
/* A thing.
 *
 *     cn_thing_open(&thing, "path", err);
 *     cn_thing_add(thing, 3);                and so on
 *     cn_thing_print(&thing, "%d", 3, 4);
 *     cn_thing_find(thing, key(a, b), ...);
 *     cn_thing_shut(&thing);
 */
bool cn_thing_open(struct cn_thing **out, const char *path, struct cn_error *err);
void cn_thing_add(struct cn_thing *thing, uint32_t key,
                  const struct cn_value *value); /* as cn_thing_put() */
void cn_thing_print(struct cn_thing *thing, const char *fmt, ...);
void *cn_thing_find(struct cn_thing *thing, uint32_t key, void (*found)(void *arg));
void cn_thing_close(struct cn_thing *thing); /* see cn_thing_open() */
END
cat >"$root/src/base/thing.c" <<'END'
/* "cn_nothing()" in a string is no comment, cn_thing_close() is one. */
static const char text[] = "/* cn_nothing() */";
END
echo 'After `cn_thing_open()`, `cn_thing_kept()`; CMake has `cn_library(base)`.' >"$root/docs/a.md"
cat >"$root/expected" <<'END'
src/base/thing.c:1: cn_nothing() does not exist
src/base/thing.h:4: cn_thing_add() takes 3 arguments, not 2
src/base/thing.h:7: cn_thing_shut() does not exist
src/base/thing.h:11: cn_thing_put() does not exist
docs/a.md:1: cn_thing_kept() does not exist
END
if "$CAIRN_SOURCE/tools/check_comments" "$root" >"$root/found"; then
    echo "violations did not make it fail"
    exit 1
fi
diff -u "$root/expected" "$root/found"
exec "$CAIRN_SOURCE/tools/check_comments"
