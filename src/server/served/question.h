/* What requests ask of a database, parsed. The strings are borrowed from the request.
 * Threads: immutable.
 */
#ifndef CN_SERVER_SERVED_QUESTION_H
#define CN_SERVER_SERVED_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CN_QUESTION_LIST_MAX = 64 };

struct cn_question_list {
    const char *list[CN_QUESTION_LIST_MAX];
    size_t count;
};

enum cn_view_kind {
    CN_VIEW_TOP_DOWN,
    CN_VIEW_COLLAPSED, /* top-down, recursive calls merged */
    CN_VIEW_BOTTOM_UP,
    CN_VIEW_FLAT,
    CN_VIEW_LANGUAGES, /* flat, functions by language */
};

struct cn_view_question {
    enum cn_view_kind kind;
    struct cn_question_list metrics; /* "", or an empty list: the default metric */
    struct cn_question_list threads; /* selections as of --thread; empty: all threads */
    struct cn_question_list derived; /* NAME=FORMULA, as of --derive */
    bool has_percentiles;
    bool counts_waits; /* of the default metric, see cn_costs_default_metrics() */

    /* Of a top-down view, also the values of all contexts in the column `sort`. */
    bool has_values;
    const char *sort; /* name of a column; NULL: the first one */

    /* While the view is being built: its rows are not asked for again. */
    bool takes_estimate;
};

struct cn_range_question {
    struct cn_question_list threads;
    uint64_t begin_ns, end_ns; /* clock of the database */
    double min_share;          /* of the whole; smaller nodes are left out */
};

#endif
