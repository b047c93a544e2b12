#include "symbols/program/debug_info.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes/digits.h"
#include "base/text.h"
#include "symbols/program/build_files.h"

enum { PAGE_LEN = 4096 }; /* mappings begin at multiples of at least this */

static bool is_build(Dwfl_Module *module, const char *build_id)
{
    const unsigned char *bits;
    GElf_Addr address;
    int len = dwfl_module_build_id(module, &bits, &address);
    struct cn_text text = {0};

    if (build_id[0] == '\0')
        return true;
    if (len > 0)
        cn_hex_add(&text, bits, (size_t)len);
    bool ok = strcmp(cn_text_str(&text), build_id) == 0;
    cn_text_done(&text);
    return ok;
}

/* Offsets of a recording count from where the module is mapped, those of debug
 * information from where it was linked to be. */
static bool find_begin(struct cn_debug_info *info)
{
    GElf_Addr lowest = UINT64_MAX;
    Elf *elf = dwfl_module_getelf(info->module, &info->linked);
    size_t count;

    if (!elf || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            header.p_vaddr < lowest)
            lowest = header.p_vaddr;
    }
    info->begin = info->linked + (lowest & ~(GElf_Addr)(PAGE_LEN - 1));
    if (lowest != UINT64_MAX)
        cn_plt_init(&info->plt, elf);
    return lowest != UINT64_MAX;
}

/* A Go program names its functions in a table of its own, stripped or not. */
static void open_go(struct cn_debug_info *info)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(info->module, &bias);
    struct cn_bytes file = {0};
    size_t len = 0;

    if (elf)
        file.ptr = (const uint8_t *)elf_rawfile(elf, &len);
    if (!file.ptr)
        return;
    file.len = len;
    info->has_go = cn_go_table_open(&info->go, file);
    if (info->has_go)
        cn_go_table_find_inlined(&info->go, file);
}

/* True if the information is compressed with zstd and stays so: libelf decompresses what it can. */
static bool is_packed(Dwfl_Module *module)
{
    enum { ZSTD = 2 }; /* ELFCOMPRESS_ZSTD, which headers of that libelf lack */
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    Elf_Scn *section = NULL;
    size_t names;

    if (!elf || elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        GElf_Chdr packed;
        const char *name = gelf_getshdr(section, &header)
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;

        if (name && strcmp(name, ".debug_info") == 0)
            return (header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &packed) &&
                   packed.ch_type == ZSTD && elf_compress(section, 0, 0) < 0;
    }
    return false;
}

static bool open_file(struct cn_debug_info *info, const char *path, const char *build_id,
                      struct cn_build_files *files)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = cn_build_files_find_debug,
        .section_address = dwfl_offline_section_address,
    };
    void **arg;
    struct stat st;

    *info = (struct cn_debug_info){0};
    /* A recording may name anything, and opening a FIFO or a device would block. */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    info->dwfl = dwfl_begin(&callbacks);
    if (info->dwfl)
        info->module = dwfl_report_offline(info->dwfl, path, path, -1);
    if (info->module &&
        dwfl_module_info(info->module, &arg, NULL, NULL, NULL, NULL, NULL, NULL))
        *arg = files;
    if (info->module && dwfl_report_end(info->dwfl, NULL, NULL) == 0 &&
        is_build(info->module, build_id) && find_begin(info)) {
        open_go(info);
        info->has_dwarf = dwfl_module_getdwarf(info->module, &info->bias) != NULL;
        info->is_packed = is_packed(info->module);
        return true;
    }
    cn_debug_info_close(info);
    return false;
}

bool cn_debug_info_open(struct cn_debug_info *info, const char *path,
                        const char *build_id, struct cn_build_files *files)
{
    struct cn_text copy = {0};
    bool ok = cn_build_files_find_given(files, path, build_id, &copy) &&
              open_file(info, cn_text_str(&copy), build_id, files);

    ok = ok || open_file(info, path, build_id, files);
    if (!ok && cn_build_files_find(files, build_id, &copy))
        ok = open_file(info, cn_text_str(&copy), build_id, files);
    cn_text_done(&copy);
    return ok;
}

void cn_debug_info_close(struct cn_debug_info *info)
{
    if (info->dwfl)
        dwfl_end(info->dwfl);
    cn_plt_done(&info->plt);
    cn_symbol_table_done(&info->symbols);
    cn_symbol_table_done(&info->variables);
    for (size_t i = 0; i < info->loop_count; i++)
        cn_loops_done(&info->loops[i]);
    free(info->loops);
    cn_map_done(&info->loop_of);
    cn_units_done(&info->units);
    cn_scopes_done(&info->scopes);
    *info = (struct cn_debug_info){0};
}
