/* A flame graph: its nodes in depth-first order, each with its depth.
 *
 * A zeroed one is empty.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_SERVED_FLAME_H
#define CN_SERVER_SERVED_FLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/lens/code.h"
#include "analyze/waits.h"
#include "base/map.h"

enum { CN_FLAME_NODE_MAX = 50000 };

struct cn_flame_node {
    uint32_t depth;
    uint32_t name, module; /* numbers of the names, set by cn_flame_add() */
    double total, self;    /* self may be NAN */
    uint64_t id;
    const struct cn_code_class *code; /* borrowed; NULL: it is no function, or unknown */
    double waits[CN_WAIT_KINDS];      /* if the flame graph has_waits; NAN: none */
};

struct cn_flame {
    struct cn_flame_node *nodes;
    size_t count, capacity;
    struct cn_names names, modules;
    bool has_waits, has_codes;
};

/* Add a node; the module may be NULL. False if there are too many. */
bool cn_flame_add(struct cn_flame *flame, const struct cn_flame_node *node,
                  const char *name, const char *module);
void cn_flame_done(struct cn_flame *flame);

#endif
