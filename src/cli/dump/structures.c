#include "cli/dump/structures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes/csv.h"
#include "base/bytes/digits.h"
#include "base/bytes/record.h"
#include "base/bytes/utf8.h"
#include "cli/print/write.h"
#include "open/formats.h"

enum { FLUSH_LEN = 1 << 16, OFFSET_DIGITS = 8 };

const char *cn_dump_record_name(const struct cn_record_layout *layout)
{
    const char *name = layout->name;
    const char *first = strchr(name, '_');
    const char *second = first ? strchr(first + 1, '_') : NULL;

    return second ? second + 1 : name;
}

/* "0x" and eight digits, more where needed. */
static void add_offset(struct cn_text *text, uint64_t off)
{
    char digits[CN_HEX64_LEN];
    size_t zeros = 0;

    cn_hex64_put(digits, off);
    while (zeros < CN_HEX64_LEN - OFFSET_DIGITS && digits[zeros] == '0')
        zeros++;
    cn_text_add(text, "0x", 2);
    cn_text_add(text, digits + zeros, CN_HEX64_LEN - zeros);
}

/* Append `billionths` / 10^9. */
static void add_decimal(struct cn_text *text, uint64_t billionths)
{
    char digits[10] = ".";
    uint64_t fraction = billionths % 1000000000;
    size_t len = sizeof(digits);

    cn_text_u64(text, billionths / 1000000000);
    if (fraction == 0)
        return;
    for (size_t i = sizeof(digits) - 1; i > 0; i--) {
        digits[i] = (char)('0' + fraction % 10);
        fraction /= 10;
    }
    while (digits[len - 1] == '0')
        len--;
    cn_text_add(text, digits, len);
}

/* Most values are whole, or decimal fractions with few digits. n / 10^9 for a whole n below
 * 2^53 is rounded correctly, so it reads back to the same value if and only if the division
 * here gives it. */
void cn_dump_print_f64(struct cn_text *text, double value)
{
    double magnitude = fabs(value);
    double billionths = magnitude < 9e6 ? rint(magnitude * 1e9) : 0;

    if (!signbit(value) && magnitude < 0x1p53 && magnitude == rint(magnitude)) {
        cn_text_u64(text, (uint64_t)magnitude);
    } else if (billionths >= 1e5 && billionths / 1e9 == magnitude) {
        if (value < 0)
            cn_text_char(text, '-');
        add_decimal(text, (uint64_t)billionths);
    } else {
        cn_text_printf(text, "%.17g", value);
    }
}

static bool is_f64(const struct cn_field *field)
{
    return field->type[0] == 'f';
}

static uint64_t int_field(const struct cn_dump_item *item, const struct cn_field *field)
{
    return cn_field_get(item->layout, field, item->bytes.ptr);
}

static double f64_field(const struct cn_dump_item *item, const struct cn_field *field)
{
    const uint8_t *at = item->bytes.ptr + field->offset;

    return item->layout->is_big_endian ? cn_f64_be_get(at) : cn_f64_get(at);
}

/* Offsets are printed like those of the first column, so that a search finds both. */
static bool is_offset(const struct cn_field *field)
{
    size_t len = strlen(field->name);

    return len >= 3 && memcmp(field->name + len - 3, "off", 3) == 0 &&
           (len == 3 || field->name[len - 4] == '_');
}

static void add_value(struct cn_text *out, const struct cn_dump_item *item,
                      const struct cn_field *field)
{
    if (is_f64(field))
        cn_dump_print_f64(out, f64_field(item, field));
    else if (is_offset(field))
        add_offset(out, int_field(item, field));
    else
        cn_text_u64(out, int_field(item, field));
}

static void add_location(struct cn_text *out, const struct cn_dump_item *item,
                         uint64_t off)
{
    cn_text_str_add(out, item->file);
    cn_text_char(out, ' ');
    add_offset(out, off);
    cn_text_char(out, ' ');
    cn_text_str_add(out, cn_dump_record_name(item->layout));
    cn_text_char(out, '[');
    cn_text_u64(out, item->index);
    cn_text_char(out, ']');
}

static void add_quoted(struct cn_text *out, const char *str)
{
    cn_text_str_add(out, " \"");
    cn_utf8_add_printable(out, str);
    cn_text_char(out, '"');
}

static void print_text(struct cn_text *out, const struct cn_dump_item *item)
{
    add_location(out, item, item->off);
    for (size_t i = 0; i < item->layout->field_count; i++) {
        const struct cn_field *field = &item->layout->fields[i];

        cn_text_char(out, ' ');
        cn_text_str_add(out, field->name);
        cn_text_char(out, '=');
        add_value(out, item, field);
    }
    if (item->text)
        add_quoted(out, item->text);
    cn_text_char(out, '\n');
}

