/* Errors: what went wrong, where, in words a user can act on.
 *
 * A function that can fail takes `struct cn_error *err` last, returns false on
 * failure and leaves its outputs untouched. Success does not touch err.
 * Threads: an error belongs to one thread at a time.
 */
#ifndef CN_BASE_ERROR_H
#define CN_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cn_error_kind {
    CN_ERR_NONE,
    CN_ERR_USAGE,       /* the caller asked for something impossible */
    CN_ERR_IO,          /* the operating system said no */
    CN_ERR_FORMAT,      /* the bytes break the rules of their format */
    CN_ERR_VERSION,     /* well formed, but newer than this reader */
    CN_ERR_LIMIT,       /* larger than we are willing to handle */
    CN_ERR_NOT_FOUND,   /* no such thread, symbol, file, ... */
    CN_ERR_INTERRUPTED, /* the user asked to stop */
    CN_ERR_REJECTED,    /* a rule that the user set does not hold */
    CN_ERR_BUSY,        /* not now: the same call may succeed later */
    CN_ERR_NO_MEMORY,   /* the system has no memory left for it */
};
enum { CN_ERR_KIND_COUNT = CN_ERR_NO_MEMORY + 1 };

enum { CN_ERROR_LEN = 480, CN_CAUSES_MAX = 8 };

struct cn_error {
    enum cn_error_kind kind;
    uint16_t cause_count;
    uint16_t causes[CN_CAUSES_MAX]; /* where inner causes begin in `text`, ascending */
    char text[CN_ERROR_LEN]; /* one line, no newline: "trace.db: trace 17: truncated" */
};

#define CN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define CN_CHECK             __attribute__((warn_unused_result))

/* Describe a new failure. Always returns false: `return cn_fail(err, ...)`. */
CN_PRINTF(3, 4)
bool cn_fail(struct cn_error *err, enum cn_error_kind kind, const char *fmt, ...);

/* The same for a failed system call: appends ": " and what errno means. */
CN_PRINTF(2, 3)
bool cn_fail_errno(struct cn_error *err, const char *fmt, ...);

/* Say where an earlier failure happened: prepends "<context>: ". Returns false. */
CN_PRINTF(2, 3)
bool cn_fail_in(struct cn_error *err, const char *fmt, ...);

#endif
