/* Any bytes as packed records: they unpack to records of the length they should have, or fail. What is
 * unpacked is records, so it packs again or is refused. */

#include <assert.h>
#include <stdlib.h>

#include "base/text.h"
#include "formats/zorka/packed.h"
#include "formats/zorka/record.h"
#include "support/fuzz.h"
#include "support/made_spans.h"

enum { PLAIN_LEN_BYTES = 4, PLAIN_LEN_MAX = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_zorka_unpacker *unpacker = cn_zorka_unpacker_new();
    struct cn_bytes packed, record;
    struct cn_error err;
    size_t begin;

    if (len >= PLAIN_LEN_BYTES &&
        cn_bytes_from((struct cn_bytes){data, len}, PLAIN_LEN_BYTES, &packed)) {
        size_t plain_len = cn_u32_get(data) % PLAIN_LEN_MAX;
        uint8_t *plain = malloc(plain_len + 1);

        if (cn_zorka_unpack_begin(unpacker, packed, plain_len, &err)) {
            for (size_t off = 0; off < plain_len; off += 1 + plain_len / 7)
                if (cn_zorka_unpack_at(unpacker, off, &record, &begin, &err))
                    assert(begin <= off && off < begin + record.len);
            if (cn_zorka_unpack_begin(unpacker, packed, plain_len, &err))
                (void)!cn_zorka_unpack_all(unpacker, plain, &err);
        }
        free(plain);
    }
    cn_zorka_unpacker_free(unpacker);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_zorka_packer *packer = cn_zorka_packer_new();
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
        }
        cn_text_fill(&packed, '\0', PLAIN_LEN_BYTES);
        cn_u32_put((uint8_t *)packed.chars, (uint32_t)plain.len);
        if (cn_zorka_pack(packer, (struct cn_bytes){plain.bytes, plain.len}, &packed))
            emit((const uint8_t *)packed.chars, packed.len);
        cn_text_done(&packed);
        cn_cbor_out_done(&plain);
    }
    cn_zorka_encoder_done(&encoder);
    cn_trace_done(&trace);
    cn_zorka_packer_free(packer);
}
