/* The state of a grouping, and how the members that were found in a segment are added to their groups.
 *
 * Internal to store/groups. Threads: one thread at a time.
 */
#ifndef CN_STORE_GROUPS_GROUPING_H
#define CN_STORE_GROUPS_GROUPING_H

#include "base/map.h"
#include "base/text.h"
#include "store/groups/durations.h"
#include "store/search/query.h"
#include "store/search/seen.h"
#include "store/search/trace_table.h"
#include "store/segment/weights.h"

/* A row in a group. */
struct cn_grouping_member {
    uint32_t group; /* word of its value */
    uint32_t row;
};

struct cn_grouping {
    struct cn_search *search;
    const struct cn_query *query;
    struct cn_query_term by;
    bool is_operation; /* grouped by service and method, whatever `by` is */
    const struct cn_trace_table *traces; /* NULL: spans are grouped */
    bool has_table;     /* of all traces, which knows what is stored twice */
    uint64_t *is_split; /* by number of a trace: it is in several runs; NULL: unknown */
    uint32_t *last;     /* by group: 1 + the trace that was added last */
    size_t last_capacity;
    struct cn_map seen;          /* group and trace of those that are split */
    struct cn_search_seen spans; /* that were grouped */
    struct cn_group_members all;
    char *name;                  /* of an attribute */
    size_t position;             /* of the next segment */
    struct cn_group_step *steps; /* by group and step; NULL: not counted */
    size_t step_count, step_capacity;
    uint64_t first_ns, step_ns;

    /* Of the current segment. */
    uint32_t segment;
    struct cn_row_weights weights;
    const struct cn_store_index *index;
    const struct cn_rows *rows;
    struct cn_grouping_member *members;
    size_t count, capacity;
    uint32_t group;          /* of the current entry */
    uint32_t *group_of_word; /* 1 + group; 0: not looked up yet */
    uint32_t word_count;
    unsigned source_count; /* names that have members */
    bool has_synonyms;     /* words of the same text, but different kinds */
    uint32_t *words;       /* by group: its word in this segment */
    size_t word_capacity;
    struct cn_text text;
};

/* Add the members of the current segment with their durations: spans, or the traces that they are of. */
CN_CHECK bool cn_grouping_add_members(struct cn_grouping *grouping, struct cn_error *err);

#endif
