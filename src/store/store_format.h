/* The trace store as one of the formats that cairn knows.
 * Threads: immutable.
 */
#ifndef CN_STORE_STORE_FORMAT_H
#define CN_STORE_STORE_FORMAT_H

#include "model/format.h"

extern const struct cn_format cn_format_store;

#endif
