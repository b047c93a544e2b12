/* cct.db: header, one record a context, then a block a context with values: the
 * values, and behind them where each metric's values start. Blocks follow each other
 * without padding.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/sparse/file_writer.h"
#include "formats/hpctoolkit/values/cct_blocks.h"

enum {
    VALUE_LEN = cn_hpc_sparse_context_value_size,
    INDEX_LEN = cn_hpc_sparse_context_index_size,
};

/* The values of one metric in a context's plane. */
struct run {
    uint16_t metric; /* as the file calls it */
    size_t begin, end;
};

struct worker {
    struct run *runs; /* of the plane being encoded */
    size_t run_count, run_capacity;
};

struct cct_writer {
    const struct cn_hpc_sparse_writing *w;
    struct worker *workers;
};

static int compare_runs(const void *left, const void *right)
{
    const struct run *a = left, *b = right;

    return (a->metric > b->metric) - (a->metric < b->metric);
}

/* The metrics of a plane that the file keeps, in the order of its ids. Returns how
 * many values they have. */
static size_t find_runs(const struct cct_writer *c, struct worker *self,
                        struct cn_value_batch plane)
{
    size_t total = 0, end;

    self->run_count = 0;
    for (size_t i = 0; i < plane.count; i = end) {
        struct run run = {.begin = i};

        for (end = i; end < plane.count; end++)
            if (plane.values[end].metric != plane.values[i].metric)
                break;
        run.end = end;
        if (!cn_hpc_metric_ids_find(&c->w->threads, plane.values[i].metric, &run.metric))
            continue;
        self->runs = cn_grow(self->runs, self->run_count, &self->run_capacity,
                             sizeof(*self->runs));
        self->runs[self->run_count++] = run;
        total += end - i;
    }
    if (self->run_count > 1)
        qsort(self->runs, self->run_count, sizeof(*self->runs), compare_runs);
    return total;
}

static void put_index(uint8_t **at, uint16_t metric, uint64_t start)
{
    struct cn_hpc_sparse_context_index index = {metric, start};

    cn_hpc_sparse_context_index_encode(&index, *at);
    *at += INDEX_LEN;
}

static size_t encode_block(void *arg, unsigned worker, struct cn_value_batch plane,
                           uint8_t *at, struct cn_hpc_cct_block *block)
{
    const struct cct_writer *c = arg;
    struct worker *self = &c->workers[worker];
    size_t count = find_runs(c, self, plane);
    uint8_t *value_at = at, *index_at = at + count * VALUE_LEN;
    uint64_t written = 0;

    if (count == 0)
        return 0;
    for (size_t r = 0; r < self->run_count; r++) {
        const struct run *run = &self->runs[r];

        put_index(&index_at, run->metric, written);
        for (size_t i = run->begin; i < run->end; i++) {
            struct cn_hpc_sparse_context_value record = {plane.values[i].value,
                                                         plane.values[i].key};

            cn_hpc_sparse_context_value_encode(&record, value_at);
            value_at += VALUE_LEN;
        }
        written += run->end - run->begin;
    }
    put_index(&index_at, CN_HPC_SPARSE_CONTEXT_END, written);
    block->value_count = count;
    block->metric_count = (uint16_t)self->run_count; /* ids end below the sign bit */
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

static bool write_file(struct cct_writer *c, struct cn_out *out, uint32_t context_count,
                       struct cn_error *err)
{
    const struct cn_hpc_sparse_kind *kind = &cn_hpc_sparse_cct_kind;
    struct cn_hpc_value_job job = cn_hpc_sparse_job(c->w, context_count);
    uint8_t header[cn_hpc_sparse_header_size];

    cn_hpc_sparse_header_fill(kind, CN_HPC_SPARSE_MAJOR, context_count, header);
    return cn_hpc_sparse_file_begin(out, c->w, kind, context_count, err) &&
           cn_hpc_cct_blocks_write(&job, &encoding, c, out, CN_HPC_SPARSE_HEADER_LEN,
                                   err) &&
           cn_hpc_sparse_file_end(out, kind, header, err);
}

bool cn_hpc_sparse_cct_write(const struct cn_hpc_sparse_writing *w,
                             uint32_t context_count, struct cn_error *err)
{
    struct cct_writer c = {.w = w};
    struct cn_out out = {0};
    bool ok;

    c.workers = cn_alloc(w->workers, sizeof(*c.workers));
    ok = write_file(&c, &out, context_count, err) || cn_fail_in(err, "cct.db");
    cn_out_abandon(&out);
    for (unsigned i = 0; i < w->workers; i++)
        free(c.workers[i].runs);
    free(c.workers);
    return ok;
}
