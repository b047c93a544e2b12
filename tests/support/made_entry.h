/* The entry of a segment in a manifest, with everything that an entry can have. */
#ifndef CN_TESTS_SUPPORT_MADE_ENTRY_H
#define CN_TESTS_SUPPORT_MADE_ENTRY_H

#include "store/bucket/manifest.h"

enum { CN_MADE_FILTER_LEN = 64 };

/* Append its encoding. */
void cn_made_entry_encode(struct cn_cbor_out *out);

#endif
