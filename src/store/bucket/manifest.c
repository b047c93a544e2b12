#include "store/bucket/manifest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/record.h"
#include "base/files/crc32c.h"

static const char magic[8] = {'C', 'N', 'S', 'T', 'M', 'A', 'N', '1'};
enum { HEAD_LEN = 12, FIELDS = 7, NUMBERS = 9, NUMBER_MAX = 0xffffff };

void cn_manifest_new_id(char id[CN_MANIFEST_ID_LEN + 1])
{
    uint8_t bytes[CN_MANIFEST_ID_LEN / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        abort(); /* cannot fail for so few bytes */
    cn_hex_put(id, bytes, sizeof(bytes));
}

void cn_manifest_entry_free(struct cn_manifest_entry *entry)
{
    if (!entry)
        return;
    free(entry->config);
    free(entry->replaced);
    free(entry->filter);
    free(entry);
}

/* The numbers of a summary, in their order. */
static void list_numbers(struct cn_segment_summary *s, uint64_t *list[NUMBERS])
{
    uint64_t *all[NUMBERS] = {
        &s->first_ns,      &s->last_ns, &s->spans, &s->failed_spans, &s->traces,
        &s->failed_traces, &s->records, &s->words, &s->disk_len,
    };

    memcpy(list, all, sizeof(all));
}

static void put_bytes(struct cn_cbor_out *out, enum cn_cbor_kind kind, const void *data,
                      size_t len)
{
    cn_cbor_put(out, kind, len);
    cn_cbor_room(out, len);
    if (len > 0)
        memcpy(out->bytes + out->len, data, len);
    out->len += len;
}

static void put_str(struct cn_cbor_out *out, const char *text)
{
    put_bytes(out, CN_CBOR_TEXT, text, strlen(text));
}

void cn_manifest_entry_encode(const struct cn_manifest_entry *entry,
                              struct cn_cbor_out *out)
{
    struct cn_segment_summary summary = entry->summary;
    uint64_t *numbers[NUMBERS];

    cn_cbor_room(out, HEAD_LEN);
    memcpy(out->bytes, magic, sizeof(magic));
    out->len = HEAD_LEN;
    list_numbers(&summary, numbers);
    cn_cbor_put(out, CN_CBOR_ARRAY, FIELDS);
    cn_cbor_put(out, CN_CBOR_UINT, entry->number);
    put_str(out, entry->id);
    cn_cbor_put(out, CN_CBOR_ARRAY, NUMBERS);
    for (size_t i = 0; i < NUMBERS; i++)
        cn_cbor_put(out, CN_CBOR_UINT, *numbers[i]);
    cn_cbor_put(out, CN_CBOR_ARRAY, entry->file_count);
    for (size_t i = 0; i < entry->file_count; i++) {
        cn_cbor_put(out, CN_CBOR_ARRAY, 2);
        put_str(out, entry->files[i].name);
        cn_cbor_put(out, CN_CBOR_UINT, entry->files[i].len);
    }
    put_str(out, entry->config);
    cn_cbor_put(out, CN_CBOR_ARRAY, entry->replaced_count);
    for (size_t i = 0; i < entry->replaced_count; i++)
        cn_cbor_put(out, CN_CBOR_UINT, entry->replaced[i]);
    put_bytes(out, CN_CBOR_BYTES, entry->filter, entry->filter_len);
    cn_u32_put(out->bytes + sizeof(magic),
               cn_crc32c((struct cn_bytes){out->bytes + HEAD_LEN, out->len - HEAD_LEN}));
}

/* A text of at most `max` characters, all of `allowed`. */
static bool take_name(struct cn_cbor *in, char *out, size_t max, const char *allowed)
{
    struct cn_bytes text;

    if (!cn_cbor_text(in, &text) || text.len == 0 || text.len > max)
        return false;
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return strspn(out, allowed) == text.len;
}

static bool take_summary(struct cn_cbor *in, struct cn_segment_summary *summary)
{
    uint64_t *numbers[NUMBERS], count;

    list_numbers(summary, numbers);
    if (!cn_cbor_take(in, CN_CBOR_ARRAY, &count) || count != NUMBERS)
        return false;
    for (size_t i = 0; i < NUMBERS; i++)
        if (!cn_cbor_uint(in, numbers[i]))
            return false;
    return summary->spans <= UINT32_MAX;
}

static bool take_files(struct cn_cbor *in, struct cn_manifest_entry *entry)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
    uint64_t count, two;

    if (!cn_cbor_take(in, CN_CBOR_ARRAY, &count) || count > CN_MANIFEST_FILES_MAX)
        return false;
    for (; entry->file_count < count; entry->file_count++) {
        struct cn_manifest_file *file = &entry->files[entry->file_count];

        if (!cn_cbor_take(in, CN_CBOR_ARRAY, &two) || two != 2 ||
            !take_name(in, file->name, CN_MANIFEST_NAME_LEN - 1, allowed) ||
            !cn_cbor_uint(in, &file->len) || file->len > INT64_MAX >> 8)
            return false;
    }
    return true;
}

