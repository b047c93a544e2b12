/* A flame graph as JSON: the nodes have their depth, so that the JSON of a deep graph is not deep.
 *
 *     "total": 12.5, "isCut": false, "names": ["main"], "modules": ["app"],
 *     "nodes": [[depth, name, module, total, self, id], ...]
 *
 * With states of waiting, their names are in "waits", and the part of each in a node's own
 * cost follows its id.
 *
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_FLAME_JSON_H
#define CN_SERVER_API_FLAME_JSON_H

#include "base/bytes/json.h"

struct cn_flame;

/* Write the members of the object that `json` is in. */
void cn_json_flame(struct cn_json *json, const struct cn_flame *flame, double total);

#endif
