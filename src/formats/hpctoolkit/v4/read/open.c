#include "formats/hpctoolkit/v4/read/open.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/hpctoolkit/metrics_yaml.h"
#include "formats/hpctoolkit/v4/format.h"
#include "formats/hpctoolkit/v4/read/meta.h"
#include "formats/hpctoolkit/v4/read/states_reader.h"
#include "formats/hpctoolkit/v4/read/value_files.h"
#include "formats/hpctoolkit/v4/states_format.h"

void cn_hpc_v4_files_init(struct cn_hpc_v4_files *files, const struct cn_hpc_maps *maps)
{
    *files = (struct cn_hpc_v4_files){
        .meta = maps->file[CN_HPC_TREE_FILE].bytes,
        .profile = maps->file[CN_HPC_PROFILE_FILE].bytes,
        .cct = maps->file[CN_HPC_CCT_FILE].bytes,
        .trace = maps->file[CN_HPC_TRACE_FILE].bytes,
        .latency = maps->file[CN_HPC_LATENCY_FILE].bytes,
        .states = maps->file[CN_HPC_STATES_FILE].bytes,
        .origin = maps->file[CN_HPC_ORIGIN_FILE].bytes,
        .profile_ranges = maps->file[CN_HPC_PROFILE_FILE].ranges,
        .cct_ranges = maps->file[CN_HPC_CCT_FILE].ranges,
        .trace_ranges = maps->file[CN_HPC_TRACE_FILE].ranges,
        .has_cct = cn_file_is_open(&maps->file[CN_HPC_CCT_FILE]),
        .has_trace = cn_file_is_open(&maps->file[CN_HPC_TRACE_FILE]),
        .has_latency = cn_file_is_open(&maps->file[CN_HPC_LATENCY_FILE]),
        .has_states = cn_file_is_open(&maps->file[CN_HPC_STATES_FILE]),
        .is_mapped = true,
    };
}

static void close_database(struct cn_database *db)
{
    cn_hpc_latency_close(&cn_hpc_v4_of(db)->latency);
    cn_hpc_database_close(db);
}

static bool open_meta(struct cn_hpc_v4 *v4, struct cn_bytes file, struct cn_error *err)
{
    struct cn_hpc_sections sections;

    if (!cn_hpc_sections_open(cn_content_of(file), &cn_hpc_meta_kind, &sections, err))
        return cn_fail_in(err, "meta.db");
    v4->tree.meta = cn_hpc_v4_meta(&sections);
    return cn_hpc_meta_database_open(&v4->tree, err);
}

static bool open_values(struct cn_hpc_v4 *v4, const struct cn_hpc_v4_files *files,
                        struct cn_error *err)
{
    struct cn_content cct = cn_content_in(files->cct, files->cct_ranges);
    struct cn_content trace = cn_content_in(files->trace, files->trace_ranges);
    struct cn_hpc_values *values = &v4->tree.database.values;
    struct cn_database *db = &v4->tree.database.base;
    struct cn_error damage;

    if (!cn_hpc_v4_planes_open(cn_content_in(files->profile, files->profile_ranges),
                               &cn_hpc_profile_kind, &values->profiles, err))
        return cn_fail_in(err, "profile.db");
    values->has_cct = files->has_cct &&
                      cn_hpc_v4_planes_open(cct, &cn_hpc_cct_kind, &values->cct, &damage);
    values->context_limit = values->cct.records.count;
    values->idle_context = v4->tree.idle;
    if (!values->has_cct) {
        cn_database_warn(db, files->has_cct, "cct.db: %s; no values by context",
                         files->has_cct ? damage.text : "does not exist");
        if (!cn_hpc_values_limit(values, db->context_weight / cn_hpc_draft_context_size,
                                 err))
            return false;
    }
    if (files->has_trace)
        cn_hpc_values_add_traces(
            values, db,
            cn_hpc_v4_traces_open(trace, &values->traces, &values->trace_damage));
    db->profile_count = values->profiles.records.count;
    db->context_limit = values->context_limit;
    db->has_context_values = values->has_cct;
    return true;
}

