/* What threads did over time, as JSON: docs/http-api.md describes it.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_TIMELINE_JSON_H
#define CN_SERVER_API_TIMELINE_JSON_H

#include <stdint.h>

#include "base/bytes/json.h"

#include "base/error.h"

struct cn_database;
struct cn_occupancy;
struct cn_sample;
struct cn_served;

/* The sample of a profile at a time, and the next one, in `out`, which has room for two: *count of them, 0 without a sample at or
 * before that time. */
CN_CHECK bool cn_samples_at(struct cn_database *db, uint32_t profile, uint64_t time_ns,
                            struct cn_sample *out, uint64_t *count, struct cn_error *err);

/* Append the members of a frame of the timeline; `profiles` are those of its rows. With
 * `has_states`, rows have the states that cn_served_states_ready() found. */
void cn_json_occupancy(struct cn_json *json, struct cn_served *served,
                       const struct cn_occupancy *occupancy, const uint32_t *profiles,
                       bool has_states);

#endif
