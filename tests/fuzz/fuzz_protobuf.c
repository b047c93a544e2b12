/* Any bytes as a message of messages: reading ends, stays inside, and what was read is
 * written back to the same fields. */

#include <assert.h>

#include "base/bytes/protobuf.h"
#include "support/fuzz.h"

static void write_again(const struct cn_pb_field *field, struct cn_pb *pb)
{
    struct cn_pb_reader reader;
    struct cn_pb_field again;
    struct cn_error err;

    cn_pb_clear(pb);
    if (field->wire == CN_PB_BYTES)
        cn_pb_bytes(pb, field->number, field->bytes.ptr, field->bytes.len);
    else if (field->wire == CN_PB_VARINT)
        cn_pb_u64(pb, field->number, field->value);
    else
        cn_pb_fixed64(pb, field->number, field->value);
    reader = cn_pb_read((struct cn_bytes){pb->bytes, pb->len});
    assert(cn_pb_next(&reader, &again, &err) == CN_PB_FIELD);
    assert(again.number == field->number && again.bytes.len == field->bytes.len);
    assert(again.value == field->value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_pb_reader stack[CN_PB_DEPTH_MAX];
    struct cn_pb pb = {0};
    size_t depth = 1, budget = 4 * len + 16;
    struct cn_error err = {0};

    stack[0] = cn_pb_read((struct cn_bytes){data, len});
    while (depth > 0 && budget-- > 0) {
        struct cn_pb_field field;
        enum cn_pb_step step = cn_pb_next(&stack[depth - 1], &field, &err);
        uint64_t number;

        assert(step != CN_PB_FAIL || err.text[0] != '\0');
        if (step != CN_PB_FIELD) {
            depth--;
            continue;
        }
        assert(field.off + field.bytes.len <= len);
        write_again(&field, &pb);
        if (depth < CN_PB_DEPTH_MAX &&
            cn_pb_enter(&stack[depth - 1], &field, &stack[depth], &err))
            depth++;
        while (cn_pb_next_number(&field, &number))
            continue;
    }
    cn_pb_done(&pb);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_pb pb = {0};
    size_t outer = cn_pb_open(&pb, 1), inner = cn_pb_open(&pb, 2);

    cn_pb_str(&pb, 3, "name");
    cn_pb_packed(&pb, 4, (const uint64_t[]){1, 128, UINT64_MAX}, 3);
    cn_pb_close(&pb, inner);
    cn_pb_u64(&pb, 5, 300);
    cn_pb_fixed64(&pb, 6, 7);
    cn_pb_close(&pb, outer);
    emit(pb.bytes, pb.len);
    cn_pb_done(&pb);
}
