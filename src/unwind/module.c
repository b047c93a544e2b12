#include "unwind/space.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/files/file.h"
#include "base/files/out.h"
#include "cache/directory.h"

enum {
    CACHED_ROWS_MIN = 1 << 12, /* smaller tables are built as fast as they are read */
    BUILD_ID_LEN_MIN = 8,      /* digits */
    VDSO_LEN_MAX = 1 << 20,
};

#define CACHE_SIZE_MAX (UINT64_C(256) << 20)

struct cn_unwind_module *cn_unwind_module_at(struct cn_unwind_modules *modules,
                                             const char *path, const char *build_id)
{
    char *key = cn_strprintf("%s\n%s", build_id, path);
    uint32_t at = cn_names_add(&modules->keys, key);

    free(key);
    if (at < modules->count)
        return modules->list[at];
    struct cn_unwind_module *module = cn_alloc(1, sizeof(*module));
    module->path = cn_names_keep(&modules->strings, path);
    module->build_id = cn_names_keep(&modules->strings, build_id);
    module->fd = -1;
    CN_PUSH(modules->list, modules->count, modules->capacity, module);
    return module;
}

/* The vDSO of this process; other programs on this kernel have the same. */
static struct cn_bytes vdso_image(void)
{
    const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    struct cn_elf_header header;

    if (!image ||
        !cn_elf_header_decode((struct cn_bytes){image, cn_elf_header_size}, &header))
        return (struct cn_bytes){0};
    /* The kernel maps all of it; its section headers are at the end. */
    uint64_t len =
        header.sections_off + (uint64_t)header.section_count * header.section_len;
    return (struct cn_bytes){image, len <= VDSO_LEN_MAX ? (size_t)len : 0};
}

/* True for a build-id that may be part of a path. */
static bool is_digits(const char *build_id)
{
    size_t len = strlen(build_id);

    return len >= BUILD_ID_LEN_MIN && len <= 2 * CN_UNWIND_BUILD_ID_MAX &&
           cn_hex_begins(build_id, len);
}

/* The cached file of a build-id. False if it can not have one. */
static bool cache_path(const char *build_id, char dir[static PATH_MAX],
                       char path[static PATH_MAX])
{
    return is_digits(build_id) && cn_cache_dir("/unwind", dir) &&
           snprintf(path, PATH_MAX, "%s/%s", dir, build_id) < PATH_MAX;
}

static bool read_cached(struct cn_unwind_table *table, const char *build_id)
{
    char dir[PATH_MAX], path[PATH_MAX];
    struct cn_file file = {0};
    struct cn_error err = {0};

    if (!cache_path(build_id, dir, path) || access(path, R_OK) != 0)
        return false;
    bool ok = cn_file_open(&file, path, &err) &&
              cn_unwind_table_decode(table, file.bytes, &err);
    cn_file_close(&file);
    /* A damaged one is built and written again; others are used, so they stay. */
    if (ok)
        (void)utimensat(AT_FDCWD, path, NULL, 0);
    return ok;
}

static void write_cached(const struct cn_unwind_table *table, const char *build_id)
{
    char dir[PATH_MAX], path[PATH_MAX];
    struct cn_error err = {0};
    struct cn_text text = {0};

    if (table->row_count < CACHED_ROWS_MIN || !cache_path(build_id, dir, path))
        return;
    cn_cache_dir_make(dir);
    cn_unwind_table_encode(table, &text);
    /* Without it the next run builds the table again. */
    if (cn_out_replace(dir, build_id, text.chars, text.len, &err))
        cn_cache_dir_limit(dir, CACHE_SIZE_MAX);
    cn_text_done(&text);
}

/* Records of perf contain 20 bytes at most. */
static bool is_build_id(const char *wanted, const char *found)
{
    size_t len = strlen(wanted);

    return len == 0 || found[0] == '\0' ||
           strncmp(wanted, found, len < strlen(found) ? len : strlen(found)) == 0;
}

