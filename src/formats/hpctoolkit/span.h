/* A part of a file with its offset: offsets count from the start of the file.
 * Threads: any thread; borrows the file's bytes.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPAN_H
#define CN_FORMATS_HPCTOOLKIT_SPAN_H

#include "base/bytes/bytes.h"
#include "base/error.h"

enum {
    CN_HPC_STRING_MAX = 256 * 1024, /* bytes of one name */
    /* Ids of contexts are sparse because writers leave instructions out. Ids out of this
     * proportion to the contexts there are would cost memory out of proportion to the
     * file. */
    CN_HPC_ID_SPREAD_MAX = 64,
};

struct cn_hpc_span {
    struct cn_bytes bytes;
    uint64_t off;
};

/* `len` bytes at offset `off` of the file. False when they are not all inside
 * `span`. */
bool cn_hpc_span_slice(struct cn_hpc_span span, uint64_t off, uint64_t len,
                       struct cn_bytes *out);

/* Two sections of a file. An empty one overlaps nothing. */
bool cn_hpc_spans_overlap(struct cn_hpc_span a, struct cn_hpc_span b);

/* Fail if two of `count` sections overlap. */
CN_CHECK bool cn_hpc_spans_check(const struct cn_hpc_span *list, const char *const *names,
                                 size_t count, struct cn_error *err);

/* The string at offset `off` of the file, which must end inside `span`. `what`
 * names it in messages. */
CN_CHECK bool cn_hpc_span_string(struct cn_hpc_span span, uint64_t off, const char *what,
                                 const char **out, struct cn_error *err);

/* Split `len` bytes off the front. */
CN_CHECK bool cn_hpc_span_take(struct cn_hpc_span *span, size_t len, const char *what,
                               struct cn_bytes *out, struct cn_error *err);

/* Split a string off the front. `span` then starts after its NUL. */
CN_CHECK bool cn_hpc_span_take_string(struct cn_hpc_span *span, const char *what,
                                      const char **out, struct cn_error *err);

#endif
