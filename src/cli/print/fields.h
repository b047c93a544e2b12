/* Columns before the name of a function, chosen by name: "+self,addr".
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_PRINT_FIELDS_H
#define CN_CLI_PRINT_FIELDS_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* Bits of cn_output_field.flags. */
enum {
    CN_OUTPUT_TIME = 1 << 0,
    CN_OUTPUT_NUMBER = 1 << 1,
    CN_OUTPUT_PERCENT = 1 << 2,
    CN_OUTPUT_USUAL = 1 << 3,    /* shown unless -f says otherwise */
    CN_OUTPUT_RARE = 1 << 4,     /* not part of "all" */
    CN_OUTPUT_MOMENT = 1 << 6,   /* a point in time, 18 columns wide */
    CN_OUTPUT_CENTERED = 1 << 7, /* as wide as its heading; may have a text */
    CN_OUTPUT_NARROW = 1 << 5,   /* 7 columns wide in a report, not 10 */
};

struct cn_output_field {
    const char *name;    /* as -f takes it: "total-avg" */
    const char *heading; /* replay and graph: as wide as the field and its left margin */
    const char *key;     /* in JSON: "total_avg_ns" */
    unsigned flags;
};

/* The field called `name`, `len` characters long; `count` if there is none. */
size_t cn_fields_find(const struct cn_output_field *fields, size_t count,
                      const char *name, size_t len);

/* Fail with "no field 'x'; there are: total, ..."; false says "no column 'x' to sort by". */
bool cn_fields_fail(const struct cn_output_field *fields, size_t count, bool is_shown,
                    const char *name, size_t len, struct cn_error *err);

/* Which of `count` fields to show. `text` is a list of names, "+NAMES" to add to the usual
 * fields, "all", "none", or NULL for the usual fields. */
CN_CHECK bool cn_fields_parse(const struct cn_output_field *fields, size_t count,
                              const char *text, bool *has_field, struct cn_error *err);

bool cn_fields_any(const bool *has_field, size_t count);

/* Append the line of headings; `first` comes before the others and is always shown
 * (`count`: none). Nothing if no field is shown. */
void cn_fields_heading_add(struct cn_text *out, const struct cn_output_field *fields,
                           size_t count, const bool *has_field, size_t first,
                           bool has_srcline);

#endif
