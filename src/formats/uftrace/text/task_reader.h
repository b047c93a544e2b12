/* task.txt: the start of sessions, tasks and forks, and calls of dlopen(). Text is borrowed
 * from the file.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_TASK_READER_H
#define CN_FORMATS_UFTRACE_TEXT_TASK_READER_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/uftrace/text/scan.h"
#include "model/step.h"

enum cn_uft_task_kind { CN_UFT_SESS, CN_UFT_TASK, CN_UFT_FORK, CN_UFT_DLOP };

struct cn_uft_task_line {
    enum cn_uft_task_kind kind;
    uint64_t time_ns;
    uint32_t tid;         /* TASK and DLOP; SESS and FORK: the same as pid */
    uint32_t pid;         /* SESS, TASK; FORK: the child */
    uint32_t parent_pid;  /* FORK */
    struct cn_bytes sid;  /* SESS, DLOP */
    struct cn_bytes path; /* SESS: program; DLOP: library */
    uint64_t base;        /* DLOP */
};

/* The next line. Fails for a line that cannot be parsed; the next call reads the line
 * after it. */
CN_CHECK enum cn_step cn_uft_task_next(struct cn_uft_lines *lines,
                                       struct cn_uft_task_line *out,
                                       struct cn_error *err);

/* sid-SID.map: the memory map of a session. Text is borrowed from the file. */

struct cn_uft_map_line {
    uint64_t begin, end;
    char protection[5];
    struct cn_bytes path;     /* empty for anonymous memory */
    struct cn_bytes build_id; /* empty when there is none */
};

/* The next line. Fails for a line that cannot be parsed; the next call reads the line
 * after it. */
CN_CHECK enum cn_step cn_uft_map_next(struct cn_uft_lines *lines,
                                      struct cn_uft_map_line *out, struct cn_error *err);

#endif
