/* A small database with timelines.
 *
 *     cn_world_begin(&w);
 *     profile = cn_world_add_thread(&w, samples, count);
 *     cn_world_finish(&w);
 *     ...
 *     cn_world_end(&w);
 *
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_WORLD_H
#define CN_TEST_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/views/frames.h"
#include "model/contexts/memory.h"

/* main thread > main > { work > line 7 > leaf, rest }; work is also called by leaf. */
struct cn_world {
    struct cn_memory_database *m;
    struct cn_database *db;
    uint32_t entry, main, work, line, leaf, again, rest;
    struct cn_frames frames;
};

void cn_world_begin(struct cn_world *w);

/* A function that is called in the context `parent`. */
uint32_t cn_world_add_call(struct cn_memory_database *m, uint32_t parent,
                           const char *name);

uint32_t cn_world_add_thread(struct cn_world *w, const struct cn_sample *samples,
                             size_t count);

/* A thread of `count` samples that changes its context at uneven times. */
uint32_t cn_world_add_uneven_thread(struct cn_world *w, size_t count);

void cn_world_finish(struct cn_world *w);
void cn_world_end(struct cn_world *w);

#endif
