/* Any bytes as packed records: they unpack to records of the length they should have, or fail. What is
 * unpacked is records: those whose columns pack again unpack to the same bytes. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/zorka/packed.h"
#include "formats/zorka/record.h"
#include "model/traces/trace.h"
#include "support/fuzz.h"
#include "support/made_spans.h"

enum { PLAIN_LEN_BYTES = 4, PLAIN_LEN_MAX = 1 << 18 };

/* The attributes of all spans under some keys, each also as one that others are inside of. */
static uint64_t sum_attributes(const struct cn_zorka_unpacker *unpacker)
{
    struct cn_zorka_values values = {0};
    struct cn_error err;
    uint64_t sum = 0;

    for (uint32_t key = 0; key < 4; key++) {
        uint32_t others[] = {key + 1, 1};
        struct cn_zorka_names names = {&key, others, 1, 2};

        if (!cn_zorka_unpack_attribute(unpacker, &names, &values, &err))
            continue;
        for (size_t i = 0; i < values.count; i++)
            sum += values.list[i].kind;
    }
    free(values.list);
    return sum;
}

/* Pack the records that `plain` begins with. */
static void check_again(struct cn_bytes plain)
{
    struct cn_zorka_columns *columns = cn_zorka_columns_new();
    struct cn_zorka_packer *packer = cn_zorka_packer_new();
    struct cn_zorka_unpacker *unpacker = cn_zorka_unpacker_new();
    struct cn_zorka_encoder encoder = {0};
    struct cn_cbor_out out = {0};
    struct cn_text packed = {0};
    struct cn_trace trace = {0};
    struct cn_zorka_part part;
    struct cn_error err;
    size_t taken;

    while (plain.len > 0 && cn_zorka_record_decode(plain, &trace, &taken, &err) &&
           taken > 0 && cn_bytes_from(plain, taken, &plain)) {
        cn_zorka_record_encode(&encoder, &trace, 0, &out, &part);
        cn_zorka_columns_add(columns, &trace, &part);
    }
    if (cn_zorka_pack(packer, columns, out.len, &packed)) {
        struct cn_bytes bytes = {(const uint8_t *)packed.chars, packed.len};
        uint8_t *again = malloc(out.len + 1);

        assert(cn_zorka_unpack_begin(unpacker, bytes, out.len, &err));
        assert(cn_zorka_unpack_all(unpacker, again, &err));
        assert(memcmp(again, out.bytes, out.len) == 0);
        free(again);
    }
    cn_trace_done(&trace);
    cn_text_done(&packed);
    cn_cbor_out_done(&out);
    cn_zorka_encoder_done(&encoder);
    cn_zorka_unpacker_free(unpacker);
    cn_zorka_packer_free(packer);
    cn_zorka_columns_free(columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_zorka_unpacker *unpacker = cn_zorka_unpacker_new();
    struct cn_bytes packed, record;
    struct cn_error err;
    size_t begin;
    uint64_t sum = 0;

    if (len >= PLAIN_LEN_BYTES &&
        cn_bytes_from((struct cn_bytes){data, len}, PLAIN_LEN_BYTES, &packed)) {
        size_t plain_len = cn_u32_get(data) % PLAIN_LEN_MAX;
        uint8_t *plain = malloc(plain_len + 1);

        if (cn_zorka_unpack_begin(unpacker, packed, plain_len, &err)) {
            sum += sum_attributes(unpacker);
            for (size_t off = 0; off < plain_len; off += 1 + plain_len / 7)
                if (cn_zorka_unpack_at(unpacker, off, &record, &begin, &err))
                    assert(begin <= off && off < begin + record.len);
            for (uint32_t i = 0; i < 100; i += 1 + i / 3)
                if (cn_zorka_unpack_span(unpacker, i * 7 % 100, &record, &err))
                    sum += record.len > 0 ? record.ptr[record.len - 1] : 0;
            if (cn_zorka_unpack_begin(unpacker, packed, plain_len, &err) &&
                cn_zorka_unpack_all(unpacker, plain, &err))
                check_again((struct cn_bytes){plain, plain_len});
        }
        free(plain);
    }
    (void)sum;
    cn_zorka_unpacker_free(unpacker);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_zorka_packer *packer = cn_zorka_packer_new();
    struct cn_zorka_columns *columns = cn_zorka_columns_new();
    struct cn_zorka_encoder encoder = {0};
    struct cn_trace trace = {0};
    uint64_t seed = 11;

    for (unsigned i = 1; i <= 6; i++) {
        struct cn_cbor_out plain = {0};
        struct cn_text packed = {0};
        struct cn_zorka_part part;

        for (unsigned k = 0; k < i; k++) {
            cn_made_spans(&trace, &seed);
            cn_zorka_record_encode(&encoder, &trace, 0, &plain, &part);
            cn_zorka_columns_add(columns, &trace, &part);
        }
        cn_text_fill(&packed, '\0', PLAIN_LEN_BYTES);
        cn_u32_put((uint8_t *)packed.chars, (uint32_t)plain.len);
        if (cn_zorka_pack(packer, columns, plain.len, &packed))
            emit((const uint8_t *)packed.chars, packed.len);
        cn_zorka_columns_clear(columns);
        cn_text_done(&packed);
        cn_cbor_out_done(&plain);
    }
    cn_zorka_columns_free(columns);
    cn_zorka_encoder_done(&encoder);
    cn_trace_done(&trace);
    cn_zorka_packer_free(packer);
}
