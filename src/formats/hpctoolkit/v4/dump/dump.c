#include "formats/hpctoolkit/v4/dump/dump.h"

#include "base/files/file.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/v4/dump/meta.h"
#include "formats/hpctoolkit/v4/read/latency_reader.h"
#include "formats/hpctoolkit/v4/read/sections.h"
#include "formats/hpctoolkit/v4/read/states_reader.h"
#include "formats/hpctoolkit/v4/read/value_files.h"
#include "formats/hpctoolkit/v4/states_format.h"

static const struct cn_hpc_file_kind *const kinds[] = {
    &cn_hpc_meta_kind, &cn_hpc_profile_kind, &cn_hpc_cct_kind, &cn_hpc_trace_kind};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]), REQUIRED_COUNT = 2 };

static bool dump_profiles(struct cn_hpc_dump *dump, uint64_t section_off,
                          struct cn_error *err)
{
    struct cn_hpc_planes planes;

    return cn_hpc_v4_profiles_open(cn_content_of(dump->bytes), &planes, err) &&
           cn_hpc_dump_item(dump, &cn_hpc_profiles_header_layout, section_off, 0, NULL,
                            err) &&
           cn_hpc_dump_planes(dump,
                              planes.records.stride < cn_hpc_profile_size
                                  ? &cn_hpc_draft_profile_layout
                                  : &cn_hpc_profile_layout,
                              &planes, err);
}

static bool dump_cct(struct cn_hpc_dump *dump, uint64_t section_off, struct cn_error *err)
{
    struct cn_hpc_planes planes;

    return cn_hpc_v4_cct_open(cn_content_of(dump->bytes), &planes, err) &&
           cn_hpc_dump_item(dump, &cn_hpc_context_infos_header_layout, section_off, 0,
                            NULL, err) &&
           cn_hpc_dump_planes(dump, &cn_hpc_context_info_layout, &planes, err);
}

static bool dump_traces(struct cn_hpc_dump *dump, uint64_t section_off,
                        struct cn_error *err)
{
    struct cn_hpc_traces traces;

    return cn_hpc_v4_traces_open(cn_content_of(dump->bytes), &traces, err) &&
           cn_hpc_dump_item(dump, &cn_hpc_traces_header_layout, section_off, 0, NULL,
                            err) &&
           cn_hpc_dump_traces(dump, &cn_hpc_trace_layout, &cn_hpc_sample_layout, &traces,
                              err);
}

static bool dump_kind(struct cn_hpc_dump *dump, const struct cn_hpc_file_kind *kind,
                      struct cn_error *err)
{
    struct cn_hpc_sections sections;
    uint64_t off;

    if (!cn_hpc_file_is(dump->bytes, kind))
        return cn_fail(err, CN_ERR_FORMAT, "not a %s", kind->name);
    if (!cn_hpc_dump_item(dump, &cn_hpc_file_header_layout, 0, 0, NULL, err))
        return false;
    for (size_t i = 0; i < kind->section_count; i++)
        if (!cn_hpc_dump_item(dump, &cn_hpc_section_layout,
                              cn_hpc_file_header_size + i * cn_hpc_section_size, i,
                              kind->section[i], err))
            return false;
    if (!cn_hpc_sections_open(cn_content_of(dump->bytes), kind, &sections, err))
        return false;
    off = sections.list[0].off;
    if (kind == &cn_hpc_meta_kind)
        return cn_hpc_v4_dump_meta(dump, &sections, err);
    if (kind == &cn_hpc_profile_kind)
        return dump_profiles(dump, off, err);
    return kind == &cn_hpc_cct_kind ? dump_cct(dump, off, err)
                                    : dump_traces(dump, off, err);
}

bool cn_hpc_v4_dump_bytes(const struct cn_hpc_file_kind *kind, struct cn_bytes file,
                          cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_hpc_dump dump = {
        .emit = emit, .arg = arg, .file = kind->name, .bytes = file};

    return dump_kind(&dump, kind, err) || dump.is_stopped;
}

/* The structures of latency.db. Its tables are checked; a plane is, row by row. */
static bool dump_plane(struct cn_hpc_dump *dump, const struct cn_hpc_latency *latency,
                       uint32_t profile, struct cn_error *err)
{
    struct cn_hpc_latency_plane plane = cn_hpc_latency_plane(latency, profile);

    return cn_block_file_check(&latency->file, plane.counts, err) &&
           cn_block_file_check(&latency->file, plane.contexts, err) &&
           (plane.counts.len == 0 ||
            cn_hpc_dump_records(dump, &cn_hpc_latency_count_layout,
                                (uint64_t)(plane.counts.ptr - dump->bytes.ptr),
                                plane.count_count, err)) &&
           (plane.contexts.len == 0 ||
            cn_hpc_dump_records(dump, &cn_hpc_latency_context_layout,
                                (uint64_t)(plane.contexts.ptr - dump->bytes.ptr),
                                plane.context_count, err));
}

