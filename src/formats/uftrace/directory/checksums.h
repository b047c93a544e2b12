/* The file `checksums` of a packed recording: the lengths and checksums of its other files,
 * except those that have checksums of their own (TID.zts, the summary).
 *
 *   cairn-checksums-1 CRC      CRC-32C of the rest, in hexadecimal digits
 *   CRC LENGTH NAME            one line for each file, sorted by name
 *
 * It is written last: a recording that was not completed has none. A file may become longer
 * later, as children of the program may add to it; only LENGTH bytes are checked.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_CHECKSUMS_H
#define CN_FORMATS_UFTRACE_DIRECTORY_CHECKSUMS_H

#include "base/bytes/bytes.h"
#include "base/error.h"

#define CN_UFT_CHECKSUMS_NAME "checksums"

/* Write it for the files in a directory. */
CN_CHECK bool cn_uft_checksums_write(const char *dir, struct cn_error *err);

/* Check files by its content. `find` finds a file of the directory; `report` gets each
 * problem. */
struct cn_uft_checksums_check {
    bool (*find)(void *arg, const char *name, struct cn_bytes *out);
    void (*report)(void *arg, const char *text);
    void *arg;
};
void cn_uft_checksums_check(struct cn_bytes text,
                            const struct cn_uft_checksums_check *check);

#endif