/* Read the taxonomy from default.yaml, or make one from the metrics; append other files. */
static void read_taxonomy(struct cn_database *db, const struct cn_hpc_v4_files *files)
{
    const char *why = "not readable";
    struct cn_error damage;
    size_t i = 0;

    if (files->yaml_count > 0 && strcmp(files->yaml[0].name, "default.yaml") == 0) {
        i = 1;
        if (!cn_hpc_metrics_yaml_read(files->yaml[0].text, &db->taxonomy, &db->arena,
                                      &damage))
            why = damage.text;
        else
            why = db->taxonomy.root_count == 0 && db->metrics.count > 0 ? "has no metrics"
                                                                        : NULL;
    }
    if (why) {
        cn_database_warn(db, false, "metrics/default.yaml: %s; columns made from meta.db",
                         why);
        cn_taxonomy_build(&db->taxonomy, &db->metrics, &db->arena);
    }
    for (; i < files->yaml_count; i++)
        if (!cn_hpc_metrics_yaml_append(files->yaml[i].text, &db->taxonomy, &db->arena,
                                        &damage))
            cn_database_warn(db, true, "metrics/%s: %s", files->yaml[i].name,
                             damage.text);
}

static void open_latency(struct cn_hpc_v4 *v4, struct cn_bytes file)
{
    struct cn_database *db = &v4->tree.database.base;
    struct cn_error damage;

    if (cn_hpc_latency_open(&v4->latency, file, &damage)) {
        if (cn_hpc_latency_add_metrics(&v4->latency, db, &damage))
            return;
        cn_hpc_latency_close(&v4->latency);
    }
    cn_database_warn(db, true, CN_HPC_LATENCY_NAME ": %s; no percentiles", damage.text);
}

static void read_states(struct cn_database *db, const struct cn_hpc_v4_files *files)
{
    struct cn_hpc_states read;
    struct cn_error damage;

    if (cn_hpc_states_read(files->states, db->profile_count, files->is_mapped, &db->arena,
                           &read, &damage)) {
        if (read.states)
            cn_database_set_states(db, read.states);
        db->runs = read.runs;
        db->heap = read.heap;
        db->io = read.io;
        db->gpu_memory = read.gpu_memory;
        db->launches = read.launches;
        db->launch_count = read.launch_count;
        db->wakeups = read.wakeups;
        db->locks = read.locks;
    } else {
        cn_database_warn(db, true, CN_HPC_STATES_NAME ": %s; no states over time",
                         damage.text);
    }
}

static bool open_files(struct cn_hpc_v4 *v4, const struct cn_hpc_v4_files *files,
                       struct cn_error *err)
{
    struct cn_database *db = &v4->tree.database.base;

    v4->ops = cn_hpc_meta_database_ops;
    v4->ops.values_begin = cn_hpc_v4_values_begin;
    v4->ops.values_next = cn_hpc_v4_values_next;
    v4->ops.close = close_database;
    db->ops = &v4->ops;
    db->path = "";
    if (!open_meta(v4, files->meta, err) || !open_values(v4, files, err))
        return false;
    read_taxonomy(db, files);
    if (files->has_latency)
        open_latency(v4, files->latency);
    if (files->has_states)
        read_states(db, files);
    if (files->origin.len > 0)
        cn_origin_decode(&db->origin, files->origin, &db->arena);
    return true;
}

bool cn_hpc_v4_open_bytes(struct cn_database **out, const struct cn_hpc_v4_files *files,
                          struct cn_error *err)
{
    struct cn_hpc_v4 *v4 = cn_alloc(1, sizeof(*v4));

    if (!open_files(v4, files, err)) {
        close_database(&v4->tree.database.base);
        return false;
    }
    *out = &v4->tree.database.base;
    return true;
}

static bool is_meta(struct cn_bytes file)
{
    return cn_hpc_file_is(file, &cn_hpc_meta_kind);
}

static bool is_member(struct cn_bytes file)
{
    return is_meta(file) || cn_hpc_file_is(file, &cn_hpc_profile_kind) ||
           cn_hpc_file_is(file, &cn_hpc_cct_kind) ||
           cn_hpc_file_is(file, &cn_hpc_trace_kind) || cn_hpc_latency_is(file) ||
           cn_hpc_states_is(file);
}

bool cn_hpc_v4_probe(const char *path)
{
    return cn_hpc_maps_probe(path, "meta.db", is_meta, is_member);
}

