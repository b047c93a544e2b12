#include "lib/frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/utf8.h"

struct cairn_table *cn_frame_new(void)
{
    return cn_alloc(1, sizeof(struct cairn_table));
}

size_t cn_frame_add(struct cairn_table *table, const char *name, enum cairn_type type)
{
    struct cn_frame_column *column;

    CN_GROW(table->columns, table->column_count, table->column_capacity);
    column = &table->columns[table->column_count];
    *column = (struct cn_frame_column){.name = cn_strdup(name), .type = type};
    if (type == CAIRN_TEXT) {
        column->offsets =
            cn_grow(NULL, 0, &column->offset_capacity, sizeof(*column->offsets));
        column->offsets[0] = 0;
    }
    return table->column_count++;
}

static size_t cell_size(enum cairn_type type)
{
    static const size_t sizes[] = {
        [CAIRN_U16] = sizeof(uint16_t),
        [CAIRN_U32] = sizeof(uint32_t),
        [CAIRN_U64] = sizeof(uint64_t),
        [CAIRN_F64] = sizeof(double),
        [CAIRN_TEXT] = 0,
        [CAIRN_CATEGORY] = sizeof(int32_t),
    };

    return sizes[type];
}

void cn_column_mark(struct cn_frame_column *column, bool is_known)
{
    size_t byte = column->count / 8, old = column->valid_capacity;

    if (byte >= old) {
        column->valid = cn_grow_to(column->valid, byte + 1, &column->valid_capacity, 1);
        memset(column->valid + old, 0xff, column->valid_capacity - old);
    }
    if (is_known)
        return;
    column->valid[byte] &= (uint8_t) ~(1U << column->count % 8);
    column->null_count++;
}

/* The text as UTF-8: bytes that are not appear as \xHH. */
static const char *valid_text(struct cn_frame_column *column, const char *text)
{
    if (cn_utf8_is_valid(text, strlen(text)))
        return text;
    cn_text_clear(&column->scratch);
    cn_utf8_add_printable(&column->scratch, text);
    return cn_text_str(&column->scratch);
}

int32_t cn_column_code(struct cn_frame_column *column, const char *text)
{
    return text ? (int32_t)cn_names_add(&column->names, valid_text(column, text))
                : CN_CODE_NONE;
}

static void add_text(struct cn_frame_column *column, const char *text)
{
    if (column->valid || !text)
        cn_column_mark(column, text != NULL);
    column->count++;
    if (text)
        cn_text_str_add(&column->chars, valid_text(column, text));
    CN_GROW(column->offsets, column->count, column->offset_capacity);
    column->offsets[column->count] = (int64_t)column->chars.len;
}

void cn_column_text(struct cn_frame_column *column, const char *text)
{
    if (column->type == CAIRN_TEXT)
        add_text(column, text);
    else
        cn_column_category(column, cn_column_code(column, text));
}

/* Lay out the texts of categories. */
static void finish_names(struct cn_frame_column *column)
{
    size_t count = column->names.count;

    column->offsets = cn_alloc(count + 1, sizeof(*column->offsets));
    for (size_t i = 0; i < count; i++) {
        cn_text_str_add(&column->chars, column->names.list[i]);
        column->offsets[i + 1] = (int64_t)column->chars.len;
    }
    column->text_count = count;
    cn_names_done(&column->names);
    column->names = (struct cn_names){0};
}

void cn_frame_finish(struct cairn_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        struct cn_frame_column *column = &table->columns[i];
        size_t size = cell_size(column->type);

        assert(i == 0 || column->count == table->columns[0].count);
        if (column->type == CAIRN_CATEGORY)
            finish_names(column);
        else
            column->text_count = column->type == CAIRN_TEXT ? column->count : 0;
        if (size > 0 && column->count > 0) {
            column->values = cn_realloc(column->values, column->count, size);
            column->capacity = column->count;
        }
    }
    table->row_count = table->column_count > 0 ? table->columns[0].count : 0;
}

uint64_t cairn_table_row_count(const struct cairn_table *table)
{
    return table ? table->row_count : 0;
}

size_t cairn_table_column_count(const struct cairn_table *table)
{
    return table ? table->column_count : 0;
}

void cairn_table_column(const struct cairn_table *table, size_t number,
                        struct cairn_column *out)
{
    if (!out)
        return;
    *out = (struct cairn_column){0};
    if (number >= cairn_table_column_count(table))
        return;
    const struct cn_frame_column *column = &table->columns[number];
    *out = (struct cairn_column){
        .name = column->name,
        .type = column->type,
        .count = column->count,
        .null_count = column->null_count,
        .values = column->values,
        .valid = column->null_count > 0 ? column->valid : NULL,
        .offsets = column->offsets,
        .chars = cn_text_str(&column->chars),
        .text_count = column->text_count,
    };
}

size_t cairn_table_find(const struct cairn_table *table, const char *name)
{
    size_t i = 0;

    while (i < cairn_table_column_count(table) &&
           (!name || strcmp(table->columns[i].name, name) != 0))
        i++;
    return i;
}

const char *cairn_table_text(const struct cairn_table *table, size_t column, uint64_t row,
                             size_t *len)
{
    size_t text = (size_t)row;

    if (column >= cairn_table_column_count(table) || row >= table->row_count)
        return NULL;
    const struct cn_frame_column *c = &table->columns[column];
    if (c->type == CAIRN_CATEGORY) {
        int32_t code = ((const int32_t *)c->values)[row];

        if (code < 0)
            return NULL;
        text = (size_t)code;
    } else if (c->type != CAIRN_TEXT ||
               (c->null_count > 0 && !(c->valid[row / 8] >> row % 8 & 1))) {
        return NULL;
    }
    if (len)
        *len = (size_t)(c->offsets[text + 1] - c->offsets[text]);
    return cn_text_str(&c->chars) + c->offsets[text];
}

const char *cairn_table_damage(const struct cairn_table *table)
{
    return table ? table->damage : NULL;
}

void cairn_table_free(struct cairn_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->column_count; i++) {
        struct cn_frame_column *column = &table->columns[i];

        free(column->name);
        free(column->values);
        free(column->valid);
        free(column->offsets);
        cn_text_done(&column->chars);
        cn_text_done(&column->scratch);
        cn_names_done(&column->names);
    }
    free(table->columns);
    free(table->damage);
    free(table);
}
