#include "formats/hpctoolkit/sparse/writer.h"

#include <assert.h>

#include "formats/hpctoolkit/sparse/file_writer.h"
#include "formats/hpctoolkit/values/cct_blocks.h"
#include "model/contexts/database.h"
#include "model/format.h"

bool cn_hpc_sparse_file_begin(struct cn_out *out, const struct cn_hpc_sparse_writing *w,
                              const struct cn_hpc_sparse_kind *kind, uint32_t count,
                              struct cn_error *err)
{
    uint64_t off;

    return cn_out_open_at(out, w->dir, kind->name, err) &&
           cn_out_reserve(out,
                          CN_HPC_SPARSE_HEADER_LEN + (uint64_t)count * kind->record_len,
                          &off, err) &&
           cn_out_pad(out, CN_HPC_SPARSE_ALIGN, err);
}

void cn_hpc_sparse_header_fill(const struct cn_hpc_sparse_kind *kind, uint8_t major,
                               uint32_t count, uint8_t *header)
{
    struct cn_hpc_sparse_header head = {
        .major = major,
        .count = count,
        .section_count = kind->section_count,
        .infos_len = (uint64_t)count * kind->record_len,
        .infos_off = CN_HPC_SPARSE_HEADER_LEN,
    };

    cn_hpc_sparse_header_encode(&head, header);
    memcpy(header, kind->magic, CN_HPC_SPARSE_MAGIC_LEN);
}

bool cn_hpc_sparse_file_end(struct cn_out *out, const struct cn_hpc_sparse_kind *kind,
                            const uint8_t *header, struct cn_error *err)
{
    return cn_out_write_at(out, 0, header, kind->header_len, err) &&
           (!kind->footer ||
            cn_out_write(out, kind->footer, CN_HPC_SPARSE_FOOTER_LEN, err)) &&
           cn_out_close(out, err);
}

bool cn_hpc_sparse_write(const struct cn_hpc_sparse_writing *w, struct cn_error *err)
{
    uint32_t context_count;

    assert(cn_hpc_metric_ids_are_ordered(&w->threads) &&
           cn_hpc_metric_ids_are_ordered(&w->summaries));
    if (w->db->profile_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no profile: the first must be the summary");
    cn_write_lose(w->options, "changes of states of threads",
                  cn_database_state_count(w->db));
    cn_write_lose(w->options, "launches of GPU work", w->db->launch_count);
    return cn_hpc_cct_count(w->db, w->listed_count + 1, w->largest_listed, &context_count,
                            err) &&
           cn_hpc_sparse_profiles_write(w, context_count, err) &&
           cn_hpc_sparse_cct_write(w, context_count, err) &&
           (w->options->without_timelines || cn_hpc_sparse_traces_write(w, err));
}
