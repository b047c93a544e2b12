#include "support/tiny_v4_parts.h"

static void put_tuple(const struct cn_tiny_builder *b, uint32_t profile)
{
    struct cn_text *to = &b->tiny->profile;
    uint16_t noise = b->options.has_garbage ? 0xfffe : 0;
    const struct cn_hpc_identity ids[] = {
        {1, noise | CN_HPC_IS_PHYSICAL, 0, 0x7f0101},
        {3, noise, profile - 1, profile - 1},
    };
    uint8_t tuple[cn_hpc_tuple_size], id[cn_hpc_identity_size];

    cn_hpc_tuple_encode(&(struct cn_hpc_tuple){2}, tuple);
    b->tiny->tuple_off[profile] = cn_tiny_put(b, to, &cn_hpc_tuple_layout, tuple, 0);
    for (size_t i = 0; i < 2; i++) {
        cn_hpc_identity_encode(&ids[i], id);
        (void)cn_tiny_put(b, to, &cn_hpc_identity_layout, id, 0);
    }
}

/* The values of a profile and its index; counts go into the record. */
static void put_plane(const struct cn_tiny_builder *b, uint32_t profile,
                      struct cn_hpc_profile *record)
{
    struct cn_text *to = &b->tiny->profile;
    struct cn_hpc_profile_index index[CN_TINY_CONTEXTS];
    uint8_t value[cn_hpc_profile_value_size], entry[cn_hpc_profile_index_size];
    uint64_t start;

    cn_tiny_pad(to, 4);
    record->values_off = b->tiny->values_off[profile] = to->len;
    for (uint32_t c = 0; c < CN_TINY_CONTEXTS; c++) {
        start = record->value_count;
        for (size_t i = 0; i < CN_TINY_IDS; i++) {
            if (!cn_tiny_v4_has(profile, c, cn_tiny_metric_ids[i]))
                continue;
            cn_hpc_profile_value_encode(
                &(struct cn_hpc_profile_value){
                    cn_tiny_metric_ids[i],
                    cn_tiny_v4_value(profile, c, cn_tiny_metric_ids[i])},
                value);
            (void)cn_tiny_put(b, to, &cn_hpc_profile_value_layout, value, 0);
            record->value_count++;
        }
        if (record->value_count > start)
            index[record->context_count++] = (struct cn_hpc_profile_index){c, start};
    }
    cn_tiny_pad(to, 4);
    record->index_off = b->tiny->index_off[profile] = to->len;
    for (uint32_t i = 0; i < record->context_count; i++) {
        cn_hpc_profile_index_encode(&index[i], entry);
        (void)cn_tiny_put(b, to, &cn_hpc_profile_index_layout, entry, 0);
    }
}

static void put_record(const struct cn_tiny_builder *b, uint32_t profile,
                       const struct cn_hpc_profile *record)
{
    uint8_t final[cn_hpc_profile_size], draft[cn_hpc_draft_profile_size];

    cn_hpc_profile_encode(record, final);
    cn_hpc_draft_profile_encode(
        &(struct cn_hpc_draft_profile){record->value_count, record->values_off,
                                       record->context_count, record->index_off,
                                       record->tuple_off},
        draft);
    if (b->options.layout == CN_TINY_FINAL)
        cn_tiny_put_at(b, &b->tiny->profile, &cn_hpc_profile_layout, final,
                       b->tiny->profile_off[profile]);
    else
        cn_tiny_put_at(b, &b->tiny->profile, &cn_hpc_draft_profile_layout, draft,
                       b->tiny->profile_off[profile]);
}

void cn_tiny_put_profiles(const struct cn_tiny_builder *b)
{
    struct cn_text *to = &b->tiny->profile;
    uint8_t head[cn_hpc_profiles_header_size];
    size_t stride = b->options.layout == CN_TINY_FINAL
                        ? cn_hpc_profile_size + b->options.grow
                        : (size_t)cn_hpc_draft_profile_size;
    uint32_t noise = b->options.has_garbage ? ~UINT32_C(1) : 0;
    uint64_t off, tuples_off;

    cn_tiny_put_head(b, to, CN_HPC_PROFILE_FORMAT, CN_HPC_PROFILE_SECTION_COUNT);
    off = cn_tiny_reserve(b, to, cn_hpc_profiles_header_size);
    for (uint32_t p = 0; p < CN_TINY_PROFILES; p++) {
        b->tiny->profile_off[p] = to->len;
        cn_text_fill(to, '\0', stride);
    }
    cn_hpc_profiles_header_encode(
        &(struct cn_hpc_profiles_header){b->tiny->profile_off[0], CN_TINY_PROFILES,
                                         (uint8_t)stride},
        head);
    cn_tiny_put_at(b, to, &cn_hpc_profiles_header_layout, head, off);
    cn_tiny_end_section(to, CN_HPC_PROFILE_INFOS, off);
    tuples_off = to->len;
    for (uint32_t p = 1; p < CN_TINY_PROFILES; p++)
        put_tuple(b, p);
    cn_tiny_end_section(to, CN_HPC_ID_TUPLES, tuples_off);
    for (uint32_t p = 0; p < CN_TINY_PROFILES; p++) {
        struct cn_hpc_profile record = {.tuple_off = b->tiny->tuple_off[p],
                                        .flags = noise | (p == 0)};

        put_plane(b, p, &record);
        put_record(b, p, &record);
    }
    cn_tiny_pad(to, 8);
    cn_text_add(to, CN_HPC_PROFILE_FOOTER, CN_HPC_FOOTER_LEN);
}

