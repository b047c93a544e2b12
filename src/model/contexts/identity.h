/* Identities of threads, "NODE 7f0101 RANK 3 THREAD 0", and filters that select some of
 * them.
 * Threads: immutable once made.
 */
#ifndef CN_MODEL_CONTEXTS_IDENTITY_H
#define CN_MODEL_CONTEXTS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_text;

enum {
    CN_IDENTITY_MAX = 16, /* ids in one tuple; real ones have at most four */
    CN_KINDS_MAX = 256,   /* a kind is a byte */
    CN_FILTER_TERM_MAX = 16,
};

struct cn_identity {
    uint8_t kind; /* index into the database's kind names */
    bool is_physical;
    uint32_t logical;
    uint64_t physical; /* equal to `logical` unless is_physical */
};

struct cn_identity_tuple {
    size_t count;
    struct cn_identity ids[CN_IDENTITY_MAX];
};

/* The names of kinds: list[kind]. */
struct cn_kinds {
    const char *const *list;
    size_t count;
};

/* Append "NODE 0x7f0101 RANK 3 THREAD 0"; physical ids in hexadecimal. */
void cn_identity_print(const struct cn_identity_tuple *tuple,
                       const struct cn_kinds *kinds, struct cn_text *text);

/* A filter like "RANK 0-3,7 THREAD 0": each term has a kind and a list of numbers, and all
 * terms must match. A tuple without the kind does not match. Numbers without a kind are
 * profile indices: "5-8". A number matches the logical or the physical id. */
struct cn_thread_filter {
    struct cn_filter_term *terms;
    size_t count;
};

/* Fails with CN_ERR_USAGE on an unknown kind, or an empty or reversed range. */
CN_CHECK bool cn_thread_filter_parse(struct cn_thread_filter *out, const char *text,
                                     const struct cn_kinds *kinds, struct cn_error *err);

/* True if profile `index` with this identity is selected. */
bool cn_thread_filter_matches(const struct cn_thread_filter *filter, uint32_t index,
                              const struct cn_identity_tuple *tuple);

void cn_thread_filter_done(struct cn_thread_filter *filter);

#endif
