#include "launcher/module_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/out.h"
#include "base/text.h"
#include "launcher/elf_file.h"
#include "launcher/symbol_cache.h"

struct cn_module_file {
    char *path, *name; /* as mapped, and the file's name in the recording without .sym */
    char build_id[41];
};

struct cn_module_debug {
    char *path;
    struct cn_text text;
};

static const struct cn_module_file *find(const struct cn_module_files *files,
                                         const char *path)
{
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->list[i].path, path) == 0)
            return &files->list[i];
    }
    return NULL;
}

static bool is_name_taken(const struct cn_module_files *files, const char *name)
{
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->list[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Two files of the same name: the second is told apart by its build-id or its path. */
static char *choose_name(const struct cn_module_files *files, const char *path,
                         const char *build_id)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct cn_text name = {0};
    unsigned sum = 0;

    cn_text_str_add(&name, base);
    if (is_name_taken(files, base)) {
        for (const char *c = path; *c; c++)
            sum += (unsigned char)*c;
        if (build_id[0])
            cn_text_printf(&name, "-%.4s", build_id);
        else
            cn_text_printf(&name, "-%04x", sum & 0xffff);
    }
    return name.chars;
}

static bool write_debug(const struct cn_module_files *files, const char *path,
                        const char *name, struct cn_error *err)
{
    struct cn_text text = {0}, file_name = {0};
    bool ok = true;

    for (size_t i = 0; i < files->debug_count && ok; i++) {
        if (strcmp(files->debug[i].path, path) != 0)
            continue;
        cn_text_printf(&file_name, "%s.dbg", name);
        cn_text_printf(&text, "# path name: %s\n%s", path,
                       cn_text_str(&files->debug[i].text));
        ok = cn_out_replace(files->dir, cn_text_str(&file_name), text.chars, text.len,
                            err);
        break;
    }
    cn_text_done(&text);
    cn_text_done(&file_name);
    return ok;
}

bool cn_module_files_add_debug(struct cn_module_files *files, const char *path,
                               struct cn_text *text, struct cn_error *err)
{
    const struct cn_module_file *module = find(files, path);

    files->debug = cn_grow(files->debug, files->debug_count, &files->debug_capacity,
                           sizeof(*files->debug));
    files->debug[files->debug_count++] = (struct cn_module_debug){cn_strdup(path), *text};
    *text = (struct cn_text){0};
    return !module || write_debug(files, path, module->name, err);
}

/* The symbols of a file, from the cache or from the file itself. */
static bool read_symbols(const char *path, const char *build_id, struct cn_text *text)
{
    struct cn_error ignored = {0};
    struct cn_elf_file elf;

    if (build_id[0] && cn_symbol_cache_find(build_id, text))
        return true;
    if (!cn_elf_file_open(&elf, path, true, &ignored))
        return false;
    cn_elf_symbols_print(&elf, text);
    cn_elf_file_close(&elf);
    if (build_id[0])
        cn_symbol_cache_add(build_id, text);
    return true;
}

static bool write_symbols(const struct cn_module_files *files, const char *path,
                          const struct cn_module_file *module,
                          const struct cn_text *symbols, struct cn_error *err)
{
    struct cn_text text = {0}, name = {0};
    size_t count = 0;
    bool ok;

    for (size_t i = 0; i < symbols->len; i++)
        count += symbols->chars[i] == '\n';
    cn_text_printf(&name, "%s.sym", module->name);
    cn_text_printf(&text, "# symbols: %zu\n# path name: %s\n", count, path);
    if (module->build_id[0])
        cn_text_printf(&text, "# build-id: %s\n", module->build_id);
    cn_text_add(&text, symbols->chars, symbols->len);
    ok = cn_out_replace(files->dir, cn_text_str(&name), text.chars, text.len, err);
    cn_text_done(&text);
    cn_text_done(&name);
    return ok;
}

static bool add_module(struct cn_module_files *files, const char *path,
                       struct cn_error *err)
{
    struct cn_module_file module = {0};
    struct cn_text symbols = {0};
    bool ok = true;

    cn_elf_build_id_read(path, module.build_id);
    module.name = choose_name(files, path, module.build_id);
    if (read_symbols(path, module.build_id, &symbols))
        ok = write_symbols(files, path, &module, &symbols, err) &&
             write_debug(files, path, module.name, err);
    cn_text_done(&symbols);
    module.path = cn_strdup(path);
    files->list =
        cn_grow(files->list, files->count, &files->capacity, sizeof(*files->list));
    files->list[files->count++] = module;
    return ok;
}

/* The path of a line of a map, or of a DLOP line; cut out of the line. NULL for others. */
static char *path_in(char *line)
{
    char *path = strstr(line, "libname=\"");
    char *end;

    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "DLOP ", 5) == 0 && path) {
        path += strlen("libname=\"");
        end = strchr(path, '"');
        if (!end)
            return NULL;
        *end = '\0';
        return path;
    }
    path = strchr(line, '/');
    end = path ? strstr(path, " build-id:") : NULL;
    if (end)
        *end = '\0';
    return strstr(line, "p 00000000 00:00 0 ") ? path : NULL;
}

