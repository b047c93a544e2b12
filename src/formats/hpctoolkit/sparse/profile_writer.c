/* profile.db: header, profile records, identity tuples, then a block for each profile:
 * values and their index. The summary's block is the last. */
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/sparse/file_writer.h"
#include "formats/hpctoolkit/values/profile_blocks.h"
#include "model/format.h"

struct sparse_writer {
    const struct cn_hpc_sparse_writing *w;
    struct cn_out out;
    struct cn_hpc_sparse_profile *records;
    struct cn_hpc_profile_block *blocks;
    bool *is_left_out;    /* profiles whose values are dropped */
    uint64_t *dropped[2]; /* of threads, of the summary: by worker, then by id */
    struct cn_zero_ids zero_ids[2];
};

static void put_value(const struct cn_value *value, uint8_t *at)
{
    struct cn_hpc_sparse_profile_value record = {value->value, value->metric};

    cn_hpc_sparse_profile_value_encode(&record, at);
}

static void put_index(uint32_t context, uint64_t start, uint8_t *at)
{
    struct cn_hpc_sparse_profile_index index = {context, start};

    cn_hpc_sparse_profile_index_encode(&index, at);
}

static size_t encode(struct cn_hpc_plane_bytes *plane, const struct cn_value *values,
                     size_t count)
{
    return cn_hpc_plane_encode(plane, values, count, cn_hpc_sparse_profile_value_size,
                               cn_hpc_sparse_profile_index_size, put_value, put_index);
}

static void put_end(uint64_t value_count, uint8_t *at)
{
    put_index(CN_HPC_SPARSE_PROFILE_END, value_count, at);
}

static size_t translate(void *arg, unsigned worker, bool is_summary,
                        struct cn_value_batch batch, bool is_first, struct cn_value *out)
{
    const struct sparse_writer *p = arg;
    const struct cn_hpc_metric_ids *ids = is_summary ? &p->w->summaries : &p->w->threads;
    uint64_t *dropped = p->dropped[is_summary] + (size_t)worker * CN_HPC_SPARSE_ID_COUNT;
    size_t count = 0;

    for (size_t i = 0; i < batch.count; i++) {
        struct cn_value value = batch.values[i];

        if (cn_value_is_void(&value, &p->zero_ids[is_summary]))
            continue;
        if (cn_hpc_metric_ids_find(ids, batch.values[i].metric, &value.metric))
            out[count++] = value;
        else if (is_first)
            dropped[batch.values[i].metric]++;
    }
    return count;
}

static const struct cn_hpc_profile_encoding encoding = {
    .value_len = cn_hpc_sparse_profile_value_size,
    .index_len = cn_hpc_sparse_profile_index_size,
    .align = 1,
    .metric_max = CN_HPC_SPARSE_METRIC_ID_MAX,
    .is_summary_last = true,
    .encode = encode,
    .put_end = put_end,
    .translate = translate,
};

static bool write_blocks(struct sparse_writer *p, uint32_t context_count,
                         struct cn_error *err)
{
    struct cn_hpc_value_job job = cn_hpc_sparse_job(p->w, context_count);
    uint64_t *totals[2] = {p->w->dropped_threads, p->w->dropped_summaries};
    size_t dropped_count = (size_t)p->w->workers * CN_HPC_SPARSE_ID_COUNT;

    for (size_t k = 0; k < 2; k++) {
        p->dropped[k] = cn_alloc(dropped_count, sizeof(*p->dropped[k]));
        cn_zero_ids_init(&p->zero_ids[k], &p->w->db->metrics, k == 1);
    }
    job.arg = p;
    job.is_left_out = p->is_left_out;
    bool ok = cn_hpc_profile_blocks_write(&job, &encoding, &p->out, p->blocks, err);
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; totals[k] && i < dropped_count; i++)
            totals[k][i % CN_HPC_SPARSE_ID_COUNT] += p->dropped[k][i];
        free(p->dropped[k]);
    }
    return ok;
}

static bool write_tuple(struct cn_out *out, const struct cn_identity_tuple *identity,
                        struct cn_error *err)
{
    struct cn_hpc_sparse_tuple tuple = {(uint16_t)identity->count};

