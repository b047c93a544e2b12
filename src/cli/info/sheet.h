/* A page of "key: value" lines in titled groups; values are aligned over all groups.
 *
 * Keys and values are copied; control characters appear as \xHH. A zeroed sheet is ready
 * for use.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_INFO_SHEET_H
#define CN_CLI_INFO_SHEET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct cn_text;

struct cn_sheet_row {
    const char *key;
    const char *value; /* NULL: `key` is the title of a group */
};

struct cn_sheet {
    struct cn_arena arena;
    struct cn_sheet_row *rows;
    size_t count, capacity;
};

void cn_sheet_group(struct cn_sheet *sheet, const char *title);
CN_PRINTF(3, 4)
void cn_sheet_add(struct cn_sheet *sheet, const char *key, const char *fmt, ...);

/* Append the page to `text`; titles of groups are bold where colour is allowed. */
void cn_sheet_print(const struct cn_sheet *sheet, bool has_color, struct cn_text *text);

void cn_sheet_done(struct cn_sheet *sheet);

#endif