static bool read_file(struct cn_module_files *files, const char *name,
                      struct cn_error *err)
{
    struct cn_text path = {0};
    char *line = NULL;
    size_t capacity = 0;
    FILE *file;
    bool ok = true;

    cn_text_printf(&path, "%s/%s", files->dir, name);
    file = fopen(cn_text_str(&path), "re");
    cn_text_done(&path);
    if (!file)
        return cn_fail_errno(err, "cannot read '%s/%s'", files->dir, name);
    while (ok && getline(&line, &capacity, file) > 0) {
        const char *module = path_in(line);

        if (module && !find(files, module))
            ok = add_module(files, module, err);
    }
    free(line);
    (void)fclose(file);
    return ok;
}

static bool is_map(const char *name)
{
    size_t len = strlen(name);

    return len > 8 && strncmp(name, "sid-", 4) == 0 &&
           strcmp(name + len - 4, ".map") == 0;
}

static bool each_map(struct cn_module_files *files,
                     bool (*visit)(struct cn_module_files *, const char *,
                                   struct cn_error *),
                     struct cn_error *err)
{
    DIR *dir = opendir(files->dir);
    struct dirent *entry;
    bool ok = true;

    if (!dir)
        return cn_fail_errno(err, "cannot read '%s'", files->dir);
    while (ok && (entry = readdir(dir)))
        ok = !is_map(entry->d_name) || visit(files, entry->d_name, err);
    (void)closedir(dir);
    return ok;
}

bool cn_module_files_update(struct cn_module_files *files, struct cn_error *err)
{
    return each_map(files, read_file, err) && read_file(files, "task.txt", err);
}

static bool add_build_ids(struct cn_module_files *files, const char *name,
                          struct cn_error *err)
{
    struct cn_text path = {0}, out = {0};
    char *line = NULL;
    size_t capacity = 0;
    FILE *file;
    bool ok;

    cn_text_printf(&path, "%s/%s", files->dir, name);
    file = fopen(cn_text_str(&path), "re");
    cn_text_done(&path);
    if (!file)
        return cn_fail_errno(err, "cannot read '%s/%s'", files->dir, name);
    while (getline(&line, &capacity, file) > 0) {
        const char *module = path_in(line);
        const struct cn_module_file *known = module ? find(files, module) : NULL;

        cn_text_str_add(&out, line);
        if (known && known->build_id[0])
            cn_text_printf(&out, " build-id:%s", known->build_id);
        cn_text_char(&out, '\n');
    }
    free(line);
    (void)fclose(file);
    ok = cn_out_replace(files->dir, name, out.chars, out.len, err);
    cn_text_done(&out);
    return ok;
}

bool cn_module_files_finish(struct cn_module_files *files, struct cn_error *err)
{
    return cn_module_files_update(files, err) && each_map(files, add_build_ids, err);
}

void cn_module_files_done(struct cn_module_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->list[i].path);
        free(files->list[i].name);
    }
    for (size_t i = 0; i < files->debug_count; i++) {
        free(files->debug[i].path);
        cn_text_done(&files->debug[i].text);
    }
    free(files->debug);
    free(files->list);
    *files = (struct cn_module_files){0};
}