static bool load_bytes(struct cn_unwind_modules *modules, struct cn_unwind_module *module,
                       struct cn_bytes bytes)
{
    bool is_cached = !modules->has_no_cache && module->path[0] == '/';
    struct cn_unwind_elf elf;

    if (!cn_unwind_elf_open(&elf, bytes) || !is_build_id(module->build_id, elf.build_id))
        return false;
    if (is_cached && !module->build_id[0] && read_cached(&module->table, elf.build_id))
        return true;
    cn_unwind_table_build(&module->table, &elf);
    if (strcmp(module->path, "[vdso]") == 0 && module->table.row_count == 0)
        cn_unwind_table_add_code(&module->table, &elf);
    if (is_cached)
        write_cached(&module->table, elf.build_id);
    return true;
}

static bool load_file(struct cn_unwind_modules *modules, struct cn_unwind_module *module,
                      const char *path)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    bool ok = cn_file_open(&file, path, &err) && load_bytes(modules, module, file.bytes);

    cn_file_close(&file);
    return ok;
}

/* The copy that perf makes of the files it meets. */
static bool copy_path(const char *build_id, char path[static PATH_MAX])
{
    const char *home = getenv("HOME");

    return home && home[0] == '/' && is_digits(build_id) &&
           snprintf(path, PATH_MAX, "%s/.debug/.build-id/%.2s/%s/elf", home, build_id,
                    build_id + 2) < PATH_MAX;
}

static bool load(struct cn_unwind_modules *modules, struct cn_unwind_module *module)
{
    char path[PATH_MAX];

    if (strcmp(module->path, "[vdso]") == 0)
        return load_bytes(modules, module, vdso_image());
    if (module->path[0] != '/')
        return false;
    if (!modules->has_no_cache && read_cached(&module->table, module->build_id))
        return true;
    return load_file(modules, module, module->path) ||
           (copy_path(module->build_id, path) && load_file(modules, module, path));
}

const struct cn_unwind_table *cn_unwind_module_table(struct cn_unwind_modules *modules,
                                                     struct cn_unwind_module *module)
{
    if (!module->is_loaded) {
        module->is_loaded = true;
        modules->loaded_count++;
        module->has_table = load(modules, module);
    }
    return module->has_table ? &module->table : NULL;
}

/* Open a file for its code if it is the build of the module. */
static bool open_code(struct cn_unwind_module *module, const char *path)
{
    struct cn_unwind_elf elf;
    struct cn_file file = {0};
    struct cn_error err = {0};

    if (cn_file_open(&file, path, &err) && cn_unwind_elf_open(&elf, file.bytes) &&
        is_build_id(module->build_id, elf.build_id))
        module->fd = open(path, O_RDONLY | O_CLOEXEC);
    cn_file_close(&file);
    return module->fd >= 0;
}

size_t cn_unwind_module_read(struct cn_unwind_module *module, uint64_t file_off,
                             uint8_t *out, size_t len)
{
    char path[PATH_MAX];
    struct cn_bytes bytes;

    if (strcmp(module->path, "[vdso]") == 0) {
        if (!cn_bytes_slice(vdso_image(), file_off, len, &bytes))
            return 0;
        memcpy(out, bytes.ptr, len);
        return len;
    }
    if (!module->is_opened && module->path[0] == '/')
        (void)(open_code(module, module->path) ||
               (copy_path(module->build_id, path) && open_code(module, path)));
    module->is_opened = true;
    if (module->fd < 0 || file_off > INT64_MAX)
        return 0;
    /* pread() and not a mapping: a file that shrinks does not end this process. */
    ssize_t got = pread(module->fd, out, len, (off_t)file_off);
    return got > 0 ? (size_t)got : 0;
}

void cn_unwind_modules_done(struct cn_unwind_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++) {
        cn_unwind_table_done(&modules->list[i]->table);
        if (modules->list[i]->fd >= 0)
            (void)close(modules->list[i]->fd);
        free(modules->list[i]);
    }
    free(modules->list);
    cn_names_done(&modules->strings);
    cn_names_done(&modules->keys);
    *modules = (struct cn_unwind_modules){0};
}