static void put_context_plane(const struct cn_tiny_builder *b, uint32_t context,
                              struct cn_hpc_context_info *record)
{
    struct cn_text *to = &b->tiny->cct;
    struct cn_hpc_context_index index[CN_TINY_IDS];
    uint8_t value[cn_hpc_context_value_size], entry[cn_hpc_context_index_size];

    cn_tiny_pad(to, 4);
    record->values_off = b->tiny->context_values_off[context] = to->len;
    for (size_t i = 0; i < CN_TINY_IDS; i++) {
        uint64_t start = record->value_count;

        for (uint32_t p = 1; p < CN_TINY_PROFILES; p++) {
            if (!cn_tiny_v4_has(p, context, cn_tiny_metric_ids[i]))
                continue;
            cn_hpc_context_value_encode(
                &(struct cn_hpc_context_value){
                    p, cn_tiny_v4_value(p, context, cn_tiny_metric_ids[i])},
                value);
            (void)cn_tiny_put(b, to, &cn_hpc_context_value_layout, value, 0);
            record->value_count++;
        }
        if (record->value_count > start)
            index[record->metric_count++] =
                (struct cn_hpc_context_index){cn_tiny_metric_ids[i], start};
    }
    record->index_off = b->tiny->context_index_off[context] = to->len;
    for (uint32_t i = 0; i < record->metric_count; i++) {
        cn_hpc_context_index_encode(&index[i], entry);
        (void)cn_tiny_put(b, to, &cn_hpc_context_index_layout, entry, 0);
    }
}

void cn_tiny_put_cct(const struct cn_tiny_builder *b)
{
    struct cn_text *to = &b->tiny->cct;
    uint8_t head[cn_hpc_context_infos_header_size], bytes[cn_hpc_context_info_size];
    size_t stride = cn_hpc_context_info_size + b->options.grow;
    uint64_t off;

    cn_tiny_put_head(b, to, CN_HPC_CCT_FORMAT, CN_HPC_CCT_SECTION_COUNT);
    off = cn_tiny_reserve(b, to, cn_hpc_context_infos_header_size);
    for (uint32_t c = 0; c < CN_TINY_CONTEXTS; c++) {
        b->tiny->info_off[c] = to->len;
        cn_text_fill(to, '\0', stride);
    }
    cn_hpc_context_infos_header_encode(
        &(struct cn_hpc_context_infos_header){b->tiny->info_off[0], CN_TINY_CONTEXTS,
                                              (uint8_t)stride},
        head);
    cn_tiny_put_at(b, to, &cn_hpc_context_infos_header_layout, head, off);
    cn_tiny_end_section(to, CN_HPC_CONTEXT_INFOS, off);
    for (uint32_t c = 0; c < CN_TINY_CONTEXTS; c++) {
        struct cn_hpc_context_info record = {0};

        put_context_plane(b, c, &record);
        cn_hpc_context_info_encode(&record, bytes);
        cn_tiny_put_at(b, to, &cn_hpc_context_info_layout, bytes, b->tiny->info_off[c]);
    }
    cn_tiny_pad(to, 8);
    cn_text_add(to, CN_HPC_CCT_FOOTER, CN_HPC_FOOTER_LEN);
}

void cn_tiny_put_traces(const struct cn_tiny_builder *b)
{
    static const struct cn_hpc_sample samples[CN_TINY_SAMPLES] = {
        {1000, 5}, {2000, 0}, {3000, 3}};
    struct cn_text *to = &b->tiny->trace;
    uint8_t head[cn_hpc_traces_header_size], bytes[cn_hpc_trace_size],
        sample[cn_hpc_sample_size];
    size_t stride = cn_hpc_trace_size + b->options.grow;
    uint64_t off;

    cn_tiny_put_head(b, to, CN_HPC_TRACE_FORMAT, CN_HPC_TRACE_SECTION_COUNT);
    off = cn_tiny_reserve(b, to, cn_hpc_traces_header_size);
    for (uint32_t p = 1; p < CN_TINY_PROFILES; p++) {
        b->tiny->trace_off[p - 1] = to->len;
        cn_text_fill(to, '\0', stride);
    }
    cn_hpc_traces_header_encode(
        &(struct cn_hpc_traces_header){b->tiny->trace_off[0], CN_TINY_PROFILES - 1,
                                       (uint8_t)stride, 1000, 3000},
        head);
    cn_tiny_put_at(b, to, &cn_hpc_traces_header_layout, head, off);
    cn_tiny_end_section(to, CN_HPC_TRACES, off);
    cn_tiny_pad(to, 8);
    b->tiny->samples_off = to->len;
    for (size_t i = 0; i < CN_TINY_SAMPLES; i++) {
        cn_hpc_sample_encode(&samples[i], sample);
        (void)cn_tiny_put(b, to, &cn_hpc_sample_layout, sample, 0);
    }
    for (uint32_t p = 1; p < CN_TINY_PROFILES; p++) {
        cn_hpc_trace_encode(
            &(struct cn_hpc_trace){p, p == 1 ? b->tiny->samples_off : to->len, to->len},
            bytes);
        cn_tiny_put_at(b, to, &cn_hpc_trace_layout, bytes, b->tiny->trace_off[p - 1]);
    }
    cn_tiny_pad(to, 8);
    cn_text_add(to, CN_HPC_TRACE_FOOTER, CN_HPC_FOOTER_LEN);
}
