/* The functions with the longest self time, as JSON.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_SERVED_FUNCTION_TIMES_H
#define CN_SERVER_SERVED_FUNCTION_TIMES_H

#include <stdint.h>

#include "base/bytes/json.h"

struct cn_frames;

/* Append "functions", the first 60 as [name, self ns], longest first, and "others": how many
 * more there are, and their time. `place_ns` is the time of each place of the frames. */
void cn_json_function_times(struct cn_json *json, const struct cn_frames *frames,
                            const uint64_t *place_ns);

#endif
