/* A flame graph as JSON: the nodes in depth-first order, each with its depth, so that
 * however deep it is, the JSON is not.
 *
 *     {"total": 12.5, "names": ["main"], "modules": ["app"],
 *      "nodes": [[depth, name, module, value, own, id], ...]}
 *
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_SERVED_FLAME_JSON_H
#define CN_SERVER_SERVED_FLAME_JSON_H

#include <stdint.h>

#include "base/bytes/json.h"
#include "base/map.h"
#include "base/text.h"

enum { CN_FLAME_NODE_MAX = 50000 };

struct cn_flame {
    struct cn_text nodes_text; /* the nodes, written before the names are complete */
    struct cn_json nodes;
    struct cn_names names, modules;
    size_t count;
};

void cn_flame_begin(struct cn_flame *flame);

/* Add a node; false when there are too many. `own` may be NAN. */
bool cn_flame_add(struct cn_flame *flame, uint32_t depth, const char *name,
                  const char *module, double value, double own, uint64_t id);

/* Write it as members of the object that `json` is in, and release it. */
void cn_flame_end(struct cn_flame *flame, struct cn_json *json, double total);

#endif
