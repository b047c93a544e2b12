/* XML being written to a file through a buffer, with values escaped.
 *
 * Append with the functions below, and call cn_markup_flush() regularly: it writes when the
 * buffer is large.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_WRITE_MARKUP_H
#define CN_FORMATS_HPCTOOLKIT_XML_WRITE_MARKUP_H

#include "base/files/out.h"
#include "base/text.h"

struct cn_markup {
    struct cn_out out;
    struct cn_text text;
    uint64_t replaced_count; /* values with characters that XML does not allow */
};

/* Append ` name="value"`. Invalid UTF-8 and control characters that XML does not allow become
 * U+FFFD. */
void cn_markup_attribute(struct cn_markup *markup, const char *name, const char *value);
void cn_markup_number(struct cn_markup *markup, const char *name, int64_t value);
void cn_markup_address(struct cn_markup *markup, const char *name, uint64_t value);

/* Append without escaping. */
void cn_markup_add(struct cn_markup *markup, const char *text);

CN_CHECK bool cn_markup_flush(struct cn_markup *markup, struct cn_error *err);

/* Write everything and close the file. */
CN_CHECK bool cn_markup_close(struct cn_markup *markup, struct cn_error *err);

/* Release the memory. A file that was not closed is incomplete. */
void cn_markup_done(struct cn_markup *markup);

#endif