static void print_text_by_field(struct cn_text *out, const struct cn_dump_item *item)
{
    for (size_t i = 0; i < item->layout->field_count; i++) {
        const struct cn_field *field = &item->layout->fields[i];

        add_location(out, item, item->off + field->offset);
        cn_text_printf(out, ".%s %s ", field->name, field->type);
        add_value(out, item, field);
        cn_text_printf(out, " (%s)\n", field->meaning);
    }
    if (item->text) {
        add_location(out, item, item->off);
        add_quoted(out, item->text);
        cn_text_char(out, '\n');
    }
}

static void add_json_value(struct cn_json *json, const struct cn_dump_item *item,
                           const struct cn_field *field)
{
    if (is_f64(field))
        cn_json_f64(json, f64_field(item, field));
    else
        cn_json_u64(json, int_field(item, field));
}

/* Print a structure, or one field of it. */
static void print_json(struct cn_json *json, const struct cn_dump_item *item,
                       const struct cn_field *field)
{
    const struct cn_record_layout *layout = item->layout;

    cn_json_object(json);
    cn_json_key(json, "file");
    cn_json_str(json, item->file);
    cn_json_key(json, "offset_bytes");
    cn_json_u64(json, item->off + (field ? field->offset : 0));
    cn_json_key(json, "record");
    cn_json_str(json, cn_dump_record_name(layout));
    cn_json_key(json, "index");
    cn_json_u64(json, item->index);
    if (field) {
        cn_json_key(json, "field");
        cn_json_str(json, field->name);
        cn_json_key(json, "type");
        cn_json_str(json, field->type);
        cn_json_key(json, "value");
        add_json_value(json, item, field);
        cn_json_key(json, "meaning");
        cn_json_str(json, field->meaning);
    } else {
        cn_json_add_object(json, "fields");
        for (size_t i = 0; i < layout->field_count; i++) {
            cn_json_key(json, layout->fields[i].name);
            add_json_value(json, item, &layout->fields[i]);
        }
        cn_json_end(json);
    }
    cn_json_key(json, "text");
    if (item->text)
        cn_json_str(json, item->text);
    else
        cn_json_null(json);
    cn_json_end(json);
}

/* One row per field: structures differ in their fields. */
static void print_csv(struct cn_text *out, const struct cn_dump_item *item)
{
    struct cn_text text = {0};

    if (item->text)
        cn_utf8_add_printable(&text, item->text);
    for (size_t i = 0; i < item->layout->field_count; i++) {
        const struct cn_field *field = &item->layout->fields[i];

        cn_text_printf(out, "%s,%" PRIu64 ",%s,%" PRIu64 ",%s,%s,", item->file,
                       item->off + field->offset, cn_dump_record_name(item->layout),
                       item->index, field->name, field->type);
        if (is_f64(field))
            cn_dump_print_f64(out, f64_field(item, field));
        else
            cn_text_u64(out, int_field(item, field));
        cn_text_char(out, ',');
        cn_csv_add_quoted(out, field->meaning);
        cn_text_char(out, ',');
        if (item->text)
            cn_csv_add_quoted(out, cn_text_str(&text));
        cn_text_char(out, '\n');
    }
    cn_text_done(&text);
}

void cn_dump_print_begin(struct cn_dump_printer *printer)
{
    printer->json.text = &printer->out;
    if (printer->format == CN_TABLE_JSON)
        cn_json_array(&printer->json);
    else if (printer->format == CN_TABLE_CSV)
        cn_text_str_add(&printer->out,
                        "file,offset_bytes,record,index,field,type,value,meaning,text\n");
}

void cn_dump_print_item(struct cn_dump_printer *printer, const struct cn_dump_item *item)
{
    if (printer->format == CN_TABLE_CSV)
        print_csv(&printer->out, item);
    else if (printer->format == CN_TABLE_JSON && !printer->by_field)
        print_json(&printer->json, item, NULL);
    else if (printer->format == CN_TABLE_JSON)
        for (size_t i = 0; i < item->layout->field_count; i++)
            print_json(&printer->json, item, &item->layout->fields[i]);
    else if (printer->by_field)
        print_text_by_field(&printer->out, item);
    else
        print_text(&printer->out, item);
    if (printer->out.len >= FLUSH_LEN)
        cn_text_flush(&printer->out, stdout);
}

void cn_dump_print_end(struct cn_dump_printer *printer)
{
    if (printer->format == CN_TABLE_JSON)
        cn_json_end(&printer->json);
    cn_text_flush(&printer->out, stdout);
    cn_text_done(&printer->out);
}
