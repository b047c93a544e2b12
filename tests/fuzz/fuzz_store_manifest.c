/* Any bytes as an entry of a manifest, as they are and with a right checksum: what is read keeps the
 * limits, and is read again as it was when it is written. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/files/crc32c.h"
#include "store/bucket/manifest.h"
#include "store/index/word_filter.h"
#include "support/fuzz.h"
#include "support/made_entry.h"

enum { HEAD_LEN = 12, CHECKSUM_OFF = 8 };

static void check_limits(const struct cn_manifest_entry *entry)
{
    assert(entry->file_count <= CN_MANIFEST_FILES_MAX);
    for (size_t i = 0; i < entry->file_count; i++)
        assert(!strchr(entry->files[i].name, '/') && entry->files[i].name[0] != '\0');
    for (size_t i = 0; i < entry->replaced_count; i++)
        assert(entry->replaced[i] < entry->number);
    (void)cn_word_filter_may_have((struct cn_bytes){entry->filter, entry->filter_len},
                                  (struct cn_bytes){(const uint8_t *)"order", 5});
    (void)cn_word_filter_may_have_id((struct cn_bytes){entry->filter, entry->filter_len},
                                     1, 2);
}

static void read_entry(struct cn_bytes bytes)
{
    struct cn_manifest_entry *entry, *again;
    struct cn_cbor_out out = {0};
    struct cn_error err = {0};

    if (!cn_manifest_entry_decode(bytes, &entry, &err)) {
        assert(err.kind == CN_ERR_FORMAT);
        return;
    }
    check_limits(entry);
    cn_manifest_entry_encode(entry, &out);
    if (!cn_manifest_entry_decode((struct cn_bytes){out.bytes, out.len}, &again, &err))
        abort();
    assert(again->number == entry->number && strcmp(again->id, entry->id) == 0 &&
           again->replaced_count == entry->replaced_count &&
           again->filter_len == entry->filter_len &&
           memcmp(&again->summary, &entry->summary, sizeof(entry->summary)) == 0);
    cn_manifest_entry_free(again);
    cn_manifest_entry_free(entry);
    cn_cbor_out_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t *copy;

    read_entry((struct cn_bytes){data, len});
    if (len < HEAD_LEN)
        return 0;
    copy = cn_alloc(len, 1);
    memcpy(copy, data, len);
    memcpy(copy, "CNSTMAN1", CHECKSUM_OFF);
    cn_u32_put(copy + CHECKSUM_OFF,
               cn_crc32c((struct cn_bytes){copy + HEAD_LEN, len - HEAD_LEN}));
    read_entry((struct cn_bytes){copy, len});
    free(copy);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_manifest_entry entry = {.id = "0", .config = (char[]){""}};
    struct cn_cbor_out out = {0};

    cn_made_entry_encode(&out);
    emit(out.bytes, out.len);
    cn_cbor_out_done(&out);
    cn_manifest_entry_encode(&entry, &out);
    emit(out.bytes, out.len);
    cn_cbor_out_done(&out);
}
