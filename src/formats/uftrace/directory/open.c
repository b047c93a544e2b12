#include "formats/uftrace/directory/open.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "formats/memory/reader.h"
#include "formats/uftrace/directory/checksums.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/directory/kernel.h"
#include "formats/uftrace/directory/resolver.h"
#include "formats/uftrace/directory/stream.h"
#include "formats/uftrace/directory/syscalls.h"
#include "formats/uftrace/packed/record_source.h"
#include "formats/uftrace/summary/summary.h"

bool cn_uft_probe(const char *path)
{
    static const char *const files[] = {"info", "default.opts"};
    char name[PATH_MAX];
    char magic[CN_UFT_MAGIC_LEN];
    struct cn_file file = {0};
    struct cn_error ignored = {0};
    bool is_ours = false;

    if (cn_file_open_at(&file, path, files[0], &ignored)) {
        is_ours = file.bytes.len < sizeof(magic) ||
                  memcmp(file.bytes.ptr, CN_UFT_MAGIC, sizeof(magic)) == 0;
        cn_file_close(&file);
        return is_ours;
    }
    return snprintf(name, sizeof(name), "%s/%s", path, files[1]) < (int)sizeof(name) &&
           access(name, F_OK) == 0;
}

bool cn_uft_packed_probe(const char *path)
{
    DIR *dir = cn_uft_probe(path) ? opendir(path) : NULL;
    struct dirent *entry;
    bool is_found = false;
    uint32_t tid;

    while (dir && !is_found && (entry = readdir(dir)))
        is_found = cn_uft_task_file(entry->d_name, &tid) == CN_UFT_PACKED_TASK;
    if (dir)
        (void)closedir(dir);
    return is_found;
}

static bool read_info(struct cn_uft_directory *dir, struct cn_error *err)
{
    struct cn_recording *rec = &dir->rec;
    struct cn_uft_info_header head;
    struct cn_error problem = {0};
    struct cn_bytes file;

    if (!cn_uft_directory_find(dir, "info", &file))
        return cn_fail(err, CN_ERR_FORMAT, "%s: no file 'info'", rec->path);
    if (!cn_uft_info_header_read(file, &head, err)) {
        (void)cn_fail_in(err, "info");
        return cn_fail_in(err, "%s", rec->path);
    }
    rec->version = head.version;
    rec->header_len = head.header_len;
    rec->max_stack = head.max_stack;
    rec->is_big_endian = head.byte_order == CN_UFT_BIG_ENDIAN;
    rec->is_32_bit = head.word_class == CN_UFT_32_BIT;
    rec->features = head.features;
    rec->info_mask = head.info_mask;
    if (!cn_uft_facts_read(file, head.info_mask, &rec->arena, &dir->facts, &problem))
        cn_recording_warn(rec, true, "info: %s", problem.text);
    rec->facts = dir->facts.list;
    rec->fact_count = (uint32_t)dir->facts.count;
    const char *version = cn_recording_fact(rec, "uftrace_version");
    if (version)
        cn_uft_hook_costs_parse(version, rec);
    return true;
}

static bool find_file(void *dir, const char *name, struct cn_bytes *out)
{
    return cn_uft_directory_find(dir, name, out);
}

static void report_damage(void *dir, const char *text)
{
    cn_recording_warn(&((struct cn_uft_directory *)dir)->rec, true, "%s", text);
}

/* A packed recording that was completed has checksums. */
static void check_files(struct cn_uft_directory *dir)
{
    struct cn_bytes text;

    if (cn_uft_directory_find(dir, CN_UFT_CHECKSUMS_NAME, &text))
        cn_uft_checksums_check(
            text, &(struct cn_uft_checksums_check){find_file, report_damage, dir});
}

/* Keep all files for copying, except records and checksums. */
static void keep_files(struct cn_uft_directory *dir)
{
    struct cn_copied_file *kept =
        cn_arena_alloc(&dir->rec.arena, dir->entry_count, sizeof(*kept));
    uint32_t count = 0, tid;

    for (size_t i = 0; i < dir->entry_count; i++) {
        const struct cn_uft_entry *entry = &dir->entries[i];

        if (cn_uft_task_file(entry->name, &tid) == CN_UFT_NO_TASK &&
            strcmp(entry->name, CN_UFT_CHECKSUMS_NAME) != 0)
            kept[count++] = (struct cn_copied_file){entry->name, entry->file.bytes};
    }
    dir->rec.copied_files = kept;
    dir->rec.copied_file_count = count;
}

