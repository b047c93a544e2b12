/* Stored records: traces as the chunks of traces.dat hold them, in both dialects.
 *
 * A chunk holds records one after the other. A record of the spec dialect says itself which
 * trace it belongs to; the first bytes tell the dialects apart.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_ZORKA_RECORD_H
#define CN_FORMATS_ZORKA_RECORD_H

#include "base/bytes/bytes.h"
#include "base/bytes/cbor.h"
#include "base/error.h"
#include "model/traces/trace.h"

/* What a record says about the part of a trace that it is. */
struct cn_zorka_part {
    uint64_t id_high, id_low;
    uint32_t number;    /* CH_NUM */
    uint64_t part_off;  /* CH_OFFS */
    uint32_t part_len;  /* CH_LEN; of the first part the whole record */
    size_t payload_off; /* where that begins in the record */
    size_t record_len;  /* with what comes before it */
};

/* Memory for encoding, kept from one trace to the next. A zeroed one is ready for use. */
struct cn_zorka_encoder {
    struct cn_zorka_shape *shapes; /* of each node */
    size_t capacity;
    struct cn_zorka_pending *pending; /* of each level */
};

/* Append a trace. `part_off` is where it begins in the logical trace. The data_off of its
 * nodes become offsets in `out`, relative to where it began. */
void cn_zorka_record_encode(struct cn_zorka_encoder *encoder, struct cn_trace *trace,
                            uint64_t part_off, struct cn_cbor_out *out,
                            struct cn_zorka_part *part);
void cn_zorka_encoder_done(struct cn_zorka_encoder *encoder);

/* The same in the Java dialect, which has no part numbers and no trace id. */
void cn_zorka_record_encode_java(struct cn_trace *trace, struct cn_cbor_out *out);

/* Which trace the record at the start of `bytes` belongs to, from its head alone. A record of
 * the Java dialect has no id and reaches to the end of `bytes`. */
CN_CHECK bool cn_zorka_record_part(struct cn_bytes bytes, struct cn_zorka_part *out,
                                   struct cn_error *err);
bool cn_zorka_record_is_java(struct cn_bytes bytes);

/* Decode the record at the start of `bytes`, or the logical bytes of several parts put
 * together. Words keep their numbers: out->words is set by the caller. A trace that ends
 * too early has open calls; with `taken` (may be NULL) bytes may follow the record. */
CN_CHECK bool cn_zorka_record_decode(struct cn_bytes bytes, struct cn_trace *out,
                                     size_t *taken, struct cn_error *err);

#endif
