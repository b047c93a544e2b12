/* What threads did over time, as JSON: docs/http-api.md describes it.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_TIMELINE_JSON_H
#define CN_SERVER_API_TIMELINE_JSON_H

#include <stdint.h>

#include "base/bytes/json.h"

struct cn_occupancy;
struct cn_served;

/* Append the members of a frame of the timeline; `profiles` are those of its rows. With
 * `has_states`, rows have the states that cn_served_states_ready() found. */
void cn_json_occupancy(struct cn_json *json, struct cn_served *served,
                       const struct cn_occupancy *occupancy, const uint32_t *profiles,
                       bool has_states);

#endif
