/* The flows of a recording, and those of its GPU work: from each launch to its operation.
 *
 *     for (uint32_t i = 0; i < cn_call_flow_count(rec); i++)
 *         if (cn_call_flow_at(rec, i, &flow)) ...
 *
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_CALLS_FLOWS_H
#define CN_ANALYZE_CALLS_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_flow;
struct cn_recording;

/* At most that many. */
uint32_t cn_call_flow_count(const struct cn_recording *rec);

/* False if there is none with this number. */
bool cn_call_flow_at(const struct cn_recording *rec, uint32_t number,
                     struct cn_flow *out);

#endif
