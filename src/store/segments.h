/* The numbered directories of a store.
 * Threads: any thread.
 */
#ifndef CN_STORE_SEGMENTS_H
#define CN_STORE_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Names are six hexadecimal digits. */
enum { CN_SEGMENT_NUMBER_MAX = 0xffffff };

/* The numbers of all segments in ascending order; the caller frees them. */
CN_CHECK bool cn_segments_list(const char *base, uint32_t **numbers, size_t *count,
                               struct cn_error *err);

/* Whether a path ends in the name of a segment. */
bool cn_segments_parse(const char *path, uint32_t *number);

#endif
