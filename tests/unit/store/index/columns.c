/* The columns of rows: what is written in each version is read again, row by row and column by column. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/disk.h"
#include "base/text.h"
#include "store/index/columns.h"
#include "support/made_spans.h"

/* Rows of traces: of many columns, values are near those of their neighbours, equal, or any. */
/* With an even seed, all parents are spans of the rows. */
static void make_rows(struct cn_text *out, uint32_t count, uint64_t seed)
{
    struct cn_store_row row = {0};
    bool has_others = seed % 2 != 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t any = cn_made_number(&seed);
        uint8_t *at = (uint8_t *)cn_text_room(out, cn_store_row_size);

        if (i % 7 == 0) {
            row.trace_high = any;
            row.trace_low = cn_made_number(&seed);
        }
        bool is_elsewhere = i % 31 == 0 && has_others;
        row.parent_id = i % 7 == 0 ? 0 : is_elsewhere ? any : row.span_id;
        row.span_id = cn_made_number(&seed);
        row.time_ns = UINT64_C(1700000000000000000) + UINT64_C(1000000) * i + any % 99999;
        row.duration_ns = any % 5 == 0 ? any >> 8 : any % 1000;
        row.calls = any % 13;
        row.data_off = i / 50 * UINT64_C(10000);
        row.data_len = i / 100 * 37 % 1000; /* two chunks have as many bytes */
        row.in_chunk_off = i % 50 * 300;
        row.flags = i % 7 == 0;
        row.service = 77;
        row.part_off = i == count / 2 ? UINT64_MAX : 0;
        row.part_len = (uint32_t)any;
        cn_store_row_put(&row, at);
        cn_text_advance(out, cn_store_row_size);
    }
}

static bool is_about_records(enum cn_store_field field)
{
    return field == CN_STORE_FIELD_in_chunk_off || field == CN_STORE_FIELD_in_chunk_len ||
           field == CN_STORE_FIELD_part_len;
}

/* What a field of a row is afterwards: rows of chunks with as many spans are numbered. */
static uint64_t want_at(const struct cn_columns *made, enum cn_store_field field,
                        uint32_t row, const struct cn_chunk_places *places)
{
    const struct cn_store_column *offs = &made->fields[CN_STORE_FIELD_data_off];
    uint64_t value = cn_store_column_at(&made->fields[field], row);
    uint32_t first = row, end = row + 1, run = 0;

    if (!places || !is_about_records(field))
        return value;
    while (first > 0 && !cn_store_column_is_new(offs, first))
        first--;
    while (end < made->row_count && !cn_store_column_is_new(offs, end))
        end++;
    for (uint32_t i = 1; i <= first; i++)
        run += cn_store_column_is_new(offs, i);
    if (places->places[run][CN_CHUNK_SPAN_ID].count != end - first)
        return value;
    return field == CN_STORE_FIELD_in_chunk_off   ? row - first
           : field == CN_STORE_FIELD_in_chunk_len ? CN_ROW_NUMBERED
           : field == CN_STORE_FIELD_part_len     ? 0
                                                  : value;
}

static void check_field(const struct cn_columns *read, const struct cn_columns *made,
                        enum cn_store_field field, const struct cn_chunk_places *places)
{
    struct cn_store_column column, want;
    struct cn_error err = {0};
    uint64_t lowest, highest, low, high;

    assert_true(cn_columns_field(read, field, &column, &err));
    assert_true(cn_columns_field(made, field, &want, &err));
    for (uint32_t row = 0; row < made->row_count; row++) {
        uint64_t value = want_at(made, field, row, places);

        assert_true(cn_store_column_at(&column, row) == value);
        if (is_about_records(field))
            continue;
        if (row > 0 && !cn_store_column_is_new(&column, row))
            assert_true(value == cn_store_column_at(&want, row - 1));
    }
    cn_columns_range(made, field, &lowest, &highest);
    cn_columns_range(read, field, &low, &high);
    if (made->row_count > 0 && !column.ids && !is_about_records(field))
        assert_true(low == lowest && high == highest);
}

