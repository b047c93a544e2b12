/* Dense ids for everything that can be called: functions of the recording, the two
 * kinds of not running, and addresses that lie in no function.
 *
 * A zeroed table knows no addresses.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_CALL_IDS_H
#define CN_ANALYZE_CALLS_CALL_IDS_H

#include "analyze/calls/call_stack.h"
#include "base/map.h"

/* Unknown addresses beyond these, in data that is mostly damage, share an id. */
enum { CN_CALL_UNKNOWN_MAX = 1 << 16 };

struct cn_call_ids {
    struct cn_map by_address;
    uint64_t *addresses; /* of the unknown ones, in the order of their ids */
    size_t count, capacity;
};

/* The id behind those of functions and schedules; see cn_call_schedule_id(). */
uint32_t cn_call_ids_unknown(struct cn_call_ids *ids, const struct cn_recording *rec,
                             uint64_t address);

/* The id of an unknown address that has one; CN_NONE when it has none. */
uint32_t cn_call_ids_find(const struct cn_call_ids *ids, const struct cn_recording *rec,
                          uint64_t address);

static inline uint32_t cn_call_ids_of(struct cn_call_ids *ids,
                                      const struct cn_recording *rec, uint32_t function,
                                      uint64_t address)
{
    return function != CN_NONE ? function : cn_call_ids_unknown(ids, rec, address);
}

/* The address of an unknown id; 0 for functions. */
uint64_t cn_call_ids_address(const struct cn_call_ids *ids,
                             const struct cn_recording *rec, uint32_t id);
void cn_call_ids_done(struct cn_call_ids *ids);

#endif
