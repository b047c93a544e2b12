/* Consecutive records of a task that match criteria, with the durations of their calls.
 *
 *     cn_call_list_init(&list, &walk, &criteria, limit);
 *     list.bound = bound;
 *     cn_call_walk_seek(&walk, bound.position.part);
 *     cn_call_list_read(&list);
 *     ... list.items, list.count, list.damage ...
 *     cn_call_list_done(&list);
 *
 * The walk and the criteria outlive the list.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_CALL_LIST_H
#define CN_SERVER_API_CALL_LIST_H

#include "base/text.h"
#include "server/api/call_walk.h"

struct cn_call_item {
    struct cn_call_position position;
    struct cn_call call;
    struct cn_text values, result; /* as uftrace prints them */
    uint64_t end_ns;
    bool is_open;     /* its exit was not read */
    bool is_doubtful; /* its arguments do not match; its result may */
    bool is_dropped;  /* the call is too short, or neither matches */
};

/* Where to begin, or to stop: at this record, but not before this time. */
struct cn_call_bound {
    struct cn_call_position position;
    uint64_t time_ns;
};

struct cn_call_list {
    struct cn_call_walk *walk;
    struct cn_call_criteria *criteria;
    struct cn_call_item *items;
    size_t count, capacity, dropped_count, doubtful_count;
    uint32_t *open; /* items whose calls have not ended, outermost first */
    size_t open_count, open_capacity;
    uint64_t limit;
    bool is_backwards; /* the last `limit` before the bound, not the first after it */
    struct cn_call_bound bound;
    uint64_t time_ns;       /* of the last record that was read */
    uint64_t record_count;  /* that were read */
    bool is_cut;            /* the limit of records per request ended the reading */
    bool lacks_ends;        /* the same, while the ends of calls were looked for */
    bool has_ended;         /* with the last record of the task */
    struct cn_error damage; /* that ended the reading; kind CN_ERR_NONE: none */
};

void cn_call_list_init(struct cn_call_list *list, struct cn_call_walk *walk,
                       struct cn_call_criteria *criteria, uint64_t limit);
void cn_call_list_done(struct cn_call_list *list);

/* Read from the position of the walk on. */
void cn_call_list_read(struct cn_call_list *list);

/* True if there are as many matching records as were asked for. */
bool cn_call_list_is_full(const struct cn_call_list *list);

/* False for items that turned out not to match. */
bool cn_call_list_shows(const struct cn_call_list *list, const struct cn_call_item *item);

/* Find the last `count` matching records before a bound, as far back as one request
 * may read. Returns how many there are; `out` receives the position of the first one,
 * or where the search stopped if there are none. */
uint64_t cn_call_list_before(struct cn_call_walk *walk, struct cn_call_criteria *criteria,
                             struct cn_call_bound bound, uint64_t count,
                             struct cn_call_position *out);

#endif
