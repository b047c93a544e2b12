#include "symbols/kernel_symbols.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"

enum { NOTES_MAX = 4096 };

struct symbol {
    uint64_t address;
    const char *name;
};

struct cn_kernel_symbols {
    struct symbol *list; /* by address */
    size_t count, capacity;
    struct cn_arena arena;
};

/* The id is the content of one of the notes: look for its bytes. */
static bool is_running(const char *build_id)
{
    FILE *file = fopen("/sys/kernel/notes", "re");
    uint8_t notes[NOTES_MAX];
    struct cn_text text = {0};
    size_t len;
    bool found;

    if (!file)
        return false;
    len = fread(notes, 1, sizeof(notes), file);
    (void)fclose(file);
    for (size_t i = 0; i < len; i++)
        cn_text_printf(&text, "%02x", notes[i]);
    found = strlen(build_id) >= 16 && strstr(cn_text_str(&text), build_id) != NULL;
    cn_text_done(&text);
    return found;
}

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

static void load(struct cn_kernel_symbols *symbols)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    unsigned long long address;
    char type, name[512];

    if (!file)
        return;
    while (fscanf(file, "%llx %c %511s%*[^\n]", &address, &type, name) == 3) {
        if (address == 0 || !strchr("tTwW", type))
            continue;
        symbols->list = cn_grow(symbols->list, symbols->count, &symbols->capacity,
                                sizeof(*symbols->list));
        symbols->list[symbols->count++] =
            (struct symbol){address, cn_arena_strdup(&symbols->arena, name)};
    }
    (void)fclose(file);
    if (symbols->count > 0)
        qsort(symbols->list, symbols->count, sizeof(*symbols->list), by_address);
}

struct cn_kernel_symbols *cn_kernel_symbols_new(const char *build_id)
{
    struct cn_kernel_symbols *symbols = cn_alloc(1, sizeof(*symbols));

    if (is_running(build_id))
        load(symbols);
    return symbols;
}

void cn_kernel_symbols_free(struct cn_kernel_symbols *symbols)
{
    if (!symbols)
        return;
    free(symbols->list);
    cn_arena_done(&symbols->arena);
    free(symbols);
}

const char *cn_kernel_symbols_find(const struct cn_kernel_symbols *symbols,
                                   uint64_t address)
{
    size_t low = 0, high = symbols->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (symbols->list[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? symbols->list[low - 1].name : NULL;
}
