#include "symbols/program/build_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/files/compress.h"
#include "base/files/file.h"

#define DEFAULT_FOLDER "/usr/lib/debug"

enum { BUILD_ID_TEXT_MIN = 8 };

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

static struct cn_debuginfod *debuginfod_of(struct cn_build_files *files)
{
    if (!files->debuginfod)
        files->debuginfod = cn_debuginfod_new();
    return files->debuginfod;
}

bool cn_build_files_find(struct cn_build_files *files, const char *build_id,
                         struct cn_text *path)
{
    return is_build_id(build_id) &&
           (find_build(build_id, "", path) || find_in_home(build_id, "elf", path) ||
            cn_debuginfod_find(debuginfod_of(files), build_id, false, path));
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
    if (is_build_id(cn_text_str(&id)) && (find_build(id.chars, ".debug", &found) ||
                                          find_in_home(id.chars, "debug", &found)))
        fd = open(found.chars, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && ((link && path && find_linked(path, link, link_crc, &found)) ||
                   (is_build_id(cn_text_str(&id)) &&
                    cn_debuginfod_find(debuginfod_of(files), id.chars, true, &found))))
        fd = open(found.chars, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        *out = cn_strdup(found.chars);
    cn_text_done(&id);
    cn_text_done(&found);
    return fd;
}

void cn_build_files_done(struct cn_build_files *files)
{
    cn_debuginfod_free(files->debuginfod);
    *files = (struct cn_build_files){0};
}
