/* Traces by their ids: those that a search has hits of.
 * Threads: one thread at a time; any thread may find while none adds.
 */
#ifndef CN_STORE_SEARCH_TRACE_IDS_H
#define CN_STORE_SEARCH_TRACE_IDS_H

#include <stddef.h>
#include <stdint.h>

/* A trace that has hits; `time_ns` is the start of the earliest of them. */
struct cn_trace_id {
    uint64_t high, low, time_ns;
    uint32_t mark; /* the caller's */
};

/* A zeroed one is empty. */
struct cn_trace_ids {
    struct cn_trace_id *list;
    size_t count, capacity;
    struct cn_trace_slot {
        uint32_t place; /* 1 + index in the list; 0: free */
        uint32_t mark;  /* of the id */
    } * slots;
    size_t slot_count; /* a power of two, or 0 */
};

/* The index of a trace in the list, which it is added to. */
uint32_t cn_trace_ids_add(struct cn_trace_ids *ids, uint64_t high, uint64_t low);

/* The same; CN_NONE if it is not in the list. */
uint32_t cn_trace_ids_find(const struct cn_trace_ids *ids, uint64_t high, uint64_t low);

/* Fetch what finds a trace into the cache: a little before it is added or looked for. */
void cn_trace_ids_expect(const struct cn_trace_ids *ids, uint64_t high, uint64_t low);

/* Find ids again after the list was changed: sorted or shortened. */
void cn_trace_ids_renew(struct cn_trace_ids *ids);

void cn_trace_ids_done(struct cn_trace_ids *ids);

#endif
