/* cct.db: header, a record for each context, then a block for each context with values:
 * the values and their index. Blocks follow each other without padding. */
#include "formats/hpctoolkit/sparse/file_writer.h"
#include "formats/hpctoolkit/values/cct_blocks.h"

enum {
    VALUE_LEN = cn_hpc_sparse_context_value_size,
    INDEX_LEN = cn_hpc_sparse_context_index_size,
};

static void put_index(uint8_t **at, uint16_t metric, uint64_t start)
{
    struct cn_hpc_sparse_context_index index = {metric, start};

    cn_hpc_sparse_context_index_encode(&index, *at);
    *at += INDEX_LEN;
}

/* Ids keep their order when they are translated, so a sorted plane stays sorted. */
static size_t encode_block(void *arg, unsigned worker, struct cn_value_batch plane,
                           uint8_t *at, struct cn_hpc_cct_block *block)
{
    const struct cn_hpc_metric_ids *ids = arg;
    uint8_t *value_at = at, *index_at = at;
    uint16_t metric, last = 0;

    (void)worker;
    for (size_t i = 0; i < plane.count; i++)
        if (cn_hpc_metric_ids_find(ids, plane.values[i].metric, &metric))
            index_at += VALUE_LEN;
    if (index_at == at)
        return 0;
    for (size_t i = 0; i < plane.count; i++) {
        struct cn_hpc_sparse_context_value record = {plane.values[i].value,
                                                     plane.values[i].key};

        if (!cn_hpc_metric_ids_find(ids, plane.values[i].metric, &metric))
            continue;
        if (block->value_count == 0 || metric != last) {
            put_index(&index_at, metric, block->value_count);
            block->metric_count++;
            last = metric;
        }
        cn_hpc_sparse_context_value_encode(&record, value_at);
        value_at += VALUE_LEN;
        block->value_count++;
    }
    put_index(&index_at, CN_HPC_SPARSE_CONTEXT_END, block->value_count);
    return (size_t)(index_at - at);
}

static void encode_record(const struct cn_hpc_cct_block *block, uint8_t *at)
{
    struct cn_hpc_sparse_context record = {
        .context = block->context,
        .value_count = block->value_count,
        .metric_count = block->metric_count,
        .block_off = block->values_off,
    };

    cn_hpc_sparse_context_encode(&record, at);
}

static const struct cn_hpc_cct_encoding encoding = {
    .value_len = VALUE_LEN,
    .index_len = INDEX_LEN,
    .record_len = cn_hpc_sparse_context_size,
    .align = 1,
    .block = encode_block,
    .record = encode_record,
};

bool cn_hpc_sparse_cct_write(const struct cn_hpc_sparse_writing *w,
                             uint32_t context_count, struct cn_error *err)
{
    const struct cn_hpc_sparse_kind *kind = &cn_hpc_sparse_cct_kind;
    struct cn_hpc_value_job job = cn_hpc_sparse_job(w, context_count);
    struct cn_hpc_metric_ids ids = w->threads;
    uint8_t header[cn_hpc_sparse_header_size];
    struct cn_out out = {0};

    job.arg = &ids;
    cn_hpc_sparse_header_fill(kind, CN_HPC_SPARSE_MAJOR, context_count, header);
    bool ok =
        cn_hpc_sparse_file_begin(&out, w, kind, context_count, err) &&
        cn_hpc_cct_blocks_write(&job, &encoding, &out, CN_HPC_SPARSE_HEADER_LEN, err) &&
        cn_hpc_cct_blocks_end(&job, &encoding, &out, CN_HPC_SPARSE_HEADER_LEN, err) &&
        cn_hpc_sparse_file_end(&out, kind, header, err);
    cn_out_abandon(&out);
    return ok || cn_fail_in(err, "cct.db");
}
