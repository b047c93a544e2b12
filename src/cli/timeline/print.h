/* Threads over time on stdout, drawn with a letter per function or as a table.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_TIMELINE_PRINT_H
#define CN_CLI_TIMELINE_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/timeline/occupancy.h"
#include "analyze/views/frames.h"
#include "open/open.h"

struct cn_args;

/* A thread, and the row that shows it. */
struct cn_timeline_row {
    uint32_t profile;
    struct cn_identity_tuple identity;
    const char *name; /* borrowed; NULL if unknown */
    char *label;      /* printable */
};

struct cn_timeline_view {
    const struct cn_args *args;
    const char *path;
    struct cn_opened opened;
    struct cn_database *db; /* of `opened` */
    struct cn_frames frames;
    struct cn_occupancy occupancy;
    struct cn_timeline_row *threads;                 /* sorted by identity */
    size_t row_count, thread_count, thread_capacity; /* the first row_count are shown */
    uint64_t without_samples_count;
    size_t common_id_count; /* ids that all rows share, omitted from labels */
    size_t label_width;     /* of the widest one */
    uint64_t begin_ns, end_ns;
};

/* Print a head line, a time axis, a row per thread, and a legend. */
void cn_timeline_print(const struct cn_timeline_view *view);

/* Print a row per thread and slice, as --format says. */
void cn_timeline_print_table(const struct cn_timeline_view *view);

#endif
