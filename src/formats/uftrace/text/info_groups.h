/* The groups of lines in an info file, in the order of their bits.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_INFO_GROUPS_H
#define CN_FORMATS_UFTRACE_TEXT_INFO_GROUPS_H

#include <stdbool.h>

#include "formats/uftrace/format.h"

/* A group has a line for each of its keys or, counted, as many lines as its first
 * one says. */
struct cn_uft_info_group {
    const char *keys[2];
    bool is_counted;
};

extern const struct cn_uft_info_group cn_uft_info_groups[CN_UFT_INFO_COUNT];

#endif
