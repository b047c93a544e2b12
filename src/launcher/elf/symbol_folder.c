#include "launcher/elf/file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/path.h"
#include "formats/uftrace/text/symbol_reader.h"

static void skip_line(void *arg, uint64_t off, const struct cn_error *err)
{
    (void)arg;
    (void)off;
    (void)err;
}

static bool is_same_build(const struct cn_elf_file *elf, struct cn_bytes build_id)
{
    return !elf->build_id[0] || build_id.len == 0 ||
           (build_id.len == strlen(elf->build_id) &&
            memcmp(build_id.ptr, elf->build_id, build_id.len) == 0);
}

static void drop_functions_and_data(struct cn_elf_file *elf)
{
    size_t count = 0;

    for (size_t i = 0; i < elf->symbol_count; i++) {
        if (elf->symbols[i].kind == 'P')
            elf->symbols[count++] = elf->symbols[i];
        else
            free(elf->symbols[i].name);
    }
    elf->symbol_count = count;
}

static char *copy_name(struct cn_bytes name)
{
    char *copy = cn_alloc(name.len + 1, 1);

    memcpy(copy, name.ptr, name.len);
    copy[name.len] = '\0';
    return copy;
}

/* uftrace stores library calls at other addresses: those of the file remain. */
static void take_symbols(struct cn_elf_file *elf, const struct cn_uft_symbols *symbols)
{
    drop_functions_and_data(elf);
    for (size_t i = 0; i < symbols->count; i++) {
        const struct cn_uft_symbol *symbol = &symbols->list[i];

        if (symbol->type == 'P')
            continue;
        CN_PUSH(elf->symbols, elf->symbol_count, elf->symbol_capacity,
                (struct cn_elf_symbol){
                    .address = symbol->offset,
                    .size = symbol->size,
                    .kind = symbol->type,
                    .name = copy_name(symbol->name),
                });
    }
    cn_elf_symbols_sort(elf);
}

bool cn_elf_symbols_replace(struct cn_elf_file *elf, const char *folder, const char *path)
{
    const char *base = cn_path_name(path);
    char name[NAME_MAX];
    struct cn_file file = {0};
    struct cn_error ignored = {0};
    struct cn_uft_symbols symbols;

    if (!folder || snprintf(name, sizeof(name), "%s.sym", base) >= (int)sizeof(name) ||
        !cn_file_open_at(&file, folder, name, &ignored))
        return false;
    cn_uft_symbols_read(file.bytes, &symbols, skip_line, NULL);
    bool ok = is_same_build(elf, symbols.head.build_id);
    if (ok)
        take_symbols(elf, &symbols);
    cn_uft_symbols_done(&symbols);
    cn_file_close(&file);
    return ok;
}