static bool dump_tables(struct cn_hpc_dump *dump, const struct cn_hpc_latency *latency,
                        struct cn_error *err)
{
    uint64_t profiles_off = (uint64_t)(latency->profiles.ptr - dump->bytes.ptr);

    if (!cn_hpc_dump_item(dump, &cn_block_file_header_layout, 0, 0, NULL, err) ||
        !cn_hpc_dump_records(dump, &cn_block_file_section_layout,
                             (uint64_t)(latency->file.table.ptr - dump->bytes.ptr),
                             latency->file.table.len / cn_block_file_section_size, err) ||
        !cn_hpc_dump_records(dump, &cn_hpc_latency_bucket_layout,
                             (uint64_t)(latency->buckets.ptr - dump->bytes.ptr),
                             latency->bucket_count, err))
        return false;
    for (uint32_t i = 0; i < latency->profile_count; i++)
        if (!cn_hpc_dump_item(dump, &cn_hpc_latency_profile_layout,
                              profiles_off + (uint64_t)i * cn_hpc_latency_profile_size, i,
                              NULL, err) ||
            !dump_plane(dump, latency, i, err))
            return false;
    return true;
}

static bool dump_latency(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_latency latency;
    bool ok;

    if (!cn_hpc_latency_open(&latency, dump->bytes, err))
        return false;
    ok = dump_tables(dump, &latency, err);
    cn_hpc_latency_close(&latency);
    return ok;
}

static bool dump_states(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_bytes profiles, changes;
    struct cn_block_file file;
    bool ok;

    if (!cn_hpc_states_open(&file, dump->bytes, &profiles, &changes, err))
        return false;
    ok = cn_hpc_dump_item(dump, &cn_block_file_header_layout, 0, 0, NULL, err) &&
         cn_hpc_dump_records(dump, &cn_block_file_section_layout,
                             (uint64_t)(file.table.ptr - dump->bytes.ptr),
                             file.table.len / cn_block_file_section_size, err) &&
         cn_hpc_dump_records(dump, &cn_hpc_states_profile_layout,
                             (uint64_t)(profiles.ptr - dump->bytes.ptr),
                             profiles.len / cn_hpc_states_profile_size, err) &&
         cn_hpc_dump_records(dump, &cn_hpc_states_change_layout,
                             (uint64_t)(changes.ptr - dump->bytes.ptr),
                             changes.len / cn_hpc_states_change_size, err);
    cn_block_file_close(&file);
    return ok;
}

/* The file of a directory that dump->file names. */
static bool dump_named(struct cn_hpc_dump *dump, struct cn_error *err)
{
    size_t i = 0;

    while (strcmp(kinds[i]->name, dump->file) != 0)
        i++;
    return dump_kind(dump, kinds[i], err);
}

static bool dump_latency_bytes(struct cn_bytes file, cn_dump_fn emit, void *arg,
                               struct cn_error *err)
{
    struct cn_hpc_dump dump = {
        .emit = emit, .arg = arg, .file = CN_HPC_LATENCY_NAME, .bytes = file};

    return dump_latency(&dump, err) || dump.is_stopped;
}

static bool dump_states_bytes(struct cn_bytes file, cn_dump_fn emit, void *arg,
                              struct cn_error *err)
{
    struct cn_hpc_dump dump = {
        .emit = emit, .arg = arg, .file = CN_HPC_STATES_NAME, .bytes = file};

    return dump_states(&dump, err) || dump.is_stopped;
}

static bool dump_file(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_file file = {0};
    size_t i = 0;
    bool ok;

    if (!cn_file_open(&file, path, err))
        return false;
    while (i < KIND_COUNT && !cn_hpc_file_is(file.bytes, kinds[i]))
        i++;
    ok = cn_hpc_latency_is(file.bytes)  ? dump_latency_bytes(file.bytes, emit, arg, err)
         : cn_hpc_states_is(file.bytes) ? dump_states_bytes(file.bytes, emit, arg, err)
         : i < KIND_COUNT
             ? cn_hpc_v4_dump_bytes(kinds[i], file.bytes, emit, arg, err)
             : cn_fail(err, CN_ERR_FORMAT, "not a file of an HPCToolkit v4 database");
    cn_file_close(&file);
    return ok || cn_fail_in(err, "%s", path);
}

bool cn_hpc_v4_dump(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_hpc_dump dump = {.emit = emit, .arg = arg};

    if (cn_hpc_is_file(path))
        return dump_file(path, emit, arg, err);
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (!cn_hpc_dump_file(&dump, path, kinds[i]->name, i >= REQUIRED_COUNT,
                              dump_named, err))
            return false;
    return cn_hpc_dump_file(&dump, path, CN_HPC_LATENCY_NAME, true, dump_latency, err) &&
           cn_hpc_dump_file(&dump, path, CN_HPC_STATES_NAME, true, dump_states, err);
}