/* Read the file that was written of rows that were made. */
static void check_file(const struct cn_columns *made, unsigned version,
                       const struct cn_file *data, const struct cn_chunk_places *places,
                       size_t *file_len)
{
    struct cn_columns read;
    struct cn_block_file file;
    struct cn_error err = {0};

    assert_true(cn_block_file_open(&file, NULL, ".", CN_META_FILE_NAME,
                                   CN_META_FILE_MAGIC, version, &err));
    assert_true(cn_columns_open(&read, &file, data, &err));
    assert_int_equal(read.row_count, made->row_count);
    for (uint32_t i = 0; i < made->row_count; i++) {
        uint8_t bytes[2][cn_store_row_size];
        struct cn_store_row row;

        assert_true(cn_columns_row(made, i, &row, &err));
        row.in_chunk_off =
            (uint32_t)want_at(made, CN_STORE_FIELD_in_chunk_off, i, places);
        row.in_chunk_len =
            (uint32_t)want_at(made, CN_STORE_FIELD_in_chunk_len, i, places);
        row.part_len = (uint32_t)want_at(made, CN_STORE_FIELD_part_len, i, places);
        cn_store_row_put(&row, bytes[0]);
        assert_true(cn_columns_row(&read, i, &row, &err));
        cn_store_row_put(&row, bytes[1]);
        assert_memory_equal(bytes[0], bytes[1], cn_store_row_size);
    }
    for (unsigned field = 0; field < CN_STORE_FIELD_checksum; field++)
        check_field(&read, made, (enum cn_store_field)field, places);
    *file_len = file.blocks.len;
    cn_columns_close(&read);
    cn_block_file_close(&file);
    assert_int_equal(unlink(CN_META_FILE_NAME), 0);
}

/* `places` are those of chunks in `data`; NULL: there are none. */
static void check(struct cn_bytes rows, unsigned version, const struct cn_file *data,
                  const struct cn_chunk_places *places, size_t *file_len)
{
    struct cn_columns made;
    struct cn_error err = {0};

    cn_columns_of_rows(&made, rows);
    assert_true(cn_columns_write(&cn_disk_files, ".", &made, version, places, &err));
    check_file(&made, version, data, places, file_len);
}

/* The same file without values in chunks, as it is uploaded. */
static void check_alone(struct cn_bytes rows, const struct cn_file *data,
                        const struct cn_chunk_places *places)
{
    struct cn_columns made, read;
    struct cn_block_file file;
    struct cn_error err = {0};
    size_t ignored;

    cn_columns_of_rows(&made, rows);
    assert_true(
        cn_columns_write(&cn_disk_files, ".", &made, CN_META_FILE_VERSION, places, &err));
    assert_true(cn_block_file_open(&file, NULL, ".", CN_META_FILE_NAME,
                                   CN_META_FILE_MAGIC, CN_META_FILE_VERSION, &err));
    assert_true(cn_columns_open(&read, &file, data, &err));
    assert_true(
        cn_columns_write(&cn_disk_files, ".", &read, CN_META_FILE_ALONE, NULL, &err));
    cn_columns_close(&read);
    cn_block_file_close(&file);
    check_file(&made, CN_META_FILE_ALONE, NULL, places, &ignored);
}

static void every_version_has_the_same_rows(void **state)
{
    static const uint32_t counts[] = {0, 1, 2, 63, 64, 65, 129, 1000, 3001};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct cn_text rows = {0};
        struct cn_bytes bytes;
        size_t bytes_len, bits_len, len;

        make_rows(&rows, counts[i], i + 1);
        bytes = (struct cn_bytes){(const uint8_t *)cn_text_str(&rows), rows.len};
        check(bytes, CN_META_FILE_GROUPS, NULL, NULL, &bytes_len);
        check(bytes, CN_META_FILE_BYTES, NULL, NULL, &bytes_len);
        check(bytes, CN_META_FILE_ALONE, NULL, NULL, &bits_len);
        check(bytes, CN_META_FILE_VERSION, NULL, NULL, &len);
        assert_true(len <= bits_len);
        if (counts[i] >= 1000)
            assert_true(bits_len < bytes_len);
        cn_text_done(&rows);
    }
}

/* Chunks with some fields of rows: what columns.h calls traces.dat. */
struct made_chunks {
    struct cn_text bytes;
    struct cn_chunk_places places;
};

static void add_value(struct made_chunks *chunks, struct cn_chunk_place *place,
                      uint64_t value)
{
    uint8_t *at = (uint8_t *)cn_text_room(&chunks->bytes, sizeof(value));

    if (place->count++ == 0)
        place->off = chunks->bytes.len;
    place->bits = 64;
    place->lowest = 5;
    cn_u64_put(at, value - place->lowest);
    cn_text_advance(&chunks->bytes, sizeof(value));
}

