#include "support/tiny_v4.h"

#include <assert.h>
#include <string.h>

#include "base/bytes/bytes.h"
#include "support/tiny_v4_parts.h"

const uint16_t cn_tiny_metric_ids[CN_TINY_IDS] = {CN_TINY_FUNCTION, CN_TINY_EXECUTION};

enum { GARBAGE = 0xa5 };

static const char yaml[] =
    "version: 0\n"
    "inputs:\n"
    "  - &time {metric: CPUTIME (sec), scope: execution, formula: $$, combine: sum}\n"
    "  - &self {metric: CPUTIME (sec), scope: function, formula: $$, combine: sum}\n"
    "roots:\n"
    "  - name: CPUTIME (sec)\n"
    "    variants:\n"
    "      Sum: {render: [number, percent],\n"
    "            formula: {inclusive: {standard: *time}, exclusive: {standard: "
    "*self}}}\n";

bool cn_tiny_v4_has(uint32_t profile, uint32_t context, uint16_t metric)
{
    static const bool has[CN_TINY_PROFILES][CN_TINY_CONTEXTS] = {
        [1] = {[0] = true, [1] = true, [2] = true, [3] = true, [5] = true, [8] = true},
        [2] = {[0] = true, [1] = true, [2] = true, [4] = true, [6] = true, [7] = true},
    };

    if (profile == 0)
        return cn_tiny_v4_has(1, context, metric) || cn_tiny_v4_has(2, context, metric);
    return has[profile][context] && (context != 0 || metric == CN_TINY_EXECUTION);
}

double cn_tiny_v4_value(uint32_t profile, uint32_t context, uint16_t metric)
{
    double sum = 0;

    if (profile != 0)
        return 100.0 * profile + 10.0 * context + metric;
    for (uint32_t p = 1; p < CN_TINY_PROFILES; p++)
        if (cn_tiny_v4_has(p, context, metric))
            sum += cn_tiny_v4_value(p, context, metric);
    return sum;
}

/* Bytes no field claims: garbage when asked for. */
static void fill_gaps(const struct cn_tiny_builder *b,
                      const struct cn_record_layout *layout, char *record, size_t len)
{
    bool is_claimed[256] = {false};

    if (!b->options.has_garbage)
        return;
    for (size_t i = 0; i < layout->field_count; i++)
        for (size_t k = 0; k < layout->fields[i].size; k++)
            is_claimed[layout->fields[i].offset + k] = true;
    for (size_t i = 0; i < len; i++)
        if (i >= sizeof(is_claimed) || !is_claimed[i])
            record[i] = (char)GARBAGE;
}

uint64_t cn_tiny_put(const struct cn_tiny_builder *b, struct cn_text *to,
                     const struct cn_record_layout *layout, const uint8_t *bytes,
                     unsigned grow)
{
    uint64_t off = to->len;

    cn_text_add(to, (const char *)bytes, layout->size);
    cn_text_fill(to, '\0', grow);
    fill_gaps(b, layout, to->chars + off, layout->size + grow);
    return off;
}

void cn_tiny_put_at(const struct cn_tiny_builder *b, struct cn_text *to,
                    const struct cn_record_layout *layout, const uint8_t *bytes,
                    uint64_t off)
{
    memcpy(to->chars + off, bytes, layout->size);
    fill_gaps(b, layout, to->chars + off, layout->size);
}

void cn_tiny_pad(struct cn_text *to, size_t align)
{
    cn_text_fill(to, '\0', (size_t)cn_align_up(to->len, align) - to->len);
}

uint64_t cn_tiny_put_string(struct cn_text *to, const char *string)
{
    uint64_t off = to->len;

    cn_text_add(to, string, strlen(string) + 1);
    return off;
}

uint64_t cn_tiny_reserve(const struct cn_tiny_builder *b, struct cn_text *to, size_t len)
{
    uint64_t off;

    cn_tiny_pad(to, 8);
    off = to->len;
    cn_text_fill(to, '\0', len + b->options.grow);
    cn_tiny_pad(to, 8);
    return off;
}

void cn_tiny_put_head(const struct cn_tiny_builder *b, struct cn_text *to,
                      const char *format, size_t section_count)
{
    uint8_t bytes[cn_hpc_file_header_size];

    cn_hpc_file_header_encode(
        &(struct cn_hpc_file_header){CN_HPC_MAJOR, b->options.minor}, bytes);
    memcpy(bytes, CN_HPC_MAGIC, CN_HPC_MAGIC_LEN);
    memcpy(bytes + CN_HPC_MAGIC_LEN, format, CN_HPC_FORMAT_LEN);
    cn_text_add(to, (const char *)bytes, sizeof(bytes));
    cn_text_fill(to, '\0', section_count * cn_hpc_section_size);
}

void cn_tiny_end_section(struct cn_text *to, size_t section, uint64_t off)
{
    uint8_t bytes[cn_hpc_section_size];

    cn_hpc_section_encode(&(struct cn_hpc_section){to->len - off, off}, bytes);
    memcpy(to->chars + cn_hpc_file_header_size + section * cn_hpc_section_size, bytes,
           sizeof(bytes));
}

void cn_tiny_v4_init(struct cn_tiny_v4 *tiny, const struct cn_tiny_options *options)
{
    struct cn_tiny_builder b = {tiny, *options};

    *tiny = (struct cn_tiny_v4){0};
    cn_tiny_put_meta(&b);
    cn_tiny_put_profiles(&b);
    cn_tiny_put_cct(&b);
    cn_tiny_put_traces(&b);
}

void cn_tiny_v4_done(struct cn_tiny_v4 *tiny)
{
    cn_text_done(&tiny->meta);
    cn_text_done(&tiny->profile);
    cn_text_done(&tiny->cct);
    cn_text_done(&tiny->trace);
}

static struct cn_bytes bytes_of(const struct cn_text *text)
{
    return (struct cn_bytes){(const uint8_t *)text->chars, text->len};
}

void cn_tiny_v4_files(const struct cn_tiny_v4 *tiny, struct cn_hpc_v4_files *out)
{
    *out = (struct cn_hpc_v4_files){
        .meta = bytes_of(&tiny->meta),
        .profile = bytes_of(&tiny->profile),
        .cct = bytes_of(&tiny->cct),
        .trace = bytes_of(&tiny->trace),
        .has_cct = true,
        .has_trace = true,
        .yaml = {{"default.yaml", {(const uint8_t *)yaml, sizeof(yaml) - 1}}},
        .yaml_count = 1,
    };
}

void cn_tiny_v4_set(struct cn_text *file, const struct cn_record_layout *layout,
                    uint64_t off, const char *field, uint64_t value)
{
    size_t i = 0;

    while (i < layout->field_count && strcmp(layout->fields[i].name, field) != 0)
        i++;
    assert(i < layout->field_count);
    for (size_t k = 0; k < layout->fields[i].size; k++)
        file->chars[off + layout->fields[i].offset + k] = (char)(value >> (8 * k));
}
