/* What threads did over time, as JSON: docs/http-api.md describes it.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_TIMELINE_JSON_H
#define CN_SERVER_API_TIMELINE_JSON_H

#include <stdint.h>

#include "base/bytes/json.h"

#include "base/error.h"

struct cn_database;
struct cn_frames;
struct cn_function_times;
struct cn_occupancy;
struct cn_sample;
struct cn_served;

/* The sample of a profile at a time, and the next one, in `out`, which has room for two: *count of them, 0 without a sample at or
 * before that time. */
CN_CHECK bool cn_samples_at(struct cn_database *db, uint32_t profile, uint64_t time_ns,
                            struct cn_sample *out, uint64_t *count, struct cn_error *err);

/* The call of a thread that is open before and after waiting between two times; CN_NONE: none, or
 * unknown. */
uint32_t cn_held_frame(struct cn_database *db, const struct cn_frames *frames,
                       uint32_t profile, uint64_t begin_ns, uint64_t end_ns);

/* The state of a thread at a time of the database; NULL: unknown, or still being read. */
const char *cn_thread_state_at(struct cn_served *served, uint32_t profile,
                               uint64_t time_ns, bool *is_pending);

/* Append "functions", [name, self ns], and "others": how many more there are, and their time. */
void cn_json_function_times(struct cn_json *json, const struct cn_frames *frames,
                            const struct cn_function_times *times);

/* Append "base", what the times of timelines are. */
void cn_json_timeline_base(struct cn_json *json, const struct cn_database *db);

/* Append the members of a frame of the timeline; `profiles` are those of its rows. With
 * `has_states`, rows have the states that cn_served_states_ready() found. */
void cn_json_occupancy(struct cn_json *json, struct cn_served *served,
                       const struct cn_occupancy *occupancy, const uint32_t *profiles,
                       bool has_states);

#endif
