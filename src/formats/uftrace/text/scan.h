/* Scanner for the text files of a uftrace directory: lines, and tokens of a line.
 *
 * Each cn_uft_scan_*() takes a token off the front of `text` and returns true, or
 * returns false and leaves `text` unchanged. Tokens are borrowed from the file.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_SCAN_H
#define CN_FORMATS_UFTRACE_TEXT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/step.h"

struct cn_uft_lines {
    struct cn_bytes rest;
    uint64_t number;   /* of the last line returned, from 1 */
    uint64_t off;      /* where it begins */
    uint64_t next_off; /* where the next one begins */
};

void cn_uft_lines_begin(struct cn_uft_lines *lines, struct cn_bytes file);

/* The next line without its newline. Fails for a line longer than CN_UFT_LINE_MAX; the
 * next call returns the line after it. */
CN_CHECK enum cn_step cn_uft_lines_next(struct cn_uft_lines *lines, struct cn_bytes *out,
                                        struct cn_error *err);

/* The next line, parsed by `scan`. Fails when `scan` returns false; the next call parses
 * the line after it. */
typedef bool (*cn_uft_scan_fn)(struct cn_bytes line, void *out);
CN_CHECK enum cn_step cn_uft_lines_scan(struct cn_uft_lines *lines, cn_uft_scan_fn scan,
                                        void *out, struct cn_error *err);

/* Fail because the last line returned cannot be parsed. */
bool cn_uft_lines_fail(const struct cn_uft_lines *lines, struct cn_bytes line,
                       struct cn_error *err);

bool cn_uft_scan_literal(struct cn_bytes *text, const char *literal);
bool cn_uft_scan_spaces(struct cn_bytes *text); /* one or more */
bool cn_uft_scan_dec(struct cn_bytes *text, uint64_t *out);
bool cn_uft_scan_u32(struct cn_bytes *text, uint32_t *out); /* decimal */
bool cn_uft_scan_hex(struct cn_bytes *text, uint64_t *out);
bool cn_uft_scan_time(struct cn_bytes *text, uint64_t *time_ns);      /* "12.000000345" */
bool cn_uft_scan_quoted(struct cn_bytes *text, struct cn_bytes *out); /* to the last " */
bool cn_uft_scan_word(struct cn_bytes *text, struct cn_bytes *out);   /* up to a space */

/* Take the text up to `end`, and `end` itself, which is not part of the result; without
 * an `end`, all of the text. False when the text is empty. */
bool cn_uft_scan_until(struct cn_bytes *text, char end, struct cn_bytes *out);

bool cn_uft_text_equals(struct cn_bytes text, const char *string);
bool cn_uft_text_ends(struct cn_bytes text, const char *end);

/* A copy with a NUL at its end; a NUL inside ends it early. */
char *cn_uft_text_copy(struct cn_arena *arena, struct cn_bytes text);

#endif
