/* Files in a page: listed first, then written as blocks, each compressed with deflate and
 * encoded as base64 in a script element. The blocks are the bytes of all files one after
 * another; the list has their paths and sizes.
 *
 *     cn_pack_add(&pack, "run.db", "run.db", err)
 *     cn_pack_list(&pack, &json)
 *     cn_pack_write(&pack, sink, err)
 *     cn_pack_done(&pack)
 *
 * A zeroed one is empty.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_PAGE_PACK_H
#define CN_SERVER_PAGE_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_json;
struct cn_sink;

/* Bytes that are compressed together. A page decompresses the blocks that it needs, and its strings must
 * not be too long for browsers. */
enum { CN_PACK_BLOCK_LEN = 4 << 20 };

struct cn_page_file {
    char *path;    /* on this machine */
    char *as;      /* in the page */
    uint64_t size; /* when it was listed */
};

struct cn_pack {
    struct cn_page_file *list;
    size_t count, capacity;
};

/* Add the regular file `path`, or all regular files below it, as `as` in the page. */
CN_CHECK bool cn_pack_add(struct cn_pack *pack, const char *path, const char *as,
                          struct cn_error *err);

/* Remove the files for which `is_left_out` is true; false if there is none. */
typedef bool (*cn_pack_fn)(const char *path_in_page, const void *arg);
bool cn_pack_remove(struct cn_pack *pack, cn_pack_fn is_left_out, const void *arg);

/* The size of the blocks in the page. */
CN_CHECK bool cn_pack_size(const struct cn_pack *pack, uint64_t *out,
                           struct cn_error *err);

/* Write [{path, size}]. */
void cn_pack_list(const struct cn_pack *pack, struct cn_json *json);

/* Write the blocks. Fails if a file has become shorter. */
CN_CHECK bool cn_pack_write(const struct cn_pack *pack, struct cn_sink *out,
                            struct cn_error *err);
void cn_pack_done(struct cn_pack *pack);

#endif
