#include "formats/uftrace/directory/directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/sort.h"
#include "formats/uftrace/text/scan.h"

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
    uint32_t tid;

    if (snprintf(path, sizeof(path), "%s/%s", dir->rec.path, name) >= (int)sizeof(path))
        return cn_fail(err, CN_ERR_LIMIT, "%s/%s: path too long", dir->rec.path, name);
    /* Skip the recorder's FIFO, folders of editors and the like. */
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return true;
    if (dir->entry_count == CN_UFT_FILES_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%s: more than %d files", dir->rec.path,
                       CN_UFT_FILES_MAX);
    if (cn_uft_task_file(name, &tid) == CN_UFT_NO_TASK
            ? !cn_file_open(&file, path, err)
            : !cn_file_open_content(&file, path, err))
        return false;
    CN_PUSH(dir->entries, dir->entry_count, dir->entry_capacity,
            (struct cn_uft_entry){cn_arena_strdup(&dir->rec.arena, name), file,
                                  (uint64_t)st.st_mtim.tv_sec * 1000000000 +
                                      (uint64_t)st.st_mtim.tv_nsec});
    return true;
}

bool cn_uft_directory_list(struct cn_uft_directory *dir, struct cn_error *err)
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

const struct cn_uft_entry *cn_uft_directory_entry(const struct cn_uft_directory *dir,
                                                  const char *name)
{
    struct cn_uft_entry key = {.name = name};

    return dir->entry_count > 0 ? bsearch(&key, dir->entries, dir->entry_count,
                                          sizeof(*dir->entries), by_name)
                                : NULL;
}

uint64_t cn_uft_directory_mtime(const struct cn_uft_directory *dir, const char *name)
{
    const struct cn_uft_entry *found = cn_uft_directory_entry(dir, name);

    return found ? found->mtime_ns : 0;
}

bool cn_uft_directory_find(const struct cn_uft_directory *dir, const char *name,
                           struct cn_bytes *out)
{
    const struct cn_uft_entry *found = cn_uft_directory_entry(dir, name);

    if (found)
        *out = found->file.bytes;
    return found;
}

void cn_uft_source_add(struct cn_uft_directory *dir, const char *name,
                       enum cn_source_kind kind, uint32_t task)
{
    CN_PUSH(dir->sources, dir->source_count, dir->source_capacity,
            (struct cn_source){name, kind, task});
}

void cn_uft_function_add(struct cn_uft_directory *dir, struct cn_call_function function)
{
    CN_PUSH(dir->functions, dir->function_count, dir->function_capacity, function);
}

struct cn_uft_cpu_file *cn_uft_cpu_files(struct cn_uft_directory *dir, const char *prefix,
                                         enum cn_source_kind kind, size_t *count)
{
    enum { FILES_MAX = 1 << 16 };
    struct cn_uft_cpu_file *files = NULL, file;
    size_t capacity = 0;

    *count = 0;
    for (size_t i = 0; i < dir->entry_count && *count < FILES_MAX; i++) {
        struct cn_bytes text;

        file.name = dir->entries[i].name;
        file.bytes = dir->entries[i].file.bytes;
        text = cn_bytes_of(file.name);
        if (!cn_uft_scan_literal(&text, prefix) || !cn_uft_scan_u32(&text, &file.cpu) ||
            !cn_uft_text_equals(text, ".dat"))
            continue;
        CN_PUSH(files, *count, capacity, file);
    }
    CN_SORT(files, *count, CN_UP(struct cn_uft_cpu_file, cpu));
    for (size_t i = 0; i < *count; i++)
        cn_uft_source_add(dir, files[i].name, kind, CN_NONE);
    return files;
}

static uint32_t add_module(struct cn_uft_directory *dir, const char *key,
                           const char *path, const char *build_id)
{
    uint32_t known = (uint32_t)dir->module_keys.count;
    uint32_t id = cn_names_add(&dir->module_keys, key);

    if (id == known) {
        CN_PUSH(dir->modules, dir->module_count, dir->module_capacity,
                (struct cn_call_module){
                    .path = path,
                    .name = cn_path_name(path),
                    .build_id = build_id,
                });
    }
    return id;
}

uint32_t cn_uft_module_add(struct cn_uft_directory *dir, const char *path,
                           const char *build_id)
{
    return add_module(dir, cn_arena_printf(&dir->rec.arena, "%s\n%s", path, build_id),
                      path, build_id);
}

/* Paths of mappings are lines. */
uint32_t cn_uft_module_add_own(struct cn_uft_directory *dir, const char *path)
{
    return add_module(dir, cn_arena_printf(&dir->rec.arena, "\n%s", path), path, "");
}

static bool belongs(const struct cn_call_module *module, struct cn_bytes file)
{
    struct cn_uft_module_head head;

    cn_uft_module_head_read(file, &head);
    if (head.build_id.len > 0 && module->build_id[0] != '\0')
        return cn_uft_text_equals(head.build_id, module->build_id);
    if (head.path.len == 0 || cn_uft_text_equals(head.path, module->path))
        return true;
    /* A library may be loaded by a relative path and mapped by an absolute one. */
    return module->path[0] != '/' && module->build_id[0] == '\0';
}

bool cn_uft_module_file(const struct cn_uft_directory *dir, uint32_t index,
                        const char *suffix, char name[static NAME_MAX],
                        struct cn_bytes *out)
{
    const struct cn_call_module *module = &dir->modules[index];
    char mark[CN_UFT_MARK_LEN + 1];

    cn_uft_module_mark(module->path, module->build_id, mark);
    for (int i = 0; i < 2; i++)
        if (snprintf(name, NAME_MAX, "%s%s%s", module->name, i == 0 ? mark : "", suffix) <
                NAME_MAX &&
            cn_uft_directory_find(dir, name, out) && belongs(module, *out))
            return true;
    return false;
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
        cn_recording_warn(lines->rec, true, "%s: %zu more lines cannot be parsed",
                          lines->file, lines->count - 1);
}
