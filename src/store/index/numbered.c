#include "store/index/numbered.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/text.h"
#include "store/index/columns_layout.h"

bool cn_numbered_open(struct cn_store_column *column, const struct cn_block_file *file,
                      const struct cn_store_column *data_off, struct cn_bytes rest,
                      struct cn_error *err)
{
    struct cn_bytes count_bytes, runs, values;
    struct cn_error ignored;

    if (!data_off->groups || !cn_bytes_slice(rest, 0, sizeof(uint64_t), &count_bytes) ||
        !cn_block_file_check(file, count_bytes, &ignored))
        return cn_fail(err, CN_ERR_FORMAT, "numbered rows are in no chunks");
    uint64_t count = cn_u64_get(count_bytes.ptr);
    if (count > data_off->value_count ||
        !cn_bytes_array(rest, sizeof(uint64_t), count, cn_numbered_run_size, &runs) ||
        !cn_bytes_from(rest, sizeof(uint64_t) + runs.len, &values) ||
        values.len < CN_META_PAD_LEN)
        return cn_fail(err, CN_ERR_FORMAT,
                       "numbered rows of %" PRIu64 " chunks do not fit", count);
    column->bytes = rest;
    column->runs = runs.ptr;
    column->run_count = (uint32_t)count;
    column->run_groups = data_off->groups;
    column->run_bytes = data_off->bytes;
    column->run_values = data_off->value_count;
    column->values = values.ptr;
    column->value_count = (uint32_t)((values.len - CN_META_PAD_LEN) / sizeof(uint32_t));
    column->is_indirect = true;
    return true;
}

/* The run that a row is in; run_count: none. */
static uint32_t run_of(const struct cn_store_column *column, uint32_t row)
{
    const struct cn_store_column groups = {
        .groups = column->run_groups,
        .value_count = column->run_values,
    };
    uint32_t run = cn_store_column_index(&groups, row);

    return run < column->run_count ? run : column->run_count;
}

static struct cn_numbered_run run_at(const struct cn_store_column *column, uint32_t run)
{
    struct cn_bytes bytes = {column->runs + (size_t)run * cn_numbered_run_size,
                             cn_numbered_run_size};
    struct cn_numbered_run out = {0};

    (void)cn_numbered_run_decode(bytes, &out);
    return out;
}

/* The place of the value of a row of a run that is not numbered. False if there is none. */
static bool find_value(const struct cn_store_column *column,
                       const struct cn_numbered_run *run, uint32_t row,
                       struct cn_bytes *out)
{
    uint64_t i = (uint64_t)run->first_value + (row - run->first_row);

    if (run->first_value == UINT32_MAX || row < run->first_row ||
        i >= column->value_count)
        return false;
    *out = (struct cn_bytes){column->values + i * sizeof(uint32_t), sizeof(uint32_t)};
    return true;
}

bool cn_numbered_check(const struct cn_store_column *column,
                       const struct cn_block_file *file, uint32_t row,
                       struct cn_error *err)
{
    struct cn_bytes bytes;

    if (!cn_bytes_slice(column->run_bytes,
                        (uint64_t)(row / CN_COLUMN_GROUP_ROWS) * CN_COLUMN_GROUP_LEN,
                        CN_COLUMN_GROUP_LEN, &bytes) ||
        !cn_block_file_check(file, bytes, err))
        return false;
    uint32_t number = run_of(column, row);
    if (number == column->run_count)
        return cn_fail(err, CN_ERR_FORMAT, "row %" PRIu32 " is in no chunk", row);
    bytes = (struct cn_bytes){column->runs + (size_t)number * cn_numbered_run_size,
                              cn_numbered_run_size};
    if (!cn_block_file_check(file, bytes, err))
        return false;
    struct cn_numbered_run run = run_at(column, number);
    return !find_value(column, &run, row, &bytes) ||
           cn_block_file_check(file, bytes, err);
}

uint64_t cn_numbered_at(const struct cn_store_column *column, uint32_t row)
{
    uint32_t number = run_of(column, row);
    struct cn_bytes value;

    if (number == column->run_count)
        return 0;
    struct cn_numbered_run run = run_at(column, number);
    if (find_value(column, &run, row, &value))
        return cn_u32_get(value.ptr);
    return run.first_value == UINT32_MAX && row >= run.first_row ? row - run.first_row
                                                                 : 0;
}

