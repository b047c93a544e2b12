/* Records of a task in a row: those that a criteria holds for, with how long their calls took.
 *
 *     cn_call_list_init(&list, &walk, &criteria, limit);
 *     list.bound = ...;
 *     if (!cn_call_list_read(&list, &is_cut, err)) ... list.err tells of damage
 *     ... list.items, list.count ...
 *     cn_call_list_done(&list);
 *
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
    bool is_open;    /* its end was not seen */
    bool is_dropped; /* it turned out too short */
};

/* Where to begin or to stop: at this record, but not before a time. */
struct cn_call_bound {
    struct cn_call_position position;
    uint64_t time_ns;
};

struct cn_call_list {
    struct cn_call_walk *walk;
    struct cn_call_criteria *criteria;
    struct cn_call_item *items;
    size_t count, capacity, dropped_count;
    uint32_t *open; /* items whose calls have not ended, the outermost first */
    size_t open_count, open_capacity;
    uint64_t limit;
    bool is_backwards; /* the last `limit` before the bound, not the first after it */
    struct cn_call_bound bound;
    uint64_t time_ns;       /* of the last record that was read */
    uint64_t record_count;  /* that were read */
    bool is_cut;            /* there was more to read than one answer may */
    bool is_at_end;         /* of the task */
    struct cn_error damage; /* what ended the reading; kind CN_ERR_NONE: nothing */
};

void cn_call_list_init(struct cn_call_list *list, struct cn_call_walk *walk,
                       struct cn_call_criteria *criteria, uint64_t limit);
void cn_call_list_done(struct cn_call_list *list);

/* Read from the walk's position on. */
void cn_call_list_read(struct cn_call_list *list);

/* Whether an item is one to be shown. */
bool cn_call_list_shows(const struct cn_call_list *list, const struct cn_call_item *item);

/* Where the last `count` records before a bound begin, as far back as one answer may
 * look, and how many they are; 0: `out` is how far it looked. */
uint64_t cn_call_list_before(struct cn_call_walk *walk, struct cn_call_criteria *criteria,
                             struct cn_call_bound bound, uint64_t count,
                             struct cn_call_position *out);

#endif
