#include "symbols/program/build_files.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/files/compress.h"
#include "base/files/file.h"
#include "base/path.h"

#define DEFAULT_FOLDER "/usr/lib/debug"

enum { BUILD_ID_TEXT_MIN = 8, LISTED_MAX = 100000 };

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Folder `i` of those with debug information; false when there are no more. */
static bool folder_at(size_t i, struct cn_text *out)
{
    const char *list = getenv("CAIRN_DEBUG_PATH");

    cn_text_clear(out);
    for (; list && *list; i--) {
        size_t len = strcspn(list, ":");

        if (i == 0) {
            cn_text_add(out, list, len);
            return true;
        }
        list += len + (list[len] == ':');
    }
    if (i == 0)
        cn_text_str_add(out, DEFAULT_FOLDER);
    return i == 0;
}

/* "FOLDER/.build-id/ab/cdefENDING". */
static bool find_build(const char *build_id, const char *ending, struct cn_text *path)
{
    for (size_t i = 0; folder_at(i, path); i++) {
        cn_text_printf(path, "/.build-id/%.2s/%s%s", build_id, build_id + 2, ending);
        if (is_file(path->chars))
            return true;
    }
    return false;
}

static bool find_in_home(const char *build_id, const char *name, struct cn_text *path)
{
    const char *home = getenv("HOME");

    cn_text_clear(path);
    cn_text_printf(path, "%s/.debug/.build-id/%.2s/%s/%s", home ? home : "", build_id,
                   build_id + 2, name);
    return home && is_file(path->chars);
}

/* Build-ids are part of paths, and come from files. */
static bool is_build_id(const char *text)
{
    return strlen(text) >= BUILD_ID_TEXT_MIN && cn_hex_begins(text, strlen(text));
}

static bool ask_servers(struct cn_build_files *files, const char *build_id, bool is_debug,
                        struct cn_text *path)
{
    if (files->is_offline)
        return false;
    if (!files->debuginfod)
        files->debuginfod = cn_debuginfod_new();
    return cn_debuginfod_find(files->debuginfod, build_id, is_debug, path);
}

/* Sections with code have no bytes in a file with debug information alone. */
static void find_parts(Elf *elf, struct cn_build_file *file)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;

        if (!gelf_getshdr(section, &header))
            continue;
        file->has_code |=
            header.sh_type == SHT_PROGBITS && header.sh_flags & SHF_EXECINSTR;
        file->has_names |= header.sh_type == SHT_SYMTAB;
    }
    file->has_names |= !file->has_code;
}

static void add_file(struct cn_build_files *files, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = NULL;
    struct cn_text id = {0};
    const void *bits;

    if (fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
        elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        ssize_t len = dwelf_elf_gnu_build_id(elf, &bits);
        struct cn_build_file file = {.path = cn_strdup(path)};

        if (len > 0)
            cn_hex_add(&id, bits, (size_t)len);
        file.build_id = cn_strdup(cn_text_str(&id));
        find_parts(elf, &file);
        CN_PUSH(files->list, files->count, files->capacity, file);
    }
    (void)elf_end(elf);
    if (fd >= 0)
        (void)close(fd);
    cn_text_done(&id);
}

static void list_files(struct cn_build_files *files)
{
    for (size_t i = 0; i < files->folder_count && !files->is_listed; i++) {
        char *const roots[] = {(char *)(uintptr_t)files->folders[i], NULL};
        FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
        const FTSENT *entry;

        while (tree && files->count < LISTED_MAX && (entry = fts_read(tree)))
            if (entry->fts_info == FTS_F && entry->fts_statp->st_size > 0)
                add_file(files, entry->fts_path);
        if (tree)
            (void)fts_close(tree);
    }
    files->is_listed = true;
}

