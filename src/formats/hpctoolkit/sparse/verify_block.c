#include "formats/hpctoolkit/sparse/verify_block.h"

#include <inttypes.h>

static struct cn_hpc_sparse_entry entry_at(const struct cn_hpc_sparse_blocks *blocks,
                                           const struct cn_hpc_sparse_block *b,
                                           uint64_t i)
{
    const struct cn_hpc_sparse_block_kind *kind = blocks->kind;

    return kind->entry(cn_bytes_element(b->index, i, kind->index_len));
}

static bool open_block(struct cn_hpc_sparse_blocks *blocks, struct cn_hpc_sparse_block *b,
                       uint64_t record_off)
{
    const struct cn_hpc_sparse_block_kind *kind = blocks->kind;
    struct cn_bytes file = blocks->file;

    if (!cn_bytes_array(file, b->off, b->value_count, kind->value_len, &b->values)) {
        cn_findings_error(blocks->c->f, "values-bounds", record_off,
                          "%" PRIu64 " values at 0x%" PRIx64
                          " do not fit the file of %zu",
                          b->value_count, b->off, file.len);
        return false;
    }
    b->index_off = b->off + b->values.len;
    if (!cn_bytes_array(file, b->index_off, b->key_count + 1, kind->index_len,
                        &b->index)) {
        cn_findings_error(blocks->c->f, "index-bounds", record_off,
                          "index of %" PRIu64 " %ss and its end at 0x%" PRIx64
                          " does not fit the file of %zu",
                          b->key_count, kind->key, b->index_off, file.len);
        return false;
    }
    cn_hpc_extents_add(&blocks->extents, b->off, b->index_off + b->index.len);
    return true;
}

static void check_entry(struct cn_hpc_sparse_blocks *blocks,
                        const struct cn_hpc_sparse_block *b, uint64_t i)
{
    const struct cn_hpc_sparse_block_kind *kind = blocks->kind;
    struct cn_findings *f = blocks->c->f;
    uint64_t off = b->index_off + i * kind->index_len;
    struct cn_hpc_sparse_entry entry = entry_at(blocks, b, i);
    uint64_t end = entry_at(blocks, b, i + 1).start;

    if (i > 0 && entry.key <= entry_at(blocks, b, i - 1).key)
        cn_findings_error(
            f, kind->sorted_rule, off,
            "%s %" PRIu32 ": %s %" PRIu32 " after %" PRIu32 ", not ascending",
            kind->owner, b->owner, kind->key, entry.key, entry_at(blocks, b, i - 1).key);
    if (kind->check_key)
        kind->check_key(blocks->arg, entry.key, off);
    if ((i == 0 && entry.start != 0) || entry.start > end || end > b->value_count) {
        cn_findings_error(f, "index-start", off,
                          "%s %" PRIu32 ", %s %" PRIu32 ": values %" PRIu64 " to %" PRIu64
                          " of %" PRIu64,
                          kind->owner, b->owner, kind->key, entry.key, entry.start, end,
                          b->value_count);
        return;
    }
    if (entry.start == end)
        cn_findings_warn(f, kind->empty_rule, off, "%s %" PRIu32 " has no values",
                         kind->key, entry.key);
    kind->check_values(blocks->arg, b, entry.key, off, entry.start, end);
}

static void check_end(struct cn_hpc_sparse_blocks *blocks,
                      const struct cn_hpc_sparse_block *b)
{
    const struct cn_hpc_sparse_block_kind *kind = blocks->kind;
    uint64_t off = b->index_off + b->key_count * kind->index_len;
    struct cn_hpc_sparse_entry end = entry_at(blocks, b, b->key_count);

    if (end.key != kind->end)
        cn_findings_error(blocks->c->f, "end-marker", off,
                          "%s %" PRIu32 ": index ends with 0x%" PRIx32
                          " instead of 0x%" PRIx32,
                          kind->owner, b->owner, end.key, kind->end);
    if (end.start != b->value_count)
        cn_findings_error(blocks->c->f, "end-marker", off,
                          "%s %" PRIu32 ": index ends at value %" PRIu64 " of %" PRIu64,
                          kind->owner, b->owner, end.start, b->value_count);
}

static void check_contents(struct cn_hpc_sparse_blocks *blocks,
                           struct cn_hpc_sparse_block *b, uint64_t record_off)
{
    uint64_t len;

    if (!open_block(blocks, b, record_off))
        return;
    if (b->key_count == 0)
        cn_findings_error(blocks->c->f, "index-start", record_off,
                          "%s %" PRIu32 ": %" PRIu64 " values, but no %ss",
                          blocks->kind->owner, b->owner, b->value_count,
                          blocks->kind->key);
    /* Blocks that do not overlap fit the file; others are reported as such. */
    len = b->values.len + b->index.len;
    if (len > blocks->budget)
        return;
    blocks->budget -= len;
    check_end(blocks, b);
    for (uint64_t i = 0; i < b->key_count; i++)
        check_entry(blocks, b, i);
}

void cn_hpc_sparse_check_block(struct cn_hpc_sparse_blocks *blocks,
                               struct cn_hpc_sparse_block *block, uint64_t record_off)
{
    if (block->value_count > 0 || block->key_count > 0)
        check_contents(blocks, block, record_off);
    cn_hpc_sparse_check_forget(blocks->c, blocks->file,
                               block->values.len + block->index.len);
}
