/* Lines of cairn replay, laid out as uftrace replay does, printed to stdout through a
 * buffer.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_REPLAY_PRINT_H
#define CN_CLI_REPLAY_PRINT_H

#include "analyze/calls/replay.h"
#include "base/map.h"
#include "cli/recording/call_names.h"

struct cn_replay_line;
struct cn_replay_printer;

/* Columns before the function, in this order. */
struct cn_resolver;
struct cn_source_location;

enum cn_replay_field {
    CN_FIELD_DURATION,
    CN_FIELD_TID,
    CN_FIELD_ADDRESS,
    CN_FIELD_TIME,
    CN_FIELD_DELTA,
    CN_FIELD_ELAPSED,
    CN_FIELD_TASK,
    CN_FIELD_MODULE,
    CN_FIELD_COUNT,
};

struct cn_replay_task {
    uint64_t last_ns; /* time of the line before; 0: none */
    uint32_t column;  /* 1 + number of tasks that appeared before; 0: not yet */
    uint32_t label_len;
    char label[20]; /* " [  21080] | ": usually follows the duration */
};

struct cn_replay_printer {
    const struct cn_call_query *query;
    bool has_field[CN_FIELD_COUNT];
    enum cn_replay_field first_field; /* before the others; CN_FIELD_COUNT: none */
    uint64_t start_ns;                /* start of elapsed time */
    bool is_flat, has_srcline, without_comments, has_libnames, has_task_lines, has_color;
    bool without_sites;
    bool has_columns;
    uint32_t column_offset;

    struct cn_text out;
    struct cn_replay_task *tasks; /* by slot */
    uint32_t column_count;
    uint32_t last_slot; /* of the line before; CN_NONE: none */
    uint64_t line_count;
    const char **libraries; /* by function: the library that a PLT entry calls into */
    struct cn_call_names names;
    struct cn_resolver *resolver; /* of call sites; NULL until the first */
    struct cn_map site_of;        /* by mapping and address: in `sites` */
    struct cn_source_location *sites;
    size_t site_count, site_capacity;
    bool is_usual; /* duration and tid only */
};

/* Parse -f: "time,tid", "+delta", "none". */
CN_CHECK bool cn_replay_fields_parse(struct cn_replay_printer *printer, const char *text,
                                     struct cn_error *err);

void cn_replay_print_begin(struct cn_replay_printer *printer); /* the heading */
bool cn_replay_print_line(void *printer, const struct cn_replay_line *line);

/* Print the calls that are still open, and flush the buffer. */
void cn_replay_print_end(struct cn_replay_printer *printer,
                         const struct cn_call_replay *replay);
void cn_replay_print_done(struct cn_replay_printer *printer);

/* The part of a line of cairn replay after the fields; for replay_print.c only. */

/* Append "main() {", "} = 0;" or a comment, without indentation. */
void cn_replay_add_line(struct cn_replay_printer *printer,
                        const struct cn_replay_line *line);

/* Append "[3] ==> 21080/0: ip (main), time (1234)". */
void cn_replay_add_flat(struct cn_replay_printer *printer,
                        const struct cn_replay_line *line);

#endif