    if (!CN_OUT_RECORD(out, cn_hpc_sparse_tuple, &tuple, err))
        return false;
    for (size_t i = 0; i < identity->count; i++) {
        const struct cn_identity *id = &identity->ids[i];
        struct cn_hpc_sparse_identity record = {
            .kind =
                (uint16_t)(id->kind | (id->is_physical ? 0 : CN_HPC_SPARSE_LOGICAL_ONLY)),
            .physical = id->physical,
            .logical = id->logical,
        };

        if (!CN_OUT_RECORD(out, cn_hpc_sparse_identity, &record, err))
            return false;
    }
    return true;
}

static bool write_tuples(struct sparse_writer *p, struct cn_error *err)
{
    static const struct cn_identity_tuple summary = {
        .count = 1,
        .ids = {{.kind = CN_HPC_SPARSE_KIND_SUMMARY, .is_physical = true}},
    };
    uint64_t lost_count = 0;

    for (uint32_t i = 0; i < p->w->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(p->w->db, i, &profile, err))
            return false;
        /* The format has one summary; another would look like a thread. */
        p->is_left_out[i] = i > 0 && profile.is_summary;
        lost_count += p->is_left_out[i];
        p->records[i].tuple_off = p->out.end_off;
        if (!write_tuple(&p->out, i == 0 ? &summary : &profile.identity, err))
            return false;
    }
    cn_write_lose(p->w->options, "summary profiles besides the first: values dropped",
                  lost_count);
    return true;
}

static bool write_records(struct sparse_writer *p, struct cn_error *err)
{
    size_t count = p->w->db->profile_count;
    uint8_t *bytes = cn_alloc(count, cn_hpc_sparse_profile_size);

    for (size_t i = 0; i < count; i++) {
        struct cn_hpc_sparse_profile *record = &p->records[i];

        record->value_count = p->blocks[i].value_count;
        record->context_count = p->blocks[i].context_count;
        record->block_off = p->blocks[i].values_off;
        cn_hpc_sparse_profile_encode(record, bytes + i * cn_hpc_sparse_profile_size);
    }
    bool ok = cn_out_write_at(&p->out, CN_HPC_SPARSE_HEADER_LEN, bytes,
                              count * cn_hpc_sparse_profile_size, err);
    free(bytes);
    return ok;
}

static bool write_file(struct sparse_writer *p, uint32_t context_count,
                       struct cn_error *err)
{
    const struct cn_hpc_sparse_kind *kind = &cn_hpc_sparse_profile_kind;
    uint8_t header[cn_hpc_sparse_profile_header_size];
    struct cn_hpc_sparse_profile_header tuples = {0};

    if (!cn_hpc_sparse_file_begin(&p->out, p->w, kind, p->w->db->profile_count, err))
        return false;
    tuples.tuples_off = p->out.end_off;
    if (!write_tuples(p, err))
        return false;
    tuples.tuples_len = p->out.end_off - tuples.tuples_off;
    if (!cn_out_pad(&p->out, CN_HPC_SPARSE_ALIGN, err) ||
        !write_blocks(p, context_count, err) || !write_records(p, err))
        return false;
    cn_hpc_sparse_profile_header_encode(&tuples, header);
    cn_hpc_sparse_header_fill(kind, CN_HPC_SPARSE_MAJOR, p->w->db->profile_count, header);
    return cn_hpc_sparse_file_end(&p->out, kind, header, err);
}

bool cn_hpc_sparse_profiles_write(const struct cn_hpc_sparse_writing *w,
                                  uint32_t context_count, struct cn_error *err)
{
    struct sparse_writer p = {.w = w};

    p.records = cn_alloc(w->db->profile_count, sizeof(*p.records));
    p.blocks = cn_alloc(w->db->profile_count, sizeof(*p.blocks));
    p.is_left_out = cn_alloc(w->db->profile_count, sizeof(*p.is_left_out));
    bool ok = write_file(&p, context_count, err) || cn_fail_in(err, "profile.db");
    cn_out_abandon(&p.out);
    free(p.records);
    free(p.blocks);
    free(p.is_left_out);
    return ok;
}
