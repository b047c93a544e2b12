/* Texts of a sampled process that were read before, by address.
 *
 * The process may free a text and have another at its address: each is stored with a number that
 * the process has for it, and is found by both. A zeroed one is ready for use.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_TEXTS_H
#define CN_SAMPLER_LANGUAGES_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"

struct cn_language_text {
    const char *chars;
    uint64_t check;
    uint32_t line; /* for the caller; 0 when it is added */
};

struct cn_language_texts {
    struct cn_map number_of; /* by address */
    struct cn_language_text *list;
    size_t count, capacity;
    size_t len; /* bytes in the arena */
    struct cn_arena arena;
};

void cn_language_texts_done(struct cn_language_texts *texts);

/* The text that was last stored for an address, valid until one is added; NULL: none. */
const struct cn_language_text *
cn_language_texts_find(const struct cn_language_texts *texts, uint64_t address);

/* Store a text, which is copied; bytes that are no text become '?'. */
struct cn_language_text *cn_language_texts_add(struct cn_language_texts *texts,
                                               uint64_t address, uint64_t check,
                                               const char *chars, size_t len);

#endif
