/* profile.db: header, profile records, identity tuples, then a block for each profile:
 * values, and their index at a multiple of 4. */
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/v4/write/writing.h"
#include "formats/hpctoolkit/values/profile_blocks.h"

struct v4_profile_writer {
    const struct cn_hpc_writing *w;
    struct cn_out *out;
    struct cn_hpc_profile *records;
    struct cn_hpc_profile_block *blocks;
};

static void put_value(const struct cn_value *value, uint8_t *at)
{
    struct cn_hpc_profile_value record = {value->metric, value->value};

    cn_hpc_profile_value_encode(&record, at);
}

static void put_index(uint32_t context, uint64_t start, uint8_t *at)
{
    struct cn_hpc_profile_index index = {context, start};

    cn_hpc_profile_index_encode(&index, at);
}

static size_t encode(struct cn_hpc_plane_bytes *plane, const struct cn_value *values,
                     size_t count)
{
    return cn_hpc_plane_encode(plane, values, count, cn_hpc_profile_value_size,
                               cn_hpc_profile_index_size, put_value, put_index);
}

static const struct cn_hpc_profile_encoding encoding = {
    .value_len = cn_hpc_profile_value_size,
    .index_len = cn_hpc_profile_index_size,
    .align = 4,
    .metric_max = CN_HPC_METRIC_ID_MAX,
    .encode = encode,
};

static bool write_tuple(struct cn_out *out, const struct cn_identity_tuple *identity,
                        struct cn_error *err)
{
    struct cn_hpc_tuple tuple = {(uint16_t)identity->count};

    if (!CN_OUT_RECORD(out, cn_hpc_tuple, &tuple, err))
        return false;
    for (size_t i = 0; i < identity->count; i++) {
        const struct cn_identity *id = &identity->ids[i];
        struct cn_hpc_identity record = {
            .kind = id->kind,
            .flags = id->is_physical ? CN_HPC_IS_PHYSICAL : 0,
            .logical = id->logical,
            .physical = id->physical,
        };

        if (!CN_OUT_RECORD(out, cn_hpc_identity, &record, err))
            return false;
    }
    return true;
}

static bool write_tuples(struct v4_profile_writer *p, struct cn_error *err)
{
    for (uint32_t i = 0; i < p->w->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(p->w->db, i, &profile, err))
            return false;
        if (i == 0 || profile.is_summary)
            p->records[i].flags = CN_HPC_IS_SUMMARY;
        /* Readers recognise the summary over all threads by its missing tuple. */
        if (i == 0)
            continue;
        p->records[i].tuple_off = p->out->end_off;
        if (!write_tuple(p->out, &profile.identity, err))
            return false;
    }
    return true;
}

static bool write_records(struct v4_profile_writer *p,
                          const struct cn_hpc_profiles_header *header,
                          const struct cn_hpc_section *infos, struct cn_error *err)
{
    uint8_t *bytes = cn_alloc((size_t)infos->len, 1);
    size_t at = (size_t)(header->profiles_off - infos->off);

    cn_hpc_profiles_header_encode(header, bytes);
    for (uint32_t i = 0; i < header->profile_count; i++) {
        struct cn_hpc_profile *record = &p->records[i];

        record->value_count = p->blocks[i].value_count;
        record->values_off = p->blocks[i].values_off;
        record->context_count = p->blocks[i].context_count;
        record->index_off = p->blocks[i].index_off;
        cn_hpc_profile_encode(record, bytes + at + i * cn_hpc_profile_size);
    }
    bool ok = cn_out_write_at(p->out, infos->off, bytes, (size_t)infos->len, err);
    free(bytes);
    return ok;
}

bool cn_hpc_tuples_measure(struct cn_database *db, uint64_t *len, struct cn_error *err)
{
    *len = 0;
    if (db->profile_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no profile: the first must be the summary");
    for (uint32_t i = 1; i < db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(db, i, &profile, err))
            return false;
        *len += cn_hpc_tuple_size + profile.identity.count * cn_hpc_identity_size;
    }
    return true;
}

static bool write_file(struct v4_profile_writer *p, struct cn_error *err)
{
    struct cn_hpc_section sections[CN_HPC_PROFILE_SECTION_COUNT] = {0};
    struct cn_hpc_section *infos = &sections[CN_HPC_PROFILE_INFOS];
    struct cn_hpc_section *tuples = &sections[CN_HPC_ID_TUPLES];
    struct cn_hpc_profiles_header header = {
        .profile_count = p->w->db->profile_count,
        .profile_len = cn_hpc_profile_size,
    };
    struct cn_hpc_value_job job = cn_hpc_writing_job(p->w);
    uint64_t head_len = cn_align_up(cn_hpc_profiles_header_size, 8);

    infos->len = head_len + (uint64_t)header.profile_count * cn_hpc_profile_size;
    tuples->len = p->w->tuples_len;
    if (!cn_out_reserve(p->out, infos->len, &infos->off, err))
        return false;
    header.profiles_off = infos->off + head_len;
    tuples->off = p->out->end_off;
    if (!(p->w->is_first ? write_tuples(p, err)
                         : cn_out_reserve(p->out, tuples->len, &tuples->off, err)) ||
        !cn_hpc_profile_blocks_write(&job, &encoding, p->out, p->blocks, err))
        return false;
    return !p->w->is_first ||
           (write_records(p, &header, infos, err) &&
            cn_hpc_file_end(p->out, CN_HPC_PROFILE_FORMAT, CN_HPC_PROFILE_FOOTER,
                            sections, CN_HPC_PROFILE_SECTION_COUNT, err));
}

bool cn_hpc_profiles_write(const struct cn_hpc_writing *w, struct cn_out *out,
                           struct cn_error *err)
{
    struct v4_profile_writer p = {
        .w = w,
        .out = out,
        .records = cn_alloc(w->db->profile_count, sizeof(*p.records)),
        .blocks = cn_alloc(w->db->profile_count, sizeof(*p.blocks)),
    };
    bool ok = write_file(&p, err);

    free(p.records);
    free(p.blocks);
    return ok;
}
