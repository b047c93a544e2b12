/* Traces made at random from a few words, so that searches for those words find some.
 *
 * The sequence is the same in every run.
 * Threads: one thread at a time.
 */
#ifndef CN_SUPPORT_RANDOM_TRACES_H
#define CN_SUPPORT_RANDOM_TRACES_H

#include <stddef.h>
#include <stdint.h>

struct cn_trace;
struct cn_words;

enum {
    CN_RANDOM_CLASSES = 4,
    CN_RANDOM_METHODS = 4,
    CN_RANDOM_ATTRIBUTES = 4,
    CN_RANDOM_TEXTS = 11,
};

extern const uint64_t cn_random_begin_ns; /* when the first of them begins */
extern const char *const cn_random_classes[CN_RANDOM_CLASSES];
extern const char *const cn_random_methods[CN_RANDOM_METHODS];
extern const char *const cn_random_attributes[CN_RANDOM_ATTRIBUTES];
extern const char *const cn_random_texts[CN_RANDOM_TEXTS]; /* values of attributes */

/* A number from 0 up to limit - 1. */
size_t cn_random_below(size_t limit);

/* Trace `number`, a second after the one before, give or take a few. */
void cn_random_trace(struct cn_trace *trace, struct cn_words *words, size_t number);

#endif