static bool find_listed(struct cn_build_files *files, const char *build_id, bool has_code,
                        bool has_names, struct cn_text *path)
{
    list_files(files);
    for (size_t i = 0; i < files->count; i++) {
        const struct cn_build_file *file = &files->list[i];

        if (file->has_code == has_code && file->has_names == has_names &&
            strcmp(file->build_id, build_id) == 0) {
            cn_text_clear(path);
            cn_text_str_add(path, file->path);
            return true;
        }
    }
    return false;
}

static bool find_named(struct cn_build_files *files, const char *module,
                       struct cn_text *path)
{
    list_files(files);
    for (size_t i = 0; i < files->count; i++) {
        if (!files->list[i].has_code ||
            strcmp(cn_path_name(files->list[i].path), cn_path_name(module)) != 0)
            continue;
        cn_text_clear(path);
        cn_text_str_add(path, files->list[i].path);
        return true;
    }
    return false;
}

bool cn_build_files_find_given(struct cn_build_files *files, const char *module,
                               const char *build_id, struct cn_text *path)
{
    return build_id[0] == '\0' ? find_named(files, module, path)
                               : find_listed(files, build_id, true, true, path);
}

bool cn_build_files_find(struct cn_build_files *files, const char *build_id,
                         struct cn_text *path)
{
    return is_build_id(build_id) &&
           (find_listed(files, build_id, true, false, path) ||
            find_build(build_id, "", path) || find_in_home(build_id, "elf", path) ||
            ask_servers(files, build_id, false, path) ||
            find_listed(files, build_id, false, true, path) ||
            find_build(build_id, ".debug", path));
}

static bool has_checksum(const char *path, GElf_Word crc)
{
    struct cn_file file = {0};
    struct cn_error ignored;
    bool ok = cn_file_open(&file, path, &ignored) && cn_crc32(file.bytes) == crc;

    cn_file_close(&file);
    return ok;
}

/* The file `link` beside the module, in .debug there, or below the folders. */
static bool find_linked(const char *module, const char *link, GElf_Word crc,
                        struct cn_text *path)
{
    const char *slash = strrchr(module, '/');
    int len = slash ? (int)(slash - module) : 0;
    bool found = false;

    if (!slash || strchr(link, '/'))
        return false;
    for (unsigned i = 0; i < 2 && !found; i++) {
        cn_text_clear(path);
        cn_text_printf(path, "%.*s/%s%s", len, module, i ? ".debug/" : "", link);
        found = strcmp(path->chars, module) != 0 && has_checksum(path->chars, crc);
    }
    for (size_t i = 0; !found && folder_at(i, path); i++) {
        cn_text_printf(path, "%.*s/%s", len, module, link);
        found = has_checksum(path->chars, crc);
    }
    return found;
}

int cn_build_files_find_debug(Dwfl_Module *module, void **arg, const char *module_name,
                              Dwarf_Addr base, const char *path, const char *link,
                              GElf_Word link_crc, char **out)
{
    struct cn_build_files *files = *arg;
    const unsigned char *bits;
    struct cn_text id = {0}, found = {0};
    GElf_Addr address;
    int len = dwfl_module_build_id(module, &bits, &address), fd = -1;

    (void)module_name;
    (void)base;
    if (len > 0)
        cn_hex_add(&id, bits, (size_t)len);
    if (is_build_id(cn_text_str(&id)) &&
        (find_listed(files, id.chars, false, true, &found) ||
         find_build(id.chars, ".debug", &found) ||
         find_in_home(id.chars, "debug", &found)))
        fd = open(found.chars, O_RDONLY | O_CLOEXEC);
    if (fd < 0 &&
        ((link && path && find_linked(path, link, link_crc, &found)) ||
         (is_build_id(cn_text_str(&id)) && ask_servers(files, id.chars, true, &found))))
        fd = open(found.chars, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        *out = cn_strdup(found.chars);
    cn_text_done(&id);
    cn_text_done(&found);
    return fd;
}

void cn_build_files_done(struct cn_build_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->list[i].path);
        free(files->list[i].build_id);
    }
    free(files->list);
    cn_debuginfod_free(files->debuginfod);
    *files = (struct cn_build_files){0};
}
