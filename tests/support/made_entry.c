#include "support/made_entry.h"

void cn_made_entry_encode(struct cn_cbor_out *out)
{
    uint32_t replaced[] = {3, 7};
    uint8_t filter[CN_MADE_FILTER_LEN] = {1, 2, 3};
    struct cn_manifest_entry entry = {
        .number = 0x2a,
        .id = "0123456789abcdef0123456789abcdef",
        .summary = {.first_ns = 1, .last_ns = 2, .spans = 3, .disk_len = 99},
        .files = {{"traces.dat", 70000}, {"meta.dat", 12}},
        .file_count = 2,
        .config = (char[]){"version = 1\n"},
        .replaced = replaced,
        .replaced_count = 2,
        .filter = filter,
        .filter_len = sizeof(filter),
    };

    cn_manifest_entry_encode(&entry, out);
}
