#include "formats/uftrace/directory/directory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "formats/uftrace/directory/kernel.h"
#include "formats/uftrace/directory/range_index.h"
#include "formats/uftrace/directory/stream.h"
#include "formats/uftrace/summary/summary.h"
#include "formats/uftrace/text/scan.h"

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

static int by_name(const void *a, const void *b)
{
    const struct cn_uft_entry *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static bool add_entry(struct cn_uft_directory *dir, const char *name,
                      struct cn_error *err)
{
    char path[PATH_MAX];
    struct cn_file file = {0};
    struct stat st;

    if (snprintf(path, sizeof(path), "%s/%s", dir->rec.path, name) >= (int)sizeof(path))
        return cn_fail(err, CN_ERR_LIMIT, "%s/%s: path too long", dir->rec.path, name);
    /* The recorder's FIFO, editors' folders and the like are no part of the data. */
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return true;
    if (dir->entry_count == CN_UFT_FILES_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%s: more than %d files", dir->rec.path,
                       CN_UFT_FILES_MAX);
    if (!cn_file_open(&file, path, err))
        return false;
    dir->entries = cn_grow(dir->entries, dir->entry_count, &dir->entry_capacity,
                           sizeof(*dir->entries));
    dir->entries[dir->entry_count++] = (struct cn_uft_entry){
        cn_arena_strdup(&dir->rec.arena, name), file,
        (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec};
    return true;
}

static bool open_files(struct cn_uft_directory *dir, struct cn_error *err)
{
    DIR *folder = opendir(dir->rec.path);
    struct dirent *entry;
    bool ok = true;

    if (!folder)
        return cn_fail_errno(err, "%s", dir->rec.path);
    while (ok && (errno = 0, entry = readdir(folder)))
        ok = add_entry(dir, entry->d_name, err);
    if (ok && errno != 0)
        ok = cn_fail_errno(err, "%s", dir->rec.path);
    (void)closedir(folder);
    if (dir->entry_count > 1)
        qsort(dir->entries, dir->entry_count, sizeof(*dir->entries), by_name);
    return ok;
}

static const struct cn_uft_entry *find_entry(const struct cn_uft_directory *dir,
                                             const char *name)
{
    struct cn_uft_entry key = {.name = name};

    return dir->entry_count > 0 ? bsearch(&key, dir->entries, dir->entry_count,
                                          sizeof(*dir->entries), by_name)
                                : NULL;
}

const char *cn_uft_directory_find_name(const struct cn_uft_directory *dir,
                                       const char *name, struct cn_bytes *out)
{
    const struct cn_uft_entry *found = find_entry(dir, name);

    if (!found)
        return NULL;
    *out = found->file.bytes;
    return found->name;
}

uint64_t cn_uft_directory_mtime(const struct cn_uft_directory *dir, const char *name)
{
    const struct cn_uft_entry *found = find_entry(dir, name);

    return found ? found->mtime_ns : 0;
}

bool cn_uft_directory_find(const struct cn_uft_directory *dir, const char *name,
                           struct cn_bytes *out)
{
    return cn_uft_directory_find_name(dir, name, out) != NULL;
}

bool cn_uft_is_task_file(const char *name, uint32_t *tid)
{
    struct cn_bytes text = {(const uint8_t *)name, strlen(name)};
    uint32_t number;

    /* "007.dat" would be written back under another name. */
    if (text.len == 0 || text.ptr[0] == '0' || !cn_uft_scan_u32(&text, &number) ||
        !cn_uft_text_equals(text, ".dat"))
        return false;
    *tid = number;
    return true;
}

static bool read_info(struct cn_uft_directory *dir, struct cn_error *err)
{
    struct cn_recording *rec = &dir->rec;
    struct cn_uft_info_header head;
    struct cn_error problem = {0};
    struct cn_bytes file;
    const char *version;

    if (!cn_uft_directory_find(dir, "info", &file))
        return cn_fail(err, CN_ERR_FORMAT, "%s: has no file info", rec->path);
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
    version = cn_recording_fact(rec, "uftrace_version");
    if (version)
        cn_uft_hook_costs_parse(version, rec);
    return true;
}

/* Everything but the records of tasks is kept as it is, and what can be made again. */
static bool is_kept(const char *name)
{
    uint32_t tid;

    return !cn_uft_is_task_file(name, &tid) && !cn_uft_is_packed_task_file(name, &tid) &&
           strcmp(name, CN_UFT_SUMMARY_NAME) != 0;
}

static void keep_files(struct cn_uft_directory *dir)
{
    struct cn_copied_file *kept =
        cn_arena_alloc(&dir->rec.arena, dir->entry_count, sizeof(*kept));
    uint32_t count = 0;

    for (size_t i = 0; i < dir->entry_count; i++)
        if (is_kept(dir->entries[i].name))
            kept[count++] =
                (struct cn_copied_file){dir->entries[i].name, dir->entries[i].file.bytes};
    dir->rec.copied_files = kept;
    dir->rec.copied_file_count = count;
}

static void hand_over(struct cn_uft_directory *dir)
{
    struct cn_recording *rec = &dir->rec;

    rec->ops = &cn_uft_recording_ops;
    rec->tasks = dir->tasks;
    rec->task_count = (uint32_t)dir->task_count;
    rec->sessions = dir->sessions;
    rec->session_count = (uint32_t)dir->session_count;
    rec->modules = dir->modules;
    rec->module_count = (uint32_t)dir->module_count;
    rec->functions = dir->functions;
    rec->function_count = (uint32_t)dir->function_count;
    rec->sources = dir->sources;
    rec->source_count = (uint32_t)dir->source_count;
}

bool cn_uft_open(struct cn_recording **out, const char *path,
                 const struct cn_recording_options *options, struct cn_error *err)
{
    struct cn_uft_directory *dir = cn_alloc(1, sizeof(*dir));

    dir->rec.path = cn_arena_strdup(&dir->rec.arena, path);
    dir->rec.options = "";
    dir->demangle = options ? options->demangle : CN_DEMANGLE_SIMPLE;
    dir->extern_task = CN_NONE;
    if (!open_files(dir, err) || !read_info(dir, err)) {
        cn_uft_close(&dir->rec);
        return false;
    }
    cn_uft_sessions_build(dir);
    cn_uft_modules_build(dir);
    cn_uft_arguments_build(dir);
    cn_uft_tasks_build(dir);
    cn_uft_perf_build(dir);
    cn_uft_extras_build(dir);
    cn_uft_kernel_build(dir);
    keep_files(dir);
    hand_over(dir);
    cn_uft_ranges_open(dir);
    *out = &dir->rec;
    return true;
}

void cn_uft_close(struct cn_recording *rec)
{
    struct cn_uft_directory *dir = (struct cn_uft_directory *)rec;

    cn_uft_kernel_free(dir->kernel);
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
    free(dir->perf_records);
    free(dir->perf_begins);
    free(dir->externs);
    cn_arena_done(&dir->rec.arena);
    free(dir);
}

void cn_uft_bad_line(void *arg, uint64_t off, const struct cn_error *err)
{
    struct cn_uft_bad_lines *lines = arg;

    (void)off;
    if (lines->count++ == 0)
        cn_recording_warn(lines->rec, true, "%s: %s", lines->file, err->text);
}

void cn_uft_bad_lines_done(const struct cn_uft_bad_lines *lines)
{
    if (lines->count > 1)
        cn_recording_warn(lines->rec, true, "%s: %zu more lines were not understood",
                          lines->file, lines->count - 1);
}
