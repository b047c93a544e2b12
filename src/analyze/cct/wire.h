/* Encoding of a merged tree as a message: names first, then the nodes that use them.
 *
 *   u32 has_waits, u32 has_times
 *   u64 count, then for each: modules (path, build id), files (path),
 *   functions (name, module, offset, file, line), lines (file, line),
 *   nodes except the root (parent, key, and with has_times the self time)
 *
 * Numbers in a message are those of the sender; decoding translates them.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_WIRE_H
#define CN_ANALYZE_CCT_WIRE_H

#include "analyze/cct/merge.h"

void cn_cct_merged_encode(const struct cn_cct_merged *merged, struct cn_text *message);

/* Merge the tree of a message. Returns the merged node of each of its nodes, to be released
 * with free(). After a failure some nodes may have been added. */
CN_CHECK bool cn_cct_merged_decode(struct cn_cct_merged *merged, struct cn_bytes message,
                                   uint32_t **nodes, size_t *count, struct cn_error *err);

#endif
