#include "formats/hpctoolkit/sparse/writer.h"

#include <inttypes.h>

#include "formats/hpctoolkit/sparse/file_writer.h"
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

/* cct.db has a record for every id below the largest, used or not. */
static bool count_contexts(const struct cn_hpc_sparse_writing *w, uint32_t *out,
                           struct cn_error *err)
{
    uint64_t known = w->listed_count + 1;
    uint64_t count = (uint64_t)w->largest_listed + 1;

    if (count < w->db->context_limit)
        count = w->db->context_limit;
    for (uint32_t i = 0; i < w->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(w->db, i, &profile, err))
            return false;
        known += profile.context_count;
    }
    if (count > UINT32_MAX || count / CN_HPC_SPARSE_SPREAD_MAX > known)
        return cn_fail(err, CN_ERR_LIMIT,
                       "context ids up to %" PRIu64 " for %" PRIu64 " contexts",
                       count - 1, known);
    *out = (uint32_t)count;
    return true;
}

bool cn_hpc_sparse_write(const struct cn_hpc_sparse_writing *w, struct cn_error *err)
{
    uint32_t context_count;

    if (w->db->profile_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no profile: the first must be the summary");
    return count_contexts(w, &context_count, err) &&
           cn_hpc_sparse_profiles_write(w, context_count, err) &&
           cn_hpc_sparse_cct_write(w, context_count, err) &&
           (w->options->without_timelines || cn_hpc_sparse_traces_write(w, err));
}
