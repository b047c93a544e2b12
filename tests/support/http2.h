/* What a client of gRPC sends over HTTP/2, written byte by byte.
 * Threads: any thread.
 */
#ifndef CN_TEST_HTTP2_H
#define CN_TEST_HTTP2_H

#include <stdint.h>

#include "base/text.h"

enum { CN_TEST_HTTP2_COUNT = 6 };

/* Append a frame. */
void cn_test_frame(struct cn_text *out, unsigned type, unsigned flags, uint32_t stream,
                   const char *payload, size_t len);

/* Append the headers of a call, as a block that is not compressed. */
void cn_test_head(struct cn_text *out, const char *path, const char *name,
                  const char *value);

/* Append all that a client sends: one of several connections. */
void cn_test_http2(struct cn_text *out, unsigned kind);

#endif