static bool take_replaced(struct cn_cbor *in, struct cn_manifest_entry *entry)
{
    uint64_t count, number;

    if (!cn_cbor_take(in, CN_CBOR_ARRAY, &count) || count > CN_MANIFEST_REPLACED_MAX)
        return false;
    entry->replaced = cn_alloc((size_t)count, sizeof(*entry->replaced));
    for (; entry->replaced_count < count; entry->replaced_count++) {
        if (!cn_cbor_uint(in, &number) || number >= entry->number)
            return false;
        entry->replaced[entry->replaced_count] = (uint32_t)number;
    }
    return true;
}

static bool take_entry(struct cn_cbor *in, struct cn_manifest_entry *entry)
{
    struct cn_bytes config, filter;
    uint64_t count, number;

    if (!cn_cbor_take(in, CN_CBOR_ARRAY, &count) || count < FIELDS ||
        !cn_cbor_uint(in, &number) || number > NUMBER_MAX ||
        !take_name(in, entry->id, CN_MANIFEST_ID_LEN, CN_HEX_DIGITS) ||
        !take_summary(in, &entry->summary) || !take_files(in, entry) ||
        !cn_cbor_text(in, &config) || config.len > CN_MANIFEST_CONFIG_MAX)
        return false;
    entry->number = (uint32_t)number;
    entry->config = cn_alloc(config.len + 1, 1);
    memcpy(entry->config, config.ptr, config.len);
    if (!take_replaced(in, entry) || !cn_cbor_byte_string(in, &filter))
        return false;
    entry->filter_len = filter.len;
    entry->filter = cn_alloc(filter.len, 1);
    if (filter.len > 0)
        memcpy(entry->filter, filter.ptr, filter.len);
    return true;
}

bool cn_manifest_entry_decode(struct cn_bytes bytes, struct cn_manifest_entry **out,
                              struct cn_error *err)
{
    struct cn_cbor in = {0};

    if (!cn_bytes_from(bytes, HEAD_LEN, &in.bytes) ||
        memcmp(bytes.ptr, magic, sizeof(magic)) != 0)
        return cn_fail(err, CN_ERR_FORMAT, "not an entry of a manifest");
    if (cn_u32_get(bytes.ptr + sizeof(magic)) != cn_crc32c(in.bytes))
        return cn_fail(err, CN_ERR_FORMAT, "damaged: its checksum is wrong");
    struct cn_manifest_entry *entry = cn_alloc(1, sizeof(*entry));
    if (!take_entry(&in, entry)) {
        cn_manifest_entry_free(entry);
        return cn_fail(err, CN_ERR_FORMAT,
                       "not an entry of a manifest: it breaks at byte %zu",
                       in.off + HEAD_LEN);
    }
    *out = entry;
    return true;
}

void cn_manifest_list_encode(const char *label, struct cn_manifest_entry *const *entries,
                             size_t count, struct cn_cbor_out *out)
{
    cn_cbor_put(out, CN_CBOR_ARRAY, count + 1);
    put_str(out, label);
    for (size_t i = 0; i < count; i++) {
        struct cn_cbor_out one = {0};

        cn_manifest_entry_encode(entries[i], &one);
        put_bytes(out, CN_CBOR_BYTES, one.bytes, one.len);
        cn_cbor_out_done(&one);
    }
}

bool cn_manifest_list_decode(struct cn_bytes bytes, char label[CN_MANIFEST_ID_LEN + 1],
                             struct cn_manifest_entry ***entries, size_t *count,
                             struct cn_error *err)
{
    struct cn_manifest_entry **list = NULL;
    struct cn_cbor in = {.bytes = bytes};
    struct cn_bytes one;
    size_t n = 0, capacity = 0;
    uint64_t announced;
    bool ok = cn_cbor_take(&in, CN_CBOR_ARRAY, &announced) && announced > 0 &&
              take_name(&in, label, CN_MANIFEST_ID_LEN, CN_HEX_DIGITS);

    if (!ok)
        return cn_fail(err, CN_ERR_FORMAT, "not a list of segments");
    for (uint64_t i = 1; ok && i < announced; i++) {
        ok = cn_cbor_byte_string(&in, &one) ||
             cn_fail(err, CN_ERR_FORMAT, "the list of segments breaks at byte %zu",
                     in.off);
        CN_GROW(list, n, capacity);
        ok = ok && cn_manifest_entry_decode(one, &list[n], err);
        n += ok;
    }
    if (!ok) {
        while (n > 0)
            cn_manifest_entry_free(list[--n]);
        free(list);
        return false;
    }
    *entries = list;
    *count = n;
    return true;
}
