/* Entries of manifests: what was written is read, and nothing else is. Filters exclude what was not added. */

#include "store/bucket/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/crc32c.h"
#include "store/index/word_filter.h"
#include "store/maintenance/commit_object.h"
#include "store/search/query.h"
#include "store/search/query_filter.h"
#include "support/made_entry.h"

static struct cn_manifest_entry *decode(const struct cn_cbor_out *out, size_t len)
{
    struct cn_manifest_entry *entry = NULL;
    struct cn_error err = {0};

    if (!cn_manifest_entry_decode((struct cn_bytes){out->bytes, len}, &entry, &err))
        assert_true(err.kind == CN_ERR_FORMAT && err.text[0] != '\0');
    return entry;
}

static void reads_what_was_written(void **state)
{
    struct cn_cbor_out out = {0};
    struct cn_manifest_entry *entry;

    (void)state;
    cn_made_entry_encode(&out);
    entry = decode(&out, out.len);
    assert_non_null(entry);
    assert_int_equal(entry->number, 0x2a);
    assert_string_equal(entry->id, "0123456789abcdef0123456789abcdef");
    assert_int_equal(entry->summary.disk_len, 99);
    assert_int_equal(entry->file_count, 2);
    assert_string_equal(entry->files[0].name, "traces.dat");
    assert_int_equal(entry->files[0].len, 70000);
    assert_string_equal(entry->config, "version = 1\n");
    assert_int_equal(entry->replaced_count, 2);
    assert_int_equal(entry->replaced[1], 7);
    assert_int_equal(entry->filter_len, CN_MADE_FILTER_LEN);
    cn_manifest_entry_free(entry);
    cn_cbor_out_done(&out);
}

