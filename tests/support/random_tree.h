/* Databases with random context trees, the same for the same seed, and what was put
 * into them: for tests that compute a view a second time, the slow and obvious way.
 *
 * Values are whole numbers, so that sums are exact in any order.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_RANDOM_TREE_H
#define CN_TEST_RANDOM_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "model/contexts/database.h"

enum {
    CN_RANDOM_CONTEXTS_MAX = 80,
    CN_RANDOM_THREADS = 3,
    CN_RANDOM_FUNCTIONS = 8,
};

struct cn_random_context {
    struct cn_context context; /* as it was added */
    size_t parent;             /* position; its own for an entry point */
    double point[CN_RANDOM_THREADS];
};

struct cn_random_tree {
    struct cn_database *db;
    struct cn_random_context contexts[CN_RANDOM_CONTEXTS_MAX]; /* parents first */
    size_t count;
};

/* Calls recurse directly, through others and through loops; some are inlined. Two of
 * the functions have the same name and place. */
void cn_random_tree_build(struct cn_random_tree *tree, uint32_t seed);
void cn_random_tree_done(struct cn_random_tree *tree);

/* Something that was called, as opposed to an entry point or a place in a function. */
bool cn_random_is_call(const struct cn_random_context *c);

/* What a thread spent in a context: with everything below it, and with what belongs
 * to it lexically. */
double cn_random_total(const struct cn_random_tree *tree, size_t at, size_t thread);
double cn_random_self(const struct cn_random_tree *tree, size_t at, size_t thread);

#endif
