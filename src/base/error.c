#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool cn_fail(struct cn_error *err, enum cn_error_kind kind, const char *fmt, ...)
{
    va_list args;

    err->kind = kind;
    err->cause_count = 0;
    va_start(args, fmt);
    (void)vsnprintf(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    return false;
}

/* Append ": cause", shortened where it does not fit. The causes of the text before move, and the new
 * one comes first; of too many, the innermost are dropped. */
static void append_cause(struct cn_error *err, int used, const char *cause)
{
    size_t at = used < 0 ? 0 : (size_t)used, count = 0;
    uint16_t causes[CN_CAUSES_MAX];

    if (at < sizeof(err->text) - 3) {
        (void)snprintf(err->text + at, sizeof(err->text) - at, ": %.*s",
                       (int)(sizeof(err->text) - at - 3), cause);
        causes[count++] = (uint16_t)(at + 2);
    }
    for (size_t i = 0; i < err->cause_count && count > 0 && count < CN_CAUSES_MAX; i++)
        if (err->causes[i] + at + 2 < sizeof(err->text) - 1)
            causes[count++] = (uint16_t)(err->causes[i] + at + 2);
    memcpy(err->causes, causes, count * sizeof(*causes));
    err->cause_count = (uint16_t)count;
}

bool cn_fail_errno(struct cn_error *err, const char *fmt, ...)
{
    int saved = errno;
    char reason[128];
    va_list args;

    err->kind = saved == ENOENT   ? CN_ERR_NOT_FOUND
                : saved == ENOMEM ? CN_ERR_NO_MEMORY
                                  : CN_ERR_IO;
    err->cause_count = 0;
    va_start(args, fmt);
    int used = vsnprintf(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    append_cause(err, used, strerror_r(saved, reason, sizeof(reason)));
    return false;
}

bool cn_fail_in(struct cn_error *err, const char *fmt, ...)
{
    char cause[sizeof(err->text)];
    va_list args;

    memcpy(cause, err->text, sizeof(cause));
    va_start(args, fmt);
    int used = vsnprintf(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    append_cause(err, used, cause);
    return false;
}
