/* Calls kept by name or by function, for GROUP BY: SQLite then needs no sorter. Of a call,
 * only the numbers that the statement uses are kept.
 * Threads: one thread at a time.
 */
#ifndef CN_SQL_CALL_GROUPS_H
#define CN_SQL_CALL_GROUPS_H

#include "formats/exchange/write/spans/spans.h"

/* The numbers of a call that can be kept. */
enum cn_call_number {
    CN_CALL_PLACE, /* thread and depth: thread << 32 | depth */
    CN_CALL_BEGIN,
    CN_CALL_END_NS,
    CN_CALL_TOTAL,
    CN_CALL_SELF,
    CN_CALL_NUMBER_COUNT,
};

struct cn_call_groups;

/* A call of a group. */
struct cn_grouped_call {
    uint32_t function;                      /* of the group; as cn_call_name() takes it */
    uint64_t address;                       /* of a group without a function */
    uint64_t numbers[CN_CALL_NUMBER_COUNT]; /* those that are not kept: 0 */
};

/* Groups of functions with the same name, or of single functions; calls of unknown functions
 * by address, or all together. `kept` is a set of 1 << enum cn_call_number. */
struct cn_call_groups *cn_call_groups_new(const struct cn_recording *rec, bool by_name,
                                          unsigned kept);
void cn_call_groups_free(struct cn_call_groups *groups); /* NULL is fine */

/* Add the end of a call. */
void cn_call_groups_add(struct cn_call_groups *groups, uint64_t task,
                        const struct cn_span *span);

/* Bytes in use. */
uint64_t cn_call_groups_len(const struct cn_call_groups *groups);

/* Sort the groups by name or function, the unknown first, after the last call was added. */
void cn_call_groups_sort(struct cn_call_groups *groups);

/* The next call: group by group, in each as added. False after the last one. */
bool cn_call_groups_next(struct cn_call_groups *groups, struct cn_grouped_call *out);

/* Bytes that a call takes with these numbers. */
size_t cn_call_groups_call_len(unsigned kept);

#endif
