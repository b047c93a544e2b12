/* Columns before the name of a function, chosen by name: "+self,addr".
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_PRINT_FIELDS_H
#define CN_CLI_PRINT_FIELDS_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

struct cn_field {
    const char *name;
    const char *heading; /* as wide as the field with the blanks before it */
    bool is_usual;       /* shown when nothing else is asked for */
};

/* Which of `count` fields are shown. Text is a list of names, one with "+" before it to
 * add to the usual ones, "none", or NULL for those. */
CN_CHECK bool cn_fields_parse(const struct cn_field *fields, size_t count,
                              const char *text, bool *has_field, struct cn_error *err);

bool cn_fields_any(const bool *has_field, size_t count);

/* The line of headings, `first` before all others whether it is shown or not (`count`:
 * none). Nothing when no field is shown. */
void cn_fields_heading_add(struct cn_text *out, const struct cn_field *fields,
                           size_t count, const bool *has_field, size_t first,
                           bool has_srcline);

#endif
