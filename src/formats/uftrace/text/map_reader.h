/* sid-SID.map: the memory map of a session. Text is borrowed from the file.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_MAP_READER_H
#define CN_FORMATS_UFTRACE_TEXT_MAP_READER_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/uftrace/text/scan.h"
#include "model/step.h"

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
