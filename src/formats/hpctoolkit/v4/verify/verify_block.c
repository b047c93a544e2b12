/* A block of values and its index, as profile.db and cct.db both have them. */
#include <inttypes.h>
#include <math.h>

#include "formats/hpctoolkit/v4/verify/verify_parts.h"

enum { PADDING_MAX = 7 };

static bool find_arrays(struct cn_verify *v, const struct cn_verify_file *file,
                        struct cn_verify_block *b, uint64_t off)
{
    struct cn_bytes bytes = file->sections.file.bytes;

    if (!cn_bytes_array(bytes, b->values_off, b->value_count, b->shape->value_len,
                        &b->values)) {
        cn_findings_error(&v->f, "values-bounds", off,
                          "%" PRIu64 " values at 0x%" PRIx64
                          " do not fit the file of %zu",
                          b->value_count, b->values_off, file->bytes.len);
        return false;
    }
    if (!cn_bytes_array(bytes, b->index_off, b->index_count, b->shape->index_len,
                        &b->index)) {
        cn_findings_error(&v->f, "index-bounds", off,
                          "index of %" PRIu32 " %s at 0x%" PRIx64
                          " does not fit the file of %zu",
                          b->index_count, b->shape->keys, b->index_off, file->bytes.len);
        return false;
    }
    return true;
}

static void check_order(struct cn_verify *v, const struct cn_verify_block *b,
                        uint64_t off)
{
    uint64_t values_end = b->values_off + b->values.len;

    cn_verify_aligned(v, b->values_off, b->shape->value_align, "values");
    cn_verify_aligned(v, b->index_off, b->shape->index_align, b->shape->index_name);
    if (values_end > b->index_off)
        cn_findings_error(&v->f, "values-before-index", off,
                          "values end at 0x%" PRIx64
                          ", after the index begins at 0x%" PRIx64,
                          values_end, b->index_off);
    else if (b->index_off - values_end > PADDING_MAX)
        cn_findings_error(&v->f, "values-before-index", off,
                          "%" PRIu64
                          " bytes between values and index, padding is at most %d",
                          b->index_off - values_end, PADDING_MAX);
}

static void claim(struct cn_verify *v, const struct cn_verify_file *file,
                  const struct cn_verify_block *b, struct cn_verify_blocks *blocks,
                  uint64_t begin, uint64_t len)
{
    for (size_t i = 0; i < file->kind->section_count; i++) {
        struct cn_hpc_span section = file->sections.list[i];

        if (begin < section.off + section.bytes.len && section.off < begin + len)
            cn_findings_error(&v->f, "block-in-section", begin,
                              "values of %s %" PRIu32 " lie in section %s",
                              b->shape->owner, b->owner, file->kind->section[i]);
    }
    cn_hpc_extents_add(&blocks->spans, begin, begin + len);
}

bool cn_verify_block_open(struct cn_verify *v, const struct cn_verify_file *file,
                          struct cn_verify_blocks *blocks, struct cn_verify_block *b,
                          uint64_t off)
{
    uint64_t len;

    if (b->value_count == 0 && b->index_count == 0)
        return false;
    if (!find_arrays(v, file, b, off))
        return false;
    check_order(v, b, off);
    claim(v, file, b, blocks, b->values_off, b->values.len);
    claim(v, file, b, blocks, b->index_off, b->index.len);
    if (b->index_count == 0)
        cn_findings_error(&v->f, "index-start", off,
                          "%s %" PRIu32 ": %" PRIu64 " values, but no %s",
                          b->shape->owner, b->owner, b->value_count, b->shape->keys);
    /* Blocks that do not overlap fit the file; others are reported as such. */
    len = b->values.len + b->index.len;
    if (len > blocks->budget)
        return false;
    blocks->budget -= len;
    return true;
}

bool cn_verify_block_range(struct cn_verify *v, const struct cn_verify_block *b,
                           uint32_t i, uint32_t key, uint64_t start, uint64_t end)
{
    uint64_t off = b->index_off + (uint64_t)i * b->shape->index_len;

    if ((i == 0 && start != 0) || start > end || end > b->value_count) {
        cn_findings_error(&v->f, "index-start", off,
                          "%s %" PRIu32 ", %s %" PRIu32 ": values %" PRIu64 " to %" PRIu64
                          " of %" PRIu64,
                          b->shape->owner, b->owner, b->shape->key, key, start, end,
                          b->value_count);
        return false;
    }
    if (start == end)
        cn_findings_warn(&v->f, b->shape->empty_rule, off, "%s %" PRIu32 " has no values",
                         b->shape->key, key);
    return true;
}

void cn_verify_number(struct cn_verify *v, double value, uint64_t off)
{
    if (value == 0)
        cn_findings_warn(&v->f, "zero-value", off, "a value of 0 is written out");
    if (!isfinite(value))
        cn_findings_warn(&v->f, "value-finite", off, "value %g is not finite", value);
}
