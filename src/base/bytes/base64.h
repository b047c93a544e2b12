/* Base64 (RFC 4648), as pages of HTML contain bytes.
 * Threads: any thread.
 */
#ifndef CN_BASE_BYTES_BASE64_H
#define CN_BASE_BYTES_BASE64_H

#include "base/bytes/bytes.h"

struct cn_text;

/* Append the bytes, padded with '='. */
void cn_base64_add(struct cn_text *out, struct cn_bytes bytes);

#endif
