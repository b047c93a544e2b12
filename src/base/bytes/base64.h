/* Base64 (RFC 4648), as pages of HTML and JSON contain bytes.
 * Threads: any thread.
 */
#ifndef CN_BASE_BYTES_BASE64_H
#define CN_BASE_BYTES_BASE64_H

#include <stdbool.h>

#include "base/bytes/bytes.h"

struct cn_text;

/* Append the bytes, padded with '='. */
void cn_base64_add(struct cn_text *out, struct cn_bytes bytes);

/* Append the bytes that a text means, in the usual digits or those for addresses ('-', '_'), with or
 * without padding. False if it is no base64; then some bytes may have been appended. */
bool cn_base64_decode(struct cn_text *out, struct cn_bytes text);

#endif