static void refuses_every_truncation_and_flip(void **state)
{
    struct cn_cbor_out out = {0};

    (void)state;
    cn_made_entry_encode(&out);
    for (size_t len = 0; len < out.len; len++)
        assert_null(decode(&out, len));
    for (size_t bit = 0; bit < out.len * 8; bit++) {
        out.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_null(decode(&out, out.len));
        out.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    cn_cbor_out_done(&out);
}

/* Flips with a right checksum: whatever is read keeps the limits. */
static void survives_lies(void **state)
{
    enum { HEAD = 12 };
    struct cn_cbor_out out = {0};

    (void)state;
    cn_made_entry_encode(&out);
    for (size_t bit = HEAD * 8; bit < out.len * 8; bit++) {
        struct cn_manifest_entry *entry;

        out.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        cn_u32_put(out.bytes + 8,
                   cn_crc32c((struct cn_bytes){out.bytes + HEAD, out.len - HEAD}));
        entry = decode(&out, out.len);
        for (size_t i = 0; entry && i < entry->file_count; i++)
            assert_null(strchr(entry->files[i].name, '/'));
        cn_manifest_entry_free(entry);
        out.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    cn_cbor_out_done(&out);
}

static bool decode_list(const struct cn_cbor_out *out, size_t len, size_t expected)
{
    char label[CN_MANIFEST_ID_LEN + 1];
    struct cn_manifest_entry **entries;
    struct cn_error err = {0};
    size_t count;

    if (!cn_manifest_list_decode((struct cn_bytes){out->bytes, len}, label, &entries,
                                 &count, &err)) {
        assert_true(err.kind == CN_ERR_FORMAT && err.text[0] != '\0');
        return false;
    }
    assert_string_equal(label, "17ab");
    assert_int_equal(count, expected);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(entries[i]->number, 0x2a);
        cn_manifest_entry_free(entries[i]);
    }
    free(entries);
    return true;
}

static void lists_are_read_whole_or_not_at_all(void **state)
{
    struct cn_cbor_out one = {0}, out = {0};
    struct cn_manifest_entry *entries[2];

    (void)state;
    cn_made_entry_encode(&one);
    entries[0] = entries[1] = decode(&one, one.len);
    cn_manifest_list_encode("17ab", entries, 2, &out);
    assert_true(decode_list(&out, out.len, 2));
    for (size_t len = 0; len < out.len; len++)
        assert_false(decode_list(&out, len, 2));
    out.len = 0;
    cn_manifest_list_encode("17ab", entries, 0, &out);
    assert_true(decode_list(&out, out.len, 0));
    cn_manifest_entry_free(entries[0]);
    cn_cbor_out_done(&one);
    cn_cbor_out_done(&out);
}

static void commits_are_read_whole_or_not_at_all(void **state)
{
    struct cn_commit_object commit = {.text_off = 16,
                                      .text = {(const uint8_t *)"words", 5},
                                      .data_off = 70000,
                                      .data = {(const uint8_t *)"chunk", 5},
                                      .config = {(const uint8_t *)"a = 1", 5}},
                            found;
    struct cn_cbor_out out = {0};
    struct cn_error err;

    (void)state;
    cn_commit_object_encode(&commit, &out);
    assert_true(
        cn_commit_object_decode((struct cn_bytes){out.bytes, out.len}, &found, &err));
    assert_int_equal(found.text_off, 16);
    assert_int_equal(found.data_off, 70000);
    assert_memory_equal(found.data.ptr, "chunk", 5);
    for (size_t len = 0; len < out.len; len++)
        assert_false(
            cn_commit_object_decode((struct cn_bytes){out.bytes, len}, &found, &err));
    for (size_t bit = 0; bit < out.len * 8; bit++) {
        out.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_false(
            cn_commit_object_decode((struct cn_bytes){out.bytes, out.len}, &found, &err));
        out.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    cn_cbor_out_done(&out);
}

static struct cn_bytes bytes_of(const char *text)
{
    return (struct cn_bytes){(const uint8_t *)text, strlen(text)};
}

/* A filter of "order", "order-1", "shop" and trace 1:2. */
static struct cn_bytes make_filter(void)
{
    uint64_t len = cn_word_filter_len(1000, 1 << 14);
    uint8_t *filter = cn_alloc((size_t)len, 1);

    cn_word_filter_add(filter, len, bytes_of("order"));
    cn_word_filter_add(filter, len, bytes_of("order-1"));
    cn_word_filter_add(filter, len, bytes_of("shop"));
    cn_word_filter_add_id(filter, len, 1, 2);
    return (struct cn_bytes){filter, (size_t)len};
}

static bool may_match(const char *text, struct cn_bytes filter)
{
    struct cn_error err = {0};
    struct cn_query *query;
    bool may;

    assert_true(cn_query_parse(&query, text, 0, &err));
    may = cn_query_may_match(query, filter);
    cn_query_free(query);
    return may;
}

static void excludes_queries_without_hits(void **state)
{
    struct cn_bytes filter = make_filter();

    (void)state;
    assert_true(may_match("", filter));
    assert_true(may_match("order = order-1", filter));
    assert_false(may_match("order = order-2", filter));
    assert_false(may_match("price > 3", filter));
    assert_false(may_match("price exists", filter));
    assert_true(may_match("order != order-2", filter));
    assert_true(may_match("not order = order-2", filter));
    assert_true(may_match("order = order-2 or service = shop", filter));
    assert_false(may_match("order = order-2 service = shop", filter));
    assert_false(may_match("service = pay", filter));
    assert_true(may_match("service ~ p.y", filter));
    assert_true(may_match("order-2", filter));
    assert_true(may_match("method = checkout", filter));
    assert_true(may_match("id = 00000000000000010000000000000002", filter));
    assert_false(may_match("id = 00000000000000010000000000000003", filter));
    assert_true(may_match("order = order-2", (struct cn_bytes){0}));
    free((void *)(uintptr_t)filter.ptr);
}

static void filters_are_bounded_and_rarely_wrong(void **state)
{
    enum { KEYS = 20000 };
    uint64_t len = cn_word_filter_len(KEYS, UINT64_MAX);
    uint8_t *filter = cn_alloc((size_t)len, 1);
    struct cn_bytes bytes = {filter, (size_t)len};
    unsigned wrong = 0;

    (void)state;
    for (uint64_t i = 0; i < KEYS; i++)
        cn_word_filter_add_id(filter, len, i, 0);
    for (uint64_t i = 0; i < KEYS; i++) {
        assert_true(cn_word_filter_may_have_id(bytes, i, 0));
        wrong += cn_word_filter_may_have_id(bytes, i, 1);
    }
    assert_in_range(wrong, 0, KEYS / 50);
    assert_int_equal(cn_word_filter_len(KEYS, len - 1), len - 1);
    assert_int_equal(cn_word_filter_len(KEYS, 100), 0);
    free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(refuses_every_truncation_and_flip),
        cmocka_unit_test(survives_lies),
        cmocka_unit_test(lists_are_read_whole_or_not_at_all),
        cmocka_unit_test(commits_are_read_whole_or_not_at_all),
        cmocka_unit_test(excludes_queries_without_hits),
        cmocka_unit_test(filters_are_bounded_and_rarely_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
