/* Dense ids of callees: functions of the recording, then the two kinds of waiting, then
 * addresses outside all functions.
 *
 * A zeroed table contains no addresses.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_IDS_H
#define CN_ANALYZE_CALLS_IDS_H

#include "analyze/calls/stack.h"
#include "base/map.h"

/* More unknown addresses, which only damaged data has, share an id. */
enum { CN_CALL_UNKNOWN_MAX = 1 << 16 };

struct cn_call_ids {
    struct cn_map by_address;
    uint64_t *addresses; /* in the order of their ids */
    size_t count, capacity;
};

/* The id of an unknown address, added when it has none. */
uint32_t cn_call_ids_unknown(struct cn_call_ids *ids, const struct cn_recording *rec,
                             uint64_t address);

/* The id of an unknown address; CN_NONE when it has none. */
uint32_t cn_call_ids_find(const struct cn_call_ids *ids, const struct cn_recording *rec,
                          uint64_t address);

static inline uint32_t cn_call_ids_of(struct cn_call_ids *ids,
                                      const struct cn_recording *rec, uint32_t function,
                                      uint64_t address)
{
    return function != CN_NONE ? function : cn_call_ids_unknown(ids, rec, address);
}

/* The address of an id; 0 for functions and waiting. */
uint64_t cn_call_ids_address(const struct cn_call_ids *ids,
                             const struct cn_recording *rec, uint32_t id);

/* For each function, the first one of the same name: overloads and instances of a template
 * may share one. Of request traces: of its service. To be freed; NULL if all names differ. */
uint32_t *cn_call_ids_first_of_name(const struct cn_recording *rec);

void cn_call_ids_done(struct cn_call_ids *ids);

#endif
