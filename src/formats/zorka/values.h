/* Attribute values of a trace, written as both dialects store them.
 *
 * Internal to the format. Threads: any thread.
 */
#ifndef CN_FORMATS_ZORKA_VALUES_H
#define CN_FORMATS_ZORKA_VALUES_H

#include "base/bytes/cbor.h"
#include "model/traces/trace.h"

/* The attributes of a node as a map with this tag; nothing when it has none. */
void cn_zorka_put_attributes(struct cn_cbor_out *out, const struct cn_trace *trace,
                             const struct cn_trace_node *node, unsigned tag);

#endif