/* True if the rows of a run are the spans of its chunk: as many, each with a record of its own. */
static bool are_spans(const struct cn_columns *columns,
                      const struct cn_chunk_place *spans, uint32_t first, uint32_t end)
{
    const struct cn_store_column *offs = &columns->fields[CN_STORE_FIELD_in_chunk_off];

    if (!spans || spans->count != end - first || cn_store_column_at(offs, first) != 0)
        return false;
    for (uint32_t row = first + 1; row < end; row++)
        if (cn_store_column_at(offs, row) <= cn_store_column_at(offs, row - 1))
            return false;
    return true;
}

static void add_run(struct cn_numbered_runs *runs, const struct cn_columns *columns,
                    const struct cn_chunk_places *places, uint32_t first, uint32_t end)
{
    bool is = places
                  ? runs->count < places->count &&
                        are_spans(columns, &places->places[runs->count][CN_CHUNK_SPAN_ID],
                                  first, end)
                  : cn_store_column_at(&columns->fields[CN_STORE_FIELD_in_chunk_len],
                                       first) == CN_ROW_NUMBERED;

    runs->is_any |= is;
    CN_PUSH(runs->are, runs->count, runs->capacity, is);
}

void cn_numbered_find(struct cn_numbered_runs *runs, const struct cn_columns *columns,
                      const struct cn_chunk_places *places)
{
    const struct cn_store_column *data_off = &columns->fields[CN_STORE_FIELD_data_off];
    uint32_t first = 0;

    *runs = (struct cn_numbered_runs){0};
    for (uint32_t row = 1; row < columns->row_count; row++) {
        if (!cn_store_column_is_new(data_off, row))
            continue;
        add_run(runs, columns, places, first, row);
        first = row;
    }
    if (columns->row_count > 0)
        add_run(runs, columns, places, first, columns->row_count);
}

bool cn_numbered_write(struct cn_block_writer *writer, const struct cn_columns *columns,
                       const struct cn_numbered_runs *runs, struct cn_error *err)
{
    const struct cn_store_column *data_off = &columns->fields[CN_STORE_FIELD_data_off];
    const struct cn_store_column *offs = &columns->fields[CN_STORE_FIELD_in_chunk_off];
    struct cn_text heads = {0}, values = {0};
    uint8_t bytes[CN_META_PAD_LEN];
    size_t run = 0;

    for (uint32_t row = 0; row < columns->row_count; row++) {
        bool is_new = row == 0 || cn_store_column_is_new(data_off, row);

        run += is_new && row > 0;
        if (is_new) {
            struct cn_numbered_run head = {
                .first_row = row,
                .first_value = runs->are[run] ? UINT32_MAX
                                              : (uint32_t)(values.len / sizeof(uint32_t)),
            };
            uint8_t *at = (uint8_t *)cn_text_room(&heads, cn_numbered_run_size);

            cn_numbered_run_encode(&head, at);
            cn_text_advance(&heads, cn_numbered_run_size);
        }
        if (runs->are[run])
            continue;
        cn_u32_put((uint8_t *)cn_text_room(&values, sizeof(uint32_t)),
                   (uint32_t)cn_store_column_at(offs, row));
        cn_text_advance(&values, sizeof(uint32_t));
    }
    cn_u64_put(bytes, runs->count);
    bool ok = cn_block_writer_add(writer, bytes, sizeof(bytes), err) &&
              cn_block_writer_add(writer, cn_text_str(&heads), heads.len, err) &&
              cn_block_writer_add(writer, cn_text_str(&values), values.len, err);
    cn_u64_put(bytes, 0);
    ok = ok && cn_block_writer_add(writer, bytes, sizeof(bytes), err);
    cn_text_done(&heads);
    cn_text_done(&values);
    return ok;
}

struct cn_store_column cn_numbered_others(uint8_t *values,
                                          const struct cn_columns *columns,
                                          const struct cn_store_column *column,
                                          const struct cn_numbered_runs *runs,
                                          uint32_t numbered)
{
    const struct cn_store_column *data_off = &columns->fields[CN_STORE_FIELD_data_off];
    size_t run = 0;

    for (uint32_t row = 0; row < columns->row_count; row++) {
        run += row > 0 && cn_store_column_is_new(data_off, row);
        cn_u32_put(values + (size_t)row * sizeof(uint32_t),
                   runs->are[run] ? numbered : (uint32_t)cn_store_column_at(column, row));
    }
    return (struct cn_store_column){
        .values = values,
        .stride = UINT64_C(8) * sizeof(uint32_t),
        .mask = UINT32_MAX,
    };
}