/* default.yaml first, the others by name. */
static int compare_yaml(const struct dirent **a, const struct dirent **b)
{
    bool a_is_default = strcmp((*a)->d_name, "default.yaml") == 0;
    bool b_is_default = strcmp((*b)->d_name, "default.yaml") == 0;

    if (a_is_default != b_is_default)
        return b_is_default - a_is_default;
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_yaml(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && dot != entry->d_name && strcmp(dot, ".yaml") == 0;
}

void cn_hpc_v4_yaml_map(struct cn_hpc_v4_yaml_maps *yaml, const char *dir,
                        struct cn_hpc_v4_files *files)
{
    char *folder = cn_strprintf("%s/metrics", dir);

    yaml->name_count = scandir(folder, &yaml->names, is_yaml, compare_yaml);
    for (int i = 0; i < yaml->name_count; i++) {
        const char *name = yaml->names[i]->d_name;

        if (i >= CN_HPC_YAML_MAX ||
            !cn_file_open_at(&yaml->maps[i], folder, name, &yaml->damage)) {
            yaml->skipped_count++;
            continue;
        }
        files->yaml[files->yaml_count++] =
            (struct cn_hpc_v4_yaml){name, yaml->maps[i].bytes};
    }
    free(folder);
}

void cn_hpc_v4_yaml_unmap(struct cn_hpc_v4_yaml_maps *yaml)
{
    for (size_t i = 0; i < CN_HPC_YAML_MAX; i++)
        cn_file_close(&yaml->maps[i]);
    for (int i = 0; i < yaml->name_count; i++)
        free(yaml->names[i]);
    free(yaml->names);
}

/* FORMATS.md of databases that cairn writes: what timelines are exact to, if not to the ns. */
static uint64_t read_resolution(const char *dir)
{
    struct cn_file file = {0};
    struct cn_error ignored;
    uint64_t resolution_ns = 0;

    if (cn_file_open_at(&file, dir, CN_HPC_FORMATS_NAME, &ignored)) {
        const size_t len = strlen(CN_HPC_EXACT_TO);
        const uint8_t *found = file.bytes.len > 0 ? memmem(file.bytes.ptr, file.bytes.len,
                                                           CN_HPC_EXACT_TO, len)
                                                  : NULL;
        const uint8_t *end = file.bytes.ptr + file.bytes.len;

        for (found = found ? found + len : end;
             found < end && isdigit(*found) && resolution_ns < UINT32_MAX; found++)
            resolution_ns = resolution_ns * 10 + (uint64_t)(*found - '0');
    }
    cn_file_close(&file);
    return resolution_ns > 1 ? resolution_ns : 0;
}

static bool open_maps(struct cn_database **out, const struct cn_hpc_maps *maps,
                      const char *dir, const struct cn_hpc_damage *damage, bool is_plain,
                      struct cn_error *err)
{
    struct cn_hpc_v4_files files;
    struct cn_hpc_v4_yaml_maps yaml = {0};

    cn_hpc_v4_files_init(&files, maps);
    files.has_latency = files.has_latency && !is_plain;
    files.has_states = files.has_states && !is_plain;
    cn_hpc_v4_yaml_map(&yaml, dir, &files);
    bool ok = cn_hpc_v4_open_bytes(out, &files, err);
    cn_hpc_v4_yaml_unmap(&yaml);
    if (!ok)
        return false;
    cn_hpc_database_take_maps(*out, maps, damage);
    (*out)->timeline_resolution_ns = read_resolution(dir);
    if (yaml.skipped_count > 0)
        cn_database_warn(*out, false, "metrics/: %d %s not read", yaml.skipped_count,
                         cn_plural((uint64_t)yaml.skipped_count, "file", "files"));
    return true;
}

static bool open_mapped(struct cn_database **out, const struct cn_hpc_maps *maps,
                        const char *dir, const struct cn_hpc_damage *damage,
                        struct cn_error *err)
{
    return open_maps(out, maps, dir, damage, false, err);
}

static bool open_mapped_plain(struct cn_database **out, const struct cn_hpc_maps *maps,
                              const char *dir, const struct cn_hpc_damage *damage,
                              struct cn_error *err)
{
    return open_maps(out, maps, dir, damage, true, err);
}

bool cn_hpc_v4_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_hpc_maps_open_database(out, path, "meta.db", open_mapped, err);
}

bool cn_hpc_v4_open_plain(struct cn_database **out, const char *path,
                          struct cn_error *err)
{
    return cn_hpc_maps_open_database(out, path, "meta.db", open_mapped_plain, err);
}