/* One chunk for each run of rows with the same offset; of the fourth, nothing is known. */
static void make_chunks(struct made_chunks *chunks, const struct cn_columns *made)
{
    static const enum cn_store_field fields[CN_CHUNK_FIELDS] = {
        [CN_CHUNK_TRACE_HIGH] = CN_STORE_FIELD_trace_high,
        [CN_CHUNK_TRACE_LOW] = CN_STORE_FIELD_trace_low,
        [CN_CHUNK_SPAN_ID] = CN_STORE_FIELD_span_id,
        [CN_CHUNK_DURATION] = CN_STORE_FIELD_duration_ns,
    };
    const struct cn_store_column *offs = &made->fields[CN_STORE_FIELD_data_off];

    for (uint32_t first = 0, end; first < made->row_count; first = end) {
        for (end = first + 1;
             end < made->row_count && !cn_store_column_is_new(offs, end);)
            end++;
        CN_GROW(chunks->places.places, chunks->places.count, chunks->places.capacity);
        struct cn_chunk_place *places = chunks->places.places[chunks->places.count++];
        for (unsigned i = 0; i < CN_CHUNK_FIELDS; i++) {
            const struct cn_store_column *column = &made->fields[fields[i]];

            places[i] = (struct cn_chunk_place){0};
            for (uint32_t row = first; row < end && chunks->places.count != 4; row++)
                if (i > CN_CHUNK_TRACE_LOW || cn_store_column_is_new(column, row))
                    add_value(chunks, &places[i], cn_store_column_at(column, row));
        }
    }
    chunks->places.data = cn_content_of((struct cn_bytes){
        (const uint8_t *)cn_text_str(&chunks->bytes), chunks->bytes.len});
}

static void values_in_chunks_are_found_there(void **state)
{
    struct made_chunks chunks = {0};
    struct cn_text rows = {0};
    struct cn_columns made;
    size_t alone_len, len;

    (void)state;
    make_rows(&rows, 3001, 7);
    struct cn_bytes bytes = {(const uint8_t *)cn_text_str(&rows), rows.len};
    cn_columns_of_rows(&made, bytes);
    make_chunks(&chunks, &made);
    struct cn_file data = {
        .bytes = {(const uint8_t *)cn_text_str(&chunks.bytes), chunks.bytes.len}};
    check(bytes, CN_META_FILE_VERSION, NULL, NULL, &alone_len);
    check(bytes, CN_META_FILE_VERSION, &data, &chunks.places, &len);
    check_alone(bytes, &data, &chunks.places);
    /* Ids of spans and durations take 16 bytes. */
    assert_true(len + 3001 * UINT64_C(12) < alone_len);
    free(chunks.places.places);
    cn_text_done(&chunks.bytes);
    cn_text_done(&rows);
}

static void damage_in_chunks_is_noticed(void **state)
{
    struct made_chunks chunks = {0};
    struct cn_text rows = {0};
    struct cn_columns made, read;
    struct cn_store_column column;
    struct cn_block_file file;
    struct cn_store_row row;
    struct cn_error err = {0};

    (void)state;
    make_rows(&rows, 1000, 8);
    cn_columns_of_rows(&made,
                       (struct cn_bytes){(const uint8_t *)cn_text_str(&rows), rows.len});
    make_chunks(&chunks, &made);
    assert_true(cn_columns_write(&cn_disk_files, ".", &made, CN_META_FILE_VERSION,
                                 &chunks.places, &err));
    assert_true(cn_block_file_open(&file, NULL, ".", CN_META_FILE_NAME,
                                   CN_META_FILE_MAGIC, CN_META_FILE_VERSION, &err));
    chunks.bytes.chars[chunks.places.places[0][CN_CHUNK_SPAN_ID].off + 9] ^= 1;
    struct cn_file data = {
        .bytes = {(const uint8_t *)cn_text_str(&chunks.bytes), chunks.bytes.len}};
    assert_true(cn_columns_open(&read, &file, &data, &err));
    assert_true(cn_columns_field(&read, CN_STORE_FIELD_duration_ns, &column, &err));
    assert_false(cn_columns_field(&read, CN_STORE_FIELD_span_id, &column, &err));
    assert_false(cn_columns_row(&read, 3, &row, &err));
    assert_true(cn_columns_row(&read, 999, &row, &err));
    cn_columns_close(&read);
    /* Shorter than what refers to it, or not there. */
    data.bytes.len /= 2;
    assert_true(cn_columns_open(&read, &file, &data, &err));
    assert_false(cn_columns_row(&read, 999, &row, &err));
    cn_columns_close(&read);
    assert_false(cn_columns_open(&read, &file, NULL, &err));
    cn_block_file_close(&file);
    assert_int_equal(unlink(CN_META_FILE_NAME), 0);
    free(chunks.places.places);
    cn_text_done(&chunks.bytes);
    cn_text_done(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_has_the_same_rows),
        cmocka_unit_test(values_in_chunks_are_found_there),
        cmocka_unit_test(damage_in_chunks_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