static void directory_close(struct cn_recording *rec)
{
    struct cn_uft_directory *dir = (struct cn_uft_directory *)rec;

    cn_uft_gpu_free(dir->gpu);
    cn_uft_kernel_free(dir->kernel);
    cn_uft_syscalls_free(dir->syscalls);
    cn_uft_summary_free(dir->summary);
    for (size_t i = 0; i < dir->entry_count; i++)
        cn_file_close(&dir->entries[i].file);
    free(dir->entries);
    free(dir->facts.list);
    cn_uft_enums_done(&dir->enums);
    cn_map_done(&dir->session_ids);
    free(dir->sessions);
    free(dir->map_counts);
    free(dir->modules);
    cn_names_done(&dir->module_keys);
    free(dir->functions);
    free(dir->tasks);
    free(dir->records);
    free(dir->sources);
    free(dir->perf_files);
    free(dir->perf_cpus);
    free(dir->perf_records);
    free(dir->perf_begins);
    free(dir->externs);
    cn_arena_done(&dir->rec.arena);
    free(dir);
}

static bool stream_open(const struct cn_recording *rec, uint32_t task,
                        struct cn_time_range range, struct cn_call_stream **out,
                        struct cn_error *err)
{
    const struct cn_uft_directory *dir = cn_uft_directory_of(rec);

    (void)err;
    *out = rec->tasks[task].is_stream
               ? &cn_uft_gpu_stream_new(dir, task, range)->base
               : &cn_uft_task_stream_new(dir, task, range, false)->base;
    return true;
}

static bool part_open(const struct cn_recording *rec, uint32_t task,
                      const struct cn_call_part *part, struct cn_call_stream **out,
                      struct cn_error *err)
{
    (void)err;
    *out = &cn_uft_part_stream_new(cn_uft_directory_of(rec), task, part)->base;
    return true;
}

static bool source_open(const struct cn_recording *rec, uint32_t source,
                        struct cn_call_stream **out, struct cn_error *err)
{
    const struct cn_uft_directory *dir = cn_uft_directory_of(rec);
    const struct cn_source *s = &rec->sources[source];

    (void)err;
    if (s->kind == CN_SOURCE_TASK)
        *out = &cn_uft_task_stream_new(dir, s->task, cn_time_always, true)->base;
    else
        *out = &cn_uft_source_stream_new(dir, s)->base;
    return true;
}

static enum cn_step stream_next(struct cn_call_stream *stream, struct cn_call_batch *out,
                                struct cn_error *err)
{
    return ((struct cn_uft_stream *)stream)
        ->next((struct cn_uft_stream *)stream, out, err);
}

static void stream_close(struct cn_call_stream *stream)
{
    ((struct cn_uft_stream *)stream)->close((struct cn_uft_stream *)stream);
}

static void heap_begin(const struct cn_recording *rec, uint32_t task,
                       struct cn_heap_log *out)
{
    *out = (struct cn_heap_log){0};
    (void)cn_uft_heap_begin(cn_uft_directory_of(rec), rec->tasks[task].tid, out);
}

static const struct cn_recording_ops recording_ops = {
    .stream_open = stream_open,
    .parts = cn_uft_parts,
    .part_open = part_open,
    .source_open = source_open,
    .stream_next = stream_next,
    .stream_close = stream_close,
    .find_function = cn_uft_find_function,
    .print_tracepoint = cn_uft_kernel_print,
    .prepare = cn_uft_ranges_prepare,
    .heap_begin = heap_begin,
    .heap_next = cn_memory_log_next,
    .close = directory_close,
};

bool cn_uft_open(struct cn_recording **out, const char *path,
                 const struct cn_recording_options *options, struct cn_error *err)
{
    struct cn_uft_directory *dir = cn_alloc(1, sizeof(*dir));
    struct cn_recording *rec = &dir->rec;

    rec->path = cn_arena_strdup(&rec->arena, path);
    rec->options = "";
    dir->demangle = options ? options->demangle : CN_DEMANGLE_SIMPLE;
    dir->symbols = options ? options->symbols : NULL;
    dir->extern_task = CN_NONE;
    if (!cn_uft_directory_list(dir, err) || !read_info(dir, err)) {
        directory_close(rec);
        return false;
    }
    check_files(dir);
    cn_uft_sessions_build(dir);
    cn_uft_modules_build(dir);
    cn_uft_arguments_build(dir);
    cn_uft_tasks_build(dir);
    cn_uft_perf_build(dir);
    cn_uft_extras_build(dir);
    cn_uft_kernel_build(dir);
    cn_uft_syscalls_build(dir);
    cn_uft_gpu_build(dir);
    keep_files(dir);
    rec->ops = &recording_ops;
    rec->sessions = dir->sessions;
    rec->session_count = (uint32_t)dir->session_count;
    rec->modules = dir->modules;
    rec->module_count = (uint32_t)dir->module_count;
    rec->functions = dir->functions;
    rec->function_count = (uint32_t)dir->function_count;
    rec->sources = dir->sources;
    rec->source_count = (uint32_t)dir->source_count;
    cn_uft_ranges_open(dir);
    cn_uft_gpu_find_captures(dir);
    *out = rec;
    return true;
}
