/* The small files of a directory: extern.dat, events.txt, default.opts. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/text/scan.h"

/* "12.345678901 what happened" */
static void read_externs(struct cn_uft_directory *dir, struct cn_bytes file)
{
    struct cn_uft_bad_lines bad = {&dir->rec, "extern.dat", 0};
    struct cn_uft_lines lines;
    struct cn_bytes line;
    struct cn_error err = {0};
    enum cn_step step;

    cn_uft_lines_begin(&lines, file);
    while ((step = cn_uft_lines_next(&lines, &line, &err)) != CN_END) {
        struct cn_uft_extern item = {.off = lines.off};

        if (step == CN_ITEM && (line.len == 0 || line.ptr[0] == '#'))
            continue;
        if (step == CN_ITEM &&
            (!cn_uft_scan_time(&line, &item.time_ns) || !cn_uft_scan_spaces(&line)))
            step = cn_fail(&err, CN_ERR_FORMAT,
                           "line %" PRIu64 ": does not begin with a time", lines.number);
        if (step == CN_FAIL) {
            cn_uft_bad_line(&bad, lines.off, &err);
            continue;
        }
        item.text = line;
        CN_PUSH(dir->externs, dir->extern_count, dir->extern_capacity, item);
    }
    cn_uft_bad_lines_done(&bad);
    CN_SORT(dir->externs, dir->extern_count, CN_UP(struct cn_uft_extern, time_ns),
            CN_UP(struct cn_uft_extern, off));
    /* These events belong to no task; the first task shows them. */
    for (uint32_t i = 0; i < dir->task_count; i++)
        if (dir->extern_task == CN_NONE ||
            dir->tasks[i].time_ns < dir->tasks[dir->extern_task].time_ns)
            dir->extern_task = i;
    cn_uft_source_add(dir, "extern.dat", CN_SOURCE_EXTERN, dir->extern_task);
}

/* "EVENT: 1000000 provider:name" */
static void read_events(struct cn_uft_directory *dir, struct cn_bytes file)
{
    struct cn_uft_bad_lines bad = {&dir->rec, "events.txt", 0};
    struct cn_event_name *names = NULL, *copy;
    size_t count = 0, capacity = 0;
    struct cn_uft_lines lines;
    struct cn_bytes line;
    struct cn_error err = {0};
    enum cn_step step;

    cn_uft_lines_begin(&lines, file);
    while ((step = cn_uft_lines_next(&lines, &line, &err)) != CN_END) {
        uint64_t id;

        if (step == CN_ITEM && cn_uft_scan_literal(&line, "EVENT: ") &&
            cn_uft_scan_dec(&line, &id) && cn_uft_scan_spaces(&line)) {
            CN_PUSH(names, count, capacity,
                    (struct cn_event_name){id, cn_uft_text_copy(&dir->rec.arena, line)});
            continue;
        }
        if (step == CN_ITEM)
            (void)cn_fail(&err, CN_ERR_FORMAT, "line %" PRIu64 ": not an event",
                          lines.number);
        cn_uft_bad_line(&bad, lines.off, &err);
    }
    cn_uft_bad_lines_done(&bad);
    copy = cn_arena_alloc(&dir->rec.arena, count, sizeof(*copy));
    if (count > 0)
        memcpy(copy, names, count * sizeof(*copy));
    free(names);
    dir->rec.event_names = copy;
    dir->rec.event_name_count = (uint32_t)count;
}

void cn_uft_extras_build(struct cn_uft_directory *dir)
{
    struct cn_bytes file;

    if (cn_uft_directory_find(dir, "extern.dat", &file))
        read_externs(dir, file);
    if (cn_uft_directory_find(dir, "events.txt", &file))
        read_events(dir, file);
    if (cn_uft_directory_find(dir, "default.opts", &file) &&
        file.len <= CN_UFT_LINE_MAX) {
        char *options = cn_uft_text_copy(&dir->rec.arena, file);

        for (size_t end = strlen(options); end > 0 && strchr(" \n", options[end - 1]);
             end--)
            options[end - 1] = '\0';
        dir->rec.options = options;
    }
}
