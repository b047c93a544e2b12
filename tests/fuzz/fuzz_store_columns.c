/* Any bytes as a file of checksummed blocks, and any sections with sound checksums as the columns
 * of a store: what opens can be read to its end. */

#include "base/files/blocks.h"
#include "base/text.h"
#include "store/index/columns.h"
#include "support/fuzz.h"
#include "support/fuzz_blocks.h"

enum { ROWS_MAX = 1000 };

/* `data` stands for traces.dat, which columns may refer to. */
static void read_columns(struct cn_bytes bytes, struct cn_bytes data)
{
    struct cn_file traces = {.bytes = data};
    struct cn_block_file file = {0};
    struct cn_columns columns;
    struct cn_store_column column;
    struct cn_store_row row;
    struct cn_error err = {0};
    uint64_t low, high, sum = 0;

    if (!cn_block_file_init(&file, bytes, CN_META_FILE_MAGIC, CN_META_FILE_VERSION, &err))
        return;
    if (cn_columns_open(&columns, &file, &traces, &err)) {
        uint32_t count = columns.row_count < ROWS_MAX ? columns.row_count : ROWS_MAX;

        for (unsigned f = 0; f < CN_STORE_FIELD_checksum; f++) {
            cn_columns_range(&columns, (enum cn_store_field)f, &low, &high);
            if (!cn_columns_field(&columns, (enum cn_store_field)f, &column, &err))
                continue;
            for (uint32_t i = 0; i < count; i++)
                sum += cn_store_column_at(&column, columns.row_count - 1 - i);
        }
        if (count > 0 && cn_columns_row(&columns, columns.row_count - 1, &row, &err))
            sum += row.flags;
        cn_columns_close(&columns);
    }
    (void)sum;
    cn_block_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes input = {data, len};
    struct cn_text wrapped = {0};

    read_columns(input, input);
    cn_fuzz_blocks_wrap(input, CN_META_FILE_MAGIC, CN_META_FILE_VERSION, &wrapped);
    read_columns((struct cn_bytes){(const uint8_t *)wrapped.chars, wrapped.len}, input);
    cn_text_done(&wrapped);
    return 0;
}

/* Columns of five values of no bits, chunks in groups, and ids of spans that are in the first chunk. */
static void emit_in_chunks(void (*emit)(const uint8_t *data, size_t len))
{
    enum {
        SECTIONS = CN_STORE_FIELD_checksum + 1,
        HEAD_LEN = 24,
        PLAIN_LEN = HEAD_LEN + 8,
        GROUPED_LEN = HEAD_LEN + CN_COLUMN_GROUP_LEN + 1 + 8,
        PLACED_LEN = HEAD_LEN + 8 + 32 + 8,
    };
    struct cn_text seed = {0};
    uint8_t plain[PLAIN_LEN] = {0}, grouped[GROUPED_LEN] = {0}, placed[PLACED_LEN] = {0};
    const uint8_t count[8] = {5};

    cn_u64_put(plain + 8, 1024);
    cn_u64_put(grouped + 8, 1024 + 256 + 8);
    cn_u64_put(grouped + HEAD_LEN, 1);
    cn_u64_put(placed + 8, 4096);
    cn_u64_put(placed + HEAD_LEN, 1);
    cn_u32_put(placed + HEAD_LEN + 8 + 0x14, 5);
    placed[HEAD_LEN + 8 + 0x1c] = 7;
    cn_text_char(&seed, (char)SECTIONS);
    for (unsigned i = 0; i < SECTIONS; i++) {
        bool is_grouped = i == CN_STORE_FIELD_data_off + 1;
        bool is_placed = i == CN_STORE_FIELD_span_id + 1;

        cn_fuzz_blocks_place(&seed, i,
                             i == 0       ? 16
                             : is_grouped ? 24 + PLAIN_LEN
                             : is_placed  ? 24 + PLAIN_LEN + GROUPED_LEN
                                          : 24,
                             i == 0       ? 8
                             : is_grouped ? GROUPED_LEN
                             : is_placed  ? PLACED_LEN
                                          : PLAIN_LEN);
    }
    cn_text_add(&seed, (const char *)count, sizeof(count));
    cn_text_add(&seed, (const char *)plain, sizeof(plain));
    cn_text_add(&seed, (const char *)grouped, sizeof(grouped));
    cn_text_add(&seed, (const char *)placed, sizeof(placed));
    emit((const uint8_t *)seed.chars, seed.len);
    cn_text_done(&seed);
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    /* 24 sections: the number of rows, 5, and columns of five values of two bytes, or of a base and
     * five values of one bit each. */
    enum { SECTIONS = CN_STORE_FIELD_checksum + 1, COLUMN_LEN = 24 + 10 + 8 };
    struct cn_text seed = {0};
    uint8_t bytes[COLUMN_LEN] = {0};

    cn_text_char(&seed, (char)SECTIONS);
    for (unsigned i = 0; i < SECTIONS; i++)
        cn_fuzz_blocks_place(&seed, i, i == 0 ? 16 : 24, i == 0 ? 8 : COLUMN_LEN);
    bytes[0] = 5;
    cn_text_add(&seed, (const char *)bytes, 8);
    bytes[0] = 0;
    bytes[8] = 2;
    cn_text_add(&seed, (const char *)bytes, COLUMN_LEN);
    emit((const uint8_t *)seed.chars, seed.len);
    seed.chars[seed.len - COLUMN_LEN + 8] = 1;
    seed.chars[seed.len - COLUMN_LEN + 9] = 12;
    emit((const uint8_t *)seed.chars, seed.len);
    cn_text_done(&seed);
    emit_in_chunks(emit);
}
