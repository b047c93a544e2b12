/* What the parts of the verifier share.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_VERIFY_PARTS_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_VERIFY_PARTS_H

#include "formats/hpctoolkit/check.h"
#include "formats/hpctoolkit/proto/meta_reader.h"
#include "model/contexts/metric.h"

struct cn_hpc_proto_check {
    struct cn_hpc_check c;
    struct cn_arena arena;
    struct cn_hpc_proto_meta meta;
    bool is_unfinished; /* the file stops after the metrics */
    struct cn_kinds kinds;
    struct cn_metrics metrics;
    struct cn_hpc_set prop_ids, stat_ids, contexts;
    uint64_t string_budget; /* bytes of strings that may still be checked */
};

void cn_hpc_proto_check_meta(struct cn_hpc_proto_check *p, struct cn_bytes file);

/* Check the context tree. The tables must have been read. */
void cn_hpc_proto_check_contexts(struct cn_hpc_proto_check *p);

#endif
