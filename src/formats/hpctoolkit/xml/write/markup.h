/* XML being written: text with values that are escaped, to a file through a buffer.
 *
 * Append with the functions below, or to `text` directly for what needs no escaping, and call
 * cn_markup_flush() now and then: it writes when there is much.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_WRITE_MARKUP_H
#define CN_FORMATS_HPCTOOLKIT_XML_WRITE_MARKUP_H

#include "base/files/out.h"
#include "base/text.h"

struct cn_markup {
    struct cn_out out;
    struct cn_text text;
    uint64_t replaced_count; /* values with characters that XML cannot hold */
};

/* Append ` name="value"`. Bytes that are no UTF-8 and control characters that XML does not
 * know become U+FFFD. */
void cn_markup_attribute(struct cn_markup *markup, const char *name, const char *value);
void cn_markup_number(struct cn_markup *markup, const char *name, int64_t value);
void cn_markup_address(struct cn_markup *markup, const char *name, uint64_t value);

/* Append as it is. */
void cn_markup_add(struct cn_markup *markup, const char *text);

CN_CHECK bool cn_markup_flush(struct cn_markup *markup, struct cn_error *err);

/* Write everything and close the file. */
CN_CHECK bool cn_markup_close(struct cn_markup *markup, struct cn_error *err);

/* Release the memory; a file that was not closed stays incomplete. */
void cn_markup_done(struct cn_markup *markup);

#endif
