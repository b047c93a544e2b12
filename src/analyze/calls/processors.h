/* A set of processors.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_PROCESSORS_H
#define CN_ANALYZE_CALLS_PROCESSORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct cn_processors {
    uint32_t *bits; /* bit i of element k: processor 32 k + i */
    size_t count, capacity;
};

void cn_processors_add(struct cn_processors *set, uint16_t number);
void cn_processors_merge(struct cn_processors *into, const struct cn_processors *from);
void cn_processors_done(struct cn_processors *set);

size_t cn_processors_count(const struct cn_processors *set);

/* Append "0-3/5/6", and "00000001,0000006f"; nothing for an empty set. */
void cn_processors_print_list(const struct cn_processors *set, struct cn_text *text);
void cn_processors_print_mask(const struct cn_processors *set, struct cn_text *text);

#endif
