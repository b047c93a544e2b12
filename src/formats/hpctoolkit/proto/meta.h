/* The prototype's meta.db, as meta/ reads, verifies and dumps it.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_META_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_META_H

#include "formats/hpctoolkit/meta/meta.h"
#include "formats/hpctoolkit/proto/format.h"

/* True if the bytes start like a prototype's meta.db. */
bool cn_hpc_proto_meta_is(struct cn_bytes file);

/* Read header, sections and footer: what cn_hpc_meta_open() needs. */
CN_CHECK bool cn_hpc_proto_meta(struct cn_bytes file, struct cn_hpc_meta *out,
                                bool *has_footer, struct cn_error *err);

#endif
