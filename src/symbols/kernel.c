#include "symbols/kernel.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/search.h"
#include "base/sort.h"

void cn_kernel_symbols_parse(struct cn_kernel_symbols *symbols, const char *types)
{
    struct cn_text *text = &symbols->text;
    size_t kept = 0;

    for (size_t off = 0; off < text->len;) {
        char *line = text->chars + off, *end = memchr(line, '\n', text->len - off), *at;

        if (!end)
            end = text->chars + text->len;
        *end = '\0';
        off += (size_t)(end - line) + 1;
        uint64_t address = strtoull(line, &at, 16);
        if (at == line || end - at < 4 || at[0] != ' ' || !strchr(types, at[1]) ||
            at[2] != ' ')
            continue;
        CN_PUSH(symbols->list, symbols->count, symbols->capacity,
                (struct cn_kernel_symbol){address, (size_t)(at + 3 - text->chars)});
    }
    CN_SORT(symbols->list, symbols->count, CN_UP(struct cn_kernel_symbol, address),
            CN_UP(struct cn_kernel_symbol, name_off));
    for (size_t i = 0; i < symbols->count; i++)
        if (kept == 0 || symbols->list[kept - 1].address != symbols->list[i].address)
            symbols->list[kept++] = symbols->list[i];
    symbols->count = kept;
}

static bool read_all(const char *path, struct cn_text *out)
{
    enum { STEP_LEN = 1 << 16 };
    FILE *file = fopen(path, "re");
    size_t len;

    if (!file)
        return false;
    while ((len = fread(cn_text_room(out, STEP_LEN), 1, STEP_LEN, file)) > 0)
        cn_text_advance(out, len);
    (void)fclose(file);
    return true;
}

/* The notes of the running kernel contain its id. */
static bool has_build_id(const char *build_id)
{
    struct cn_text notes = {0}, hex = {0};
    bool found = strlen(build_id) >= 16 && read_all("/sys/kernel/notes", &notes);

    cn_hex_add(&hex, notes.chars, notes.len);
    found = found && strstr(cn_text_str(&hex), build_id) != NULL;
    cn_text_done(&notes);
    cn_text_done(&hex);
    return found;
}

bool cn_kernel_is_running(const char *build_id, const char *release)
{
    struct utsname name;

    if (build_id[0])
        return has_build_id(build_id);
    return uname(&name) == 0 && strcmp(name.release, release) == 0;
}

void cn_kernel_symbols_load(struct cn_kernel_symbols *symbols)
{
    if (!read_all("/proc/kallsyms", &symbols->text))
        return;
    cn_kernel_symbols_parse(symbols, "tTwW");
    /* Without the right to see addresses, all are 0. */
    if (symbols->count == 1 && symbols->list[0].address == 0)
        symbols->count = 0;
    for (size_t i = 0; i < symbols->count; i++) {
        char *name = symbols->text.chars + symbols->list[i].name_off;

        name[strcspn(name, " \t")] = '\0';
    }
}

const struct cn_kernel_symbol *
cn_kernel_symbols_find(const struct cn_kernel_symbols *symbols, uint64_t address)
{
    size_t count = symbols->count == 0
                       ? 0
                       : cn_search_u64(&symbols->list[0].address, symbols->count,
                                       sizeof(*symbols->list), address);

    return count > 0 ? &symbols->list[count - 1] : NULL;
}

void cn_kernel_symbols_done(struct cn_kernel_symbols *symbols)
{
    cn_text_done(&symbols->text);
    free(symbols->list);
    *symbols = (struct cn_kernel_symbols){0};
}
