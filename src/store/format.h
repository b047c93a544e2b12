/* The trace store as one of the formats that cairn knows.
 * Threads: immutable.
 */
#ifndef CN_STORE_FORMAT_H
#define CN_STORE_FORMAT_H

#include "model/format.h"

/* True for a store of cairn or of the original Java implementation, or one of its segments:
 * config.props can be read, or there is a segment with data. */
bool cn_store_probe(const char *path);

extern const struct cn_format cn_format_store;

#endif
