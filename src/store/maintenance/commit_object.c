#include "store/maintenance/commit_object.h"

#include <string.h>

#include "base/bytes/record.h"
#include "base/files/crc32c.h"

static const char magic[8] = {'C', 'N', 'S', 'T', 'C', 'O', 'M', '1'};
enum { HEAD_LEN = 12, FIELDS = 5 };

static void put_bytes(struct cn_cbor_out *out, struct cn_bytes bytes)
{
    cn_cbor_put(out, CN_CBOR_BYTES, bytes.len);
    cn_cbor_room(out, bytes.len);
    if (bytes.len > 0)
        memcpy(out->bytes + out->len, bytes.ptr, bytes.len);
    out->len += bytes.len;
}

void cn_commit_object_encode(const struct cn_commit_object *commit,
                             struct cn_cbor_out *out)
{
    cn_cbor_room(out, HEAD_LEN);
    memcpy(out->bytes, magic, sizeof(magic));
    out->len = HEAD_LEN;
    cn_cbor_put(out, CN_CBOR_ARRAY, FIELDS);
    cn_cbor_put(out, CN_CBOR_UINT, commit->text_off);
    put_bytes(out, commit->text);
    cn_cbor_put(out, CN_CBOR_UINT, commit->data_off);
    put_bytes(out, commit->data);
    put_bytes(out, commit->config);
    cn_u32_put(out->bytes + sizeof(magic),
               cn_crc32c((struct cn_bytes){out->bytes + HEAD_LEN, out->len - HEAD_LEN}));
}

bool cn_commit_object_decode(struct cn_bytes bytes, struct cn_commit_object *out,
                             struct cn_error *err)
{
    struct cn_commit_object commit;
    struct cn_cbor in = {0};
    uint64_t count;

    if (!cn_bytes_from(bytes, HEAD_LEN, &in.bytes) ||
        memcmp(bytes.ptr, magic, sizeof(magic)) != 0)
        return cn_fail(err, CN_ERR_FORMAT, "not a commit");
    if (cn_u32_get(bytes.ptr + sizeof(magic)) != cn_crc32c(in.bytes))
        return cn_fail(err, CN_ERR_FORMAT, "damaged: its checksum is wrong");
    if (!cn_cbor_take(&in, CN_CBOR_ARRAY, &count) || count < FIELDS ||
        !cn_cbor_uint(&in, &commit.text_off) || !cn_cbor_byte_string(&in, &commit.text) ||
        !cn_cbor_uint(&in, &commit.data_off) || !cn_cbor_byte_string(&in, &commit.data) ||
        !cn_cbor_byte_string(&in, &commit.config) || commit.text_off > INT64_MAX >> 8 ||
        commit.data_off > INT64_MAX >> 8)
        return cn_fail(err, CN_ERR_FORMAT, "not a commit: it breaks at byte %zu",
                       in.off + HEAD_LEN);
    *out = commit;
    return true;
}
