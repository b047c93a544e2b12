/* A flame graph as JSON: the nodes in depth-first order, each with its depth, so that the
 * JSON of a deep graph is not deep.
 *
 *     {"total": 12.5, "isCut": false, "names": ["main"], "modules": ["app"],
 *      "nodes": [[depth, name, module, total, self, id], ...]}
 *
 * With states of waiting, their names are in "waits", and the part of each in a node's own
 * cost follows its id.
 *
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_SERVED_FLAME_JSON_H
#define CN_SERVER_SERVED_FLAME_JSON_H

#include <stdint.h>

#include "analyze/waits.h"
#include "base/bytes/json.h"
#include "base/map.h"
#include "base/text.h"

enum { CN_FLAME_NODE_MAX = 50000 };

struct cn_flame_node {
    uint32_t depth;
    const char *name, *module; /* the module may be NULL */
    double total, self;        /* self may be NAN */
    uint64_t id;
    double waits[CN_WAIT_KINDS]; /* if the flame graph has_waits; NAN: none */
};

struct cn_flame {
    struct cn_text nodes_text; /* written before the names are complete */
    struct cn_json nodes;
    struct cn_names names, modules;
    size_t count;
    bool has_waits;
};

void cn_flame_begin(struct cn_flame *flame);

/* Add a node; false if there are too many. */
bool cn_flame_add(struct cn_flame *flame, const struct cn_flame_node *node);

/* Write the members of the object that `json` is in, and release the graph. */
void cn_flame_end(struct cn_flame *flame, struct cn_json *json, double total);

#endif
