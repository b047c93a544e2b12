#include "launcher/files/modules.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/out.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/uftrace/text/symbol_reader.h"
#include "launcher/elf/file.h"

struct cn_module_file {
    char *path, *name; /* as mapped; of its files in the recording, without .sym */
    char build_id[41];
    bool is_unread; /* it has no symbols so far: reading the file failed */
};

struct cn_module_debug {
    char *path;
    struct cn_text text;
};

static struct cn_module_file *find(const struct cn_module_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->list[i].path, path) == 0)
            return &files->list[i];
    }
    return NULL;
}

/* The name of the files of a module; the second module of a name gets a mark. */
static char *choose_name(const struct cn_module_files *files, const char *path,
                         const char *build_id)
{
    const char *base = cn_path_name(path);
    char mark[CN_UFT_MARK_LEN + 1] = "";
    struct cn_text name = {0};

    for (size_t i = 0; i < files->count && !mark[0]; i++)
        if (strcmp(files->list[i].name, base) == 0)
            cn_uft_module_mark(path, build_id, mark);
    cn_text_printf(&name, "%s%s", base, mark);
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

    CN_PUSH(files->debug, files->debug_count, files->debug_capacity,
            (struct cn_module_debug){cn_strdup(path), *text});
    *text = (struct cn_text){0};
    return !module || write_debug(files, path, module->name, err);
}

/* Read the symbols of a file from the user's folder, the cache, or the file itself. */
static bool read_symbols(const struct cn_module_files *files, const char *path,
                         const char *build_id, struct cn_text *text, struct cn_error *err)
{
    struct cn_elf_file elf;

    if (!files->symbols && build_id[0] && cn_symbol_cache_find(build_id, text))
        return true;
    if (!cn_elf_file_open(&elf, path, true, err))
        return false;
    bool is_replaced = cn_elf_symbols_replace(&elf, files->symbols, path);
    cn_elf_symbols_print(&elf, text);
    cn_elf_file_close(&elf);
    if (build_id[0] && !is_replaced)
        cn_symbol_cache_add(build_id, text);
    return true;
}

static bool write_symbols(const struct cn_module_files *files, const char *path,
                          const struct cn_module_file *module,
                          const struct cn_text *symbols, struct cn_error *err)
{
    struct cn_text text = {0};
    size_t count = 0;

    for (size_t i = 0; i < symbols->len; i++)
        count += symbols->chars[i] == '\n';
    char *name = cn_strprintf("%s.sym", module->name);
    cn_text_printf(&text, "# symbols: %zu\n# path name: %s\n", count, path);
    if (module->build_id[0])
        cn_text_printf(&text, "# build-id: %s\n", module->build_id);
    cn_text_add(&text, symbols->chars, symbols->len);
    bool ok = cn_out_replace(files->dir, name, text.chars, text.len, err);
    cn_text_done(&text);
    free(name);
    return ok;
}

/* Write the symbols of a module. What is no file, not an ELF file, or removed has none. */
static bool read_module(const struct cn_module_files *files,
                        struct cn_module_file *module, struct cn_error *unread,
                        struct cn_error *err)
{
    struct cn_text symbols = {0};
    bool ok = true;

    cn_elf_build_id_read(module->path, module->build_id);
    bool has_symbols =
        read_symbols(files, module->path, module->build_id, &symbols, unread);
    if (!module->name)
        module->name = choose_name(files, module->path, module->build_id);
    if (has_symbols)
        ok = write_symbols(files, module->path, module, &symbols, err) &&
             write_debug(files, module->path, module->name, err);
    cn_text_done(&symbols);
    module->is_unread =
        !has_symbols && unread->kind != CN_ERR_FORMAT && unread->kind != CN_ERR_NOT_FOUND;
    return ok;
}

static bool add_module(struct cn_module_files *files, const char *path,
                       struct cn_error *err)
{
    struct cn_module_file module = {.path = cn_strdup(path)};
    struct cn_error unread = {0};
    bool ok = read_module(files, &module, &unread, err);

    CN_PUSH(files->list, files->count, files->capacity, module);
    return ok;
}

/* Try again what failed: a limit on open files, or a network that did not answer. */
static bool read_again(struct cn_module_files *files, struct cn_error *err)
{
    bool ok = true;

    files->unread = (struct cn_error){0};
    for (size_t i = 0; i < files->count && ok; i++) {
        struct cn_module_file *module = &files->list[i];
        struct cn_error unread = {0};

        if (!module->is_unread)
            continue;
        ok = read_module(files, module, &unread, err);
        if (module->is_unread && !files->unread.text[0])
            (void)cn_fail(&files->unread, unread.kind, "no symbols of functions: %s",
                          unread.text);
    }
    return ok;
}

/* The path in a line of a map or a DLOP line, terminated in place; NULL for other
 * lines. */
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

/* Add the modules that a map or task.txt names. With `out`, append the lines, each with the
 * build-id of its module. */
static bool read_file(struct cn_module_files *files, const char *name,
                      struct cn_text *out, struct cn_error *err)
{
    char *line = NULL;
    size_t capacity = 0;
    bool ok = true;
    char *path = cn_strprintf("%s/%s", files->dir, name);
    FILE *file = fopen(path, "re");

    free(path);
    if (!file)
        return cn_fail_errno(err, "cannot read '%s/%s'", files->dir, name);
    while (ok && getline(&line, &capacity, file) > 0) {
        const char *module = path_in(line);

        if (module && !find(files, module))
            ok = add_module(files, module, err);
        if (!out)
            continue;
        const struct cn_module_file *known = module ? find(files, module) : NULL;
        cn_text_str_add(out, line);
        if (known && known->build_id[0])
            cn_text_printf(out, " build-id:%s", known->build_id);
        cn_text_char(out, '\n');
    }
    free(line);
    (void)fclose(file);
    return ok;
}

static bool read_maps(struct cn_module_files *files, bool adds_build_ids,
                      struct cn_error *err)
{
    DIR *dir = opendir(files->dir);
    struct cn_text text = {0};
    struct dirent *entry;
    bool ok = true;

    if (!dir)
        return cn_fail_errno(err, "cannot read '%s'", files->dir);
    while (ok && (entry = readdir(dir))) {
        const char *name = entry->d_name, *suffix = strrchr(name, '.');

        if (strncmp(name, "sid-", 4) != 0 || !suffix || strcmp(suffix, ".map") != 0)
            continue;
        cn_text_clear(&text);
        ok = read_file(files, name, adds_build_ids ? &text : NULL, err) &&
             (!adds_build_ids ||
              cn_out_replace(files->dir, name, cn_text_str(&text), text.len, err));
    }
    (void)closedir(dir);
    cn_text_done(&text);
    return ok;
}

bool cn_module_files_update(struct cn_module_files *files, struct cn_error *err)
{
    return read_maps(files, false, err) && read_file(files, "task.txt", NULL, err);
}

bool cn_module_files_finish(struct cn_module_files *files, struct cn_error *err)
{
    return cn_module_files_update(files, err) && read_again(files, err) &&
           read_maps(files, true, err);
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
