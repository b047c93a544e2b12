/* Stored records: traces in the chunks of traces.dat, in both dialects.
 *
 * A chunk contains records one after the other. A record of the spec dialect contains the id of
 * its trace; the first bytes identify the dialect.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_ZORKA_RECORD_H
#define CN_FORMATS_ZORKA_RECORD_H

#include "base/bytes/bytes.h"
#include "base/bytes/cbor.h"
#include "base/error.h"
#include "model/traces/trace.h"

/* The part of a trace that a record contains. */
struct cn_zorka_part {
    uint64_t id_high, id_low;
    uint32_t number;    /* CH_NUM */
    uint64_t part_off;  /* CH_OFFS */
    uint32_t part_len;  /* CH_LEN; in the first part the whole record */
    size_t payload_off; /* of these bytes in the record */
    size_t record_len;
};

/* Memory for encoding, which the next trace reuses. A zeroed encoder is empty. */
struct cn_zorka_encoder {
    struct cn_zorka_shape *shapes; /* by node */
    size_t capacity;
    struct cn_zorka_pending *pending; /* by level */
};

/* Append a trace, which begins at `part_off` of the logical trace. Sets data_off of its nodes,
 * relative to the start of the record. */
void cn_zorka_record_encode(struct cn_zorka_encoder *encoder, struct cn_trace *trace,
                            uint64_t part_off, struct cn_cbor_out *out,
                            struct cn_zorka_part *part);
void cn_zorka_encoder_done(struct cn_zorka_encoder *encoder);

/* The same in the Java dialect, which has neither part numbers nor trace ids. */
void cn_zorka_record_encode_java(struct cn_trace *trace, struct cn_cbor_out *out);

/* The part that the record at the start of `bytes` contains, from its head alone. A record of
 * the Java dialect has no id and extends to the end of `bytes`. */
CN_CHECK bool cn_zorka_record_part(struct cn_bytes bytes, struct cn_zorka_part *out,
                                   struct cn_error *err);
bool cn_zorka_record_is_java(struct cn_bytes bytes);

/* Decode the record at the start of `bytes`, or the joined bytes of several parts. Words keep
 * their numbers; the caller sets out->words. A truncated trace has open calls. If `taken` is
 * not NULL, it receives the length, and bytes may follow the record. */
CN_CHECK bool cn_zorka_record_decode(struct cn_bytes bytes, struct cn_trace *out,
                                     size_t *taken, struct cn_error *err);

#endif
