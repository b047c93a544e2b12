/* cct.db: header, a record for each context, then a block for each context with values:
 * the values and their index. Blocks start at multiples of 4. */
#include "formats/hpctoolkit/v4/write/writing.h"
#include "formats/hpctoolkit/values/cct_blocks.h"

static void encode_index(uint16_t metric, uint64_t start, uint8_t *at)
{
    struct cn_hpc_context_index index = {metric, start};

    cn_hpc_context_index_encode(&index, at);
}

static size_t encode_block(void *arg, unsigned worker, struct cn_value_batch plane,
                           uint8_t *at, struct cn_hpc_cct_block *block)
{
    uint8_t *value_at = at, *index_at = at + plane.count * cn_hpc_context_value_size;

    (void)arg, (void)worker;
    block->value_count = plane.count;
    block->index_off = plane.count * cn_hpc_context_value_size;
    for (size_t i = 0; i < plane.count; i++) {
        const struct cn_value *value = &plane.values[i];
        struct cn_hpc_context_value record = {value->key, value->value};

        if (i == 0 || value->metric != plane.values[i - 1].metric) {
            encode_index(value->metric, i, index_at);
            index_at += cn_hpc_context_index_size;
            block->metric_count++;
        }
        cn_hpc_context_value_encode(&record, value_at);
        value_at += cn_hpc_context_value_size;
    }
    return (size_t)(index_at - at);
}

static void encode_values(const struct cn_placed_value *values, size_t count,
                          const uint64_t *offs, uint64_t from, uint8_t *bytes)
{
    for (size_t i = 0; i < count; i++) {
        const struct cn_placed_value *value = &values[i];
        struct cn_hpc_context_value record = {value->profile, value->value};

        cn_hpc_context_value_encode(&record,
                                    bytes + (offs[value->context] - from) +
                                        (size_t)value->index * cn_hpc_context_value_size);
    }
}

static void encode_record(const struct cn_hpc_cct_block *block, uint8_t *at)
{
    struct cn_hpc_context_info info = {
        .value_count = block->value_count,
        .values_off = block->values_off,
        .metric_count = block->metric_count,
        .index_off = block->index_off,
    };

    cn_hpc_context_info_encode(&info, at);
}

static const struct cn_hpc_cct_encoding encoding = {
    .value_len = cn_hpc_context_value_size,
    .index_len = cn_hpc_context_index_size,
    .record_len = cn_hpc_context_info_size,
    .align = 4,
    .block = encode_block,
    .values = encode_values,
    .index = encode_index,
    .record = encode_record,
};

/* Where the section is, and the records in it. */
static struct cn_hpc_section section_of(const struct cn_hpc_writing *w,
                                        struct cn_hpc_context_infos_header *head)
{
    uint64_t head_len = cn_align_up(cn_hpc_context_infos_header_size, 8);
    struct cn_hpc_section section = {
        .off = cn_hpc_header_len(CN_HPC_CCT_SECTION_COUNT),
        .len = head_len + (uint64_t)w->context_count * cn_hpc_context_info_size,
    };

    *head = (struct cn_hpc_context_infos_header){
        .infos_off = section.off + head_len,
        .context_count = w->context_count,
        .info_len = cn_hpc_context_info_size,
    };
    return section;
}

bool cn_hpc_cct_write(const struct cn_hpc_writing *w, struct cn_out *out,
                      struct cn_error *err)
{
    struct cn_hpc_value_job job = cn_hpc_writing_job(w);
    struct cn_hpc_context_infos_header head;
    struct cn_hpc_section section = section_of(w, &head);

    return cn_out_reserve(out, section.len, &section.off, err) &&
           cn_hpc_cct_blocks_write(&job, &encoding, out, head.infos_off, err);
}

bool cn_hpc_cct_end(const struct cn_hpc_writing *w, struct cn_out *out,
                    struct cn_error *err)
{
    struct cn_hpc_value_job job = cn_hpc_writing_job(w);
    struct cn_hpc_context_infos_header head;
    struct cn_hpc_section section = section_of(w, &head);
    uint8_t bytes[cn_hpc_context_infos_header_size];

    cn_hpc_context_infos_header_encode(&head, bytes);
    return cn_hpc_cct_blocks_end(&job, &encoding, out, head.infos_off, err) &&
           cn_out_write_at(out, section.off, bytes, sizeof(bytes), err) &&
           cn_hpc_file_end(out, CN_HPC_CCT_FORMAT, CN_HPC_CCT_FOOTER, &section,
                           CN_HPC_CCT_SECTION_COUNT, err);
}
