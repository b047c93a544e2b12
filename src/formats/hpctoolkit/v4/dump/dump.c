#include "formats/hpctoolkit/v4/dump/dump.h"

#include "formats/hpctoolkit/meta/verify.h"
#include "formats/hpctoolkit/v4/read/latency_reader.h"
#include "formats/hpctoolkit/v4/read/meta.h"
#include "formats/hpctoolkit/v4/read/states_reader.h"
#include "formats/hpctoolkit/v4/read/value_files.h"
#include "formats/hpctoolkit/v4/states_format.h"
#include "formats/hpctoolkit/values/dump.h"

/* The header and the headers of sections. */
static bool dump_frame(struct cn_hpc_dump *dump, const struct cn_hpc_file_kind *kind,
                       struct cn_hpc_sections *sections, struct cn_error *err)
{
    if (!cn_hpc_file_is(dump->bytes, kind))
        return cn_fail(err, CN_ERR_FORMAT, "not a %s", kind->name);
    if (!cn_hpc_dump_item(dump, &cn_hpc_file_header_layout, 0, 0, NULL, err))
        return false;
    for (size_t i = 0; i < kind->section_count; i++)
        if (!cn_hpc_dump_item(dump, &cn_hpc_section_layout,
                              cn_hpc_file_header_size + i * cn_hpc_section_size, i,
                              kind->section[i], err))
            return false;
    return cn_hpc_sections_open(cn_content_of(dump->bytes), kind, sections, err);
}

bool cn_hpc_v4_dump_meta(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_sections sections;
    struct cn_hpc_meta meta;

    if (!dump_frame(dump, &cn_hpc_meta_kind, &sections, err))
        return false;
    meta = cn_hpc_v4_meta(&sections);
    return cn_hpc_meta_dump(dump, &meta, err);
}

/* The frame of a value file, and the header of its records. */
static bool dump_head(struct cn_hpc_dump *dump, const struct cn_hpc_file_kind *kind,
                      struct cn_error *err)
{
    struct cn_hpc_sections sections;

    return dump_frame(dump, kind, &sections, err) &&
           cn_hpc_dump_item(dump, kind->head, sections.list[0].off, 0, NULL, err);
}

static bool dump_planes(struct cn_hpc_dump *dump, const struct cn_hpc_file_kind *kind,
                        struct cn_error *err)
{
    struct cn_hpc_planes planes;

    return dump_head(dump, kind, err) &&
           cn_hpc_v4_planes_open(cn_content_of(dump->bytes), kind, &planes, err) &&
           cn_hpc_dump_planes(dump, &planes, err);
}

bool cn_hpc_v4_dump_profile(struct cn_hpc_dump *dump, struct cn_error *err)
{
    return dump_planes(dump, &cn_hpc_profile_kind, err);
}

bool cn_hpc_v4_dump_cct(struct cn_hpc_dump *dump, struct cn_error *err)
{
    return dump_planes(dump, &cn_hpc_cct_kind, err);
}

bool cn_hpc_v4_dump_trace(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_traces traces;

    return dump_head(dump, &cn_hpc_trace_kind, err) &&
           cn_hpc_v4_traces_open(cn_content_of(dump->bytes), &traces, err) &&
           cn_hpc_dump_traces(dump, &traces, err);
}

/* The header of a file of blocks, and its table of sections. */
static bool dump_blocks(struct cn_hpc_dump *dump, const struct cn_block_file *file,
                        struct cn_error *err)
{
    return cn_hpc_dump_item(dump, &cn_block_file_header_layout, 0, 0, NULL, err) &&
           cn_hpc_dump_part(dump, &cn_block_file_section_layout, file->table, err);
}

static bool dump_latency_profile(struct cn_hpc_dump *dump,
                                 const struct cn_hpc_latency *latency, uint32_t profile,
                                 struct cn_error *err)
{
    struct cn_hpc_latency_plane plane = cn_hpc_latency_plane(latency, profile);
    uint64_t off = (uint64_t)(latency->profiles.ptr - dump->bytes.ptr) +
                   (uint64_t)profile * cn_hpc_latency_profile_size;

    return cn_hpc_dump_item(dump, &cn_hpc_latency_profile_layout, off, profile, NULL,
                            err) &&
           cn_block_file_check(&latency->file, plane.counts, err) &&
           cn_block_file_check(&latency->file, plane.contexts, err) &&
           cn_hpc_dump_part(dump, &cn_hpc_latency_count_layout, plane.counts, err) &&
           cn_hpc_dump_part(dump, &cn_hpc_latency_context_layout, plane.contexts, err);
}

static bool dump_latency(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_latency latency;
    bool ok;

    if (!cn_hpc_latency_open(&latency, dump->bytes, err))
        return false;
    ok = dump_blocks(dump, &latency.file, err) &&
         cn_hpc_dump_part(dump, &cn_hpc_latency_bucket_layout, latency.buckets, err);
    for (uint32_t i = 0; ok && i < latency.profile_count; i++)
        ok = dump_latency_profile(dump, &latency, i, err);
    cn_hpc_latency_close(&latency);
    return ok;
}

static bool dump_states(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_states_file file;

    if (!cn_hpc_states_open(&file, dump->bytes, false, err))
        return false;
    bool ok =
        dump_blocks(dump, &file.blocks, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_profile_layout, file.profiles, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_change_layout, file.changes, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_profile_layout, file.run_profiles, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_run_layout, file.runs, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_wakeup_layout, file.wakeups, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_context_layout, file.contexts, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_waker_layout, file.wakers, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_heap_process_layout, file.heap_processes,
                         err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_heap_change_layout, file.heap_changes,
                         err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_heap_tick_layout, file.heap_tick, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_io_call_layout, file.io_calls, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_lock_layout, file.locks, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_lock_wait_layout, file.lock_waits, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_launch_layout, file.launches, err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_gpu_memory_layout, file.gpu_memories,
                         err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_heap_change_layout, file.gpu_changes,
                         err) &&
        cn_hpc_dump_part(dump, &cn_hpc_states_heap_tick_layout, file.gpu_tick, err);
    cn_block_file_close(&file.blocks);
    return ok;
}

static bool is_meta(struct cn_bytes file)
{
    return cn_hpc_file_is(file, &cn_hpc_meta_kind);
}

static bool is_profile(struct cn_bytes file)
{
    return cn_hpc_file_is(file, &cn_hpc_profile_kind);
}

static bool is_cct(struct cn_bytes file)
{
    return cn_hpc_file_is(file, &cn_hpc_cct_kind);
}

static bool is_trace(struct cn_bytes file)
{
    return cn_hpc_file_is(file, &cn_hpc_trace_kind);
}

static const struct cn_hpc_dump_kind kinds[] = {
    {"meta.db", is_meta, cn_hpc_v4_dump_meta, false},
    {"profile.db", is_profile, cn_hpc_v4_dump_profile, false},
    {"cct.db", is_cct, cn_hpc_v4_dump_cct, true},
    {"trace.db", is_trace, cn_hpc_v4_dump_trace, true},
    {CN_HPC_LATENCY_NAME, cn_hpc_latency_is, dump_latency, true},
    {CN_HPC_STATES_NAME, cn_hpc_states_is, dump_states, true},
};

bool cn_hpc_v4_dump(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    return cn_hpc_dump_path(path, kinds, sizeof(kinds) / sizeof(*kinds), emit, arg, err);
}
