/* Protocol Buffers on the wire: a writer into a buffer, and a reader of untrusted
 * bytes, field by field.
 *
 * The fields of a message are written down once as a table of F(number, type, name,
 * meaning) rows, like records are in base/bytes/record.h; CN_MESSAGE() makes constants
 * NAME_field of it and the description that a dump prints. Types are those of
 * Protocol Buffers, without what is of no use here.
 *
 *     cn_pb_u64(&pb, cn_pprof_sample_value, 7);
 *     at = cn_pb_open(&pb, cn_pprof_profile_sample);   a message inside
 *     ...
 *     cn_pb_close(&pb, at);
 *
 *     while ((step = cn_pb_next(&reader, &field, err)) == CN_PB_FIELD) switch
 *         (field.number) ...
 *
 * Fields that are zero are written; the caller may omit them.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_BYTES_PROTOBUF_H
#define CN_BASE_BYTES_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

enum cn_pb_wire {
    CN_PB_VARINT = 0,
    CN_PB_FIXED64 = 1,
    CN_PB_BYTES = 2, /* strings, messages, packed numbers */
    CN_PB_GROUP_BEGIN = 3,
    CN_PB_GROUP_END = 4,
    CN_PB_FIXED32 = 5,
};

enum {
    CN_PB_VARINT_MAX = 10,            /* bytes of a 64-bit number */
    CN_PB_NUMBER_MAX = (1 << 29) - 1, /* of a field */
    CN_PB_DEPTH_MAX = 32,             /* of messages inside messages */
};

struct cn_pb_field_row {
    uint32_t number;
    const char *type, *name, *meaning;
};

#define CN_PB_ENUM_ROW(message, number, type, name, meaning) message##_##name = (number),
#define CN_PB_TEXT_ROW(message, number, type, name, meaning) \
    {(number), #type, #name, meaning},

/* Field numbers as constants, and message_fields[] that describes them. */
#define CN_MESSAGE(message, TABLE)                            \
    enum { TABLE(CN_PB_ENUM_ROW, message) message##_end_of }; \
    static const struct cn_pb_field_row message##_fields[]    \
        __attribute__((unused)) = {TABLE(CN_PB_TEXT_ROW, message)}

/* A message under construction. A zeroed one is ready for use. */
struct cn_pb {
    uint8_t *bytes;
    size_t len, capacity;
    unsigned depth; /* messages that are open */
};

void cn_pb_done(struct cn_pb *pb);

static inline void cn_pb_clear(struct cn_pb *pb)
{
    pb->len = 0;
}

/* Fields: u64 also for int64, bool and enum, fixed64 also for double. */
void cn_pb_u64(struct cn_pb *pb, uint32_t number, uint64_t value);
void cn_pb_fixed64(struct cn_pb *pb, uint32_t number, uint64_t value);
void cn_pb_fixed32(struct cn_pb *pb, uint32_t number, uint32_t value);
void cn_pb_bytes(struct cn_pb *pb, uint32_t number, const void *data, size_t len);

/* A string: bytes that are not UTF-8 become U+FFFD. */
void cn_pb_str(struct cn_pb *pb, uint32_t number, const char *value);
void cn_pb_chars(struct cn_pb *pb, uint32_t number, const char *chars, size_t len);

/* Fields that were encoded elsewhere. */
void cn_pb_raw(struct cn_pb *pb, const void *fields, size_t len);

/* Numbers one after another in one field. */
void cn_pb_packed(struct cn_pb *pb, uint32_t number, const uint64_t *values,
                  size_t count);

/* A message inside; `at` is what open returned. Nothing of the outer one may be
 * written before it is closed. */
size_t cn_pb_open(struct cn_pb *pb, uint32_t number);
void cn_pb_close(struct cn_pb *pb, size_t at);

/* A message being read. */
struct cn_pb_reader {
    struct cn_bytes rest;
    uint64_t off; /* of `rest`, for messages about it */
    unsigned depth;
    bool takes_cut; /* before it fails, cn_pb_read_fields() delivers what is there of a
                     * message or text that is cut off; so in messages inside */
    bool is_at_cut; /* that is what is delivered */
};

struct cn_pb_field {
    uint32_t number;
    uint8_t wire;          /* enum cn_pb_wire; groups are never delivered */
    uint64_t value;        /* of numbers */
    struct cn_bytes bytes; /* of CN_PB_BYTES */
    uint64_t off;          /* where `bytes`, or the field, begins */
};

enum cn_pb_step { CN_PB_FAIL, CN_PB_FIELD, CN_PB_END };

struct cn_pb_reader cn_pb_read(struct cn_bytes bytes);

/* Cut-off fields, numbers beyond 64 bits, field 0 and unknown wire types fail with
 * their offset. Groups, which are obsolete, are refused. */
CN_CHECK enum cn_pb_step cn_pb_next(struct cn_pb_reader *reader, struct cn_pb_field *out,
                                    struct cn_error *err);

/* The message in a field; fails if it is not a message, or nested too deeply. */
CN_CHECK bool cn_pb_enter(const struct cn_pb_reader *outer,
                          const struct cn_pb_field *field, struct cn_pb_reader *inner,
                          struct cn_error *err);

/* Read all fields of a message, or of the message in a field. `take` is called for each
 * field; `reader` is the message that the field is in. */
typedef bool (*cn_pb_field_fn)(void *arg, const struct cn_pb_reader *reader,
                               struct cn_pb_field *field, struct cn_error *err);
CN_CHECK bool cn_pb_read_fields(struct cn_pb_reader *reader, cn_pb_field_fn take,
                                void *arg, struct cn_error *err);
CN_CHECK bool cn_pb_read_message(const struct cn_pb_reader *outer,
                                 const struct cn_pb_field *field, cn_pb_field_fn take,
                                 void *arg, struct cn_error *err);

/* The texts of a message that has field `first` and, in the message `second`, field `inner`, in this
 * order and nothing else, all shorter than 128 bytes: as most attributes of OpenTelemetry. False
 * for any other bytes: then the fields have to be read. */
bool cn_pb_text_pair(struct cn_bytes message, uint32_t first, uint32_t second,
                     uint32_t inner, struct cn_bytes *first_text,
                     struct cn_bytes *inner_text);

/* The next of the numbers of a field that may be packed: `field` is used up. False
 * at the end and where the rest is not a number; rest.len is 0 at the end. */
bool cn_pb_next_number(struct cn_pb_field *field, uint64_t *out);

/* The value as the other types read it. */
int64_t cn_pb_as_i64(uint64_t value);
double cn_pb_as_f64(uint64_t value);

#endif
