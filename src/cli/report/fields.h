/* The columns of cairn report: names, values, and sorting by them.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_REPORT_FIELDS_H
#define CN_CLI_REPORT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/calls/report.h"
#include "cli/print/fields.h"

/* In the order in which they are shown. */
enum cn_report_field {
    CN_REPORT_TOTAL,
    CN_REPORT_TOTAL_AVG,
    CN_REPORT_TOTAL_MIN,
    CN_REPORT_TOTAL_MAX,
    CN_REPORT_SELF,
    CN_REPORT_SELF_AVG,
    CN_REPORT_SELF_MIN,
    CN_REPORT_SELF_MAX,
    CN_REPORT_CALL,
    CN_REPORT_SIZE,
    CN_REPORT_TOTAL_STDV,
    CN_REPORT_SELF_STDV,
    CN_REPORT_P50,
    CN_REPORT_P90,
    CN_REPORT_P99,
    CN_REPORT_P999,
    CN_REPORT_SELF_P50,
    CN_REPORT_SELF_P90,
    CN_REPORT_SELF_P99,
    CN_REPORT_SELF_P999,
    CN_REPORT_TOTAL_MIN_TS, /* from here on: points in time */
    CN_REPORT_TOTAL_MAX_TS,
    CN_REPORT_SELF_MIN_TS,
    CN_REPORT_SELF_MAX_TS,
    CN_REPORT_CPU_COUNT, /* from here on: processors */
    CN_REPORT_CPU_MASK,
    CN_REPORT_CPU_LIST,
    CN_REPORT_FIELD_COUNT,
};

extern const struct cn_output_field cn_report_fields[CN_REPORT_FIELD_COUNT];

enum { CN_REPORT_KEYS_MAX = 16, CN_REPORT_BY_NAME = -1 };

struct cn_report_layout {
    bool has[CN_REPORT_FIELD_COUNT];
    int keys[CN_REPORT_KEYS_MAX]; /* fields to sort by, or CN_REPORT_BY_NAME */
    size_t key_count;
    struct cn_call_report_options needs;
};

/* From -f, -s, --avg-total and --avg-self, all of which may be missing. */
CN_CHECK bool cn_report_layout_parse(struct cn_report_layout *layout, const char *fields,
                                     const char *keys, bool avg_total, bool avg_self,
                                     struct cn_error *err);

/* Let the report count what a field or key shows. */
void cn_report_layout_need(struct cn_report_layout *layout, int field);

/* True for the duration of one call, an extreme or a percentile: it is not shorter than the
 * resolution of its row. */
bool cn_report_is_of_one_call(size_t field);

/* A time or number; not for percent fields. */
uint64_t cn_report_value(const struct cn_recording *rec, const struct cn_call_row *row,
                         enum cn_report_field field);

/* Append the text of a field of the kind CN_OUTPUT_CENTERED; nothing if it is unknown. */
void cn_report_text(const struct cn_call_row *row, enum cn_report_field field,
                    struct cn_text *text);
double cn_report_percent(const struct cn_call_row *row, enum cn_report_field field);

void cn_report_sort(const struct cn_report_layout *layout, const struct cn_recording *rec,
                    struct cn_call_row *rows, size_t count);

#endif
