/* JavaScript in Node: which memory of a process is code of V8, and how that is laid out. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/bytes.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "sampler/languages/file.h"
#include "sampler/languages/runtimes.h"
#include "sampler/languages/v8.h"

enum {
    LOAD_TRIES_MAX = 8,
    LAYOUT_LEN_MAX = 1 << 16, /* bytes of the symbols' values */
    SYMBOLS_MAX = 1 << 16,
    RANGES_MAX = 4096,
    LOOK_NS = 20000000, /* between looks for new mappings */
    COMPARED_LEN = 64,  /* of a copy of the built-ins */
};

/* A symbol of the layout, whose value is in memory. */
struct layout_symbol {
    char *name;
    uint64_t address;
};

struct javascript {
    struct cn_v8 v8;
    struct cn_language_mapping mapping;
    char *path; /* of the mapping */
    bool is_loaded, is_known;
    bool has_v8; /* some of its symbols */
    unsigned tries;
    uint64_t looked_ns;
    struct layout_symbol *symbols;
    size_t symbol_count, symbol_capacity;
};

static bool is_node(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    return strcmp(name, "node") == 0 || strcmp(name, "nodejs") == 0 ||
           strncmp(name, "libnode.so", strlen("libnode.so")) == 0;
}

static void *open_node(struct cn_memory *memory,
                       const struct cn_language_mapping *mapping,
                       struct cn_stored_names *names)
{
    struct javascript *js = cn_alloc(1, sizeof(*js));

    cn_v8_begin(&js->v8, memory, names);
    js->path = cn_strdup(mapping->path);
    js->mapping = *mapping;
    js->mapping.path = js->path;
    return js;
}

static void forget_symbols(struct javascript *js)
{
    for (size_t i = 0; i < js->symbol_count; i++)
        free(js->symbols[i].name);
    free(js->symbols);
    js->symbols = NULL;
    js->symbol_count = js->symbol_capacity = 0;
}

static void close_node(void *state)
{
    struct javascript *js = state;

    forget_symbols(js);
    cn_v8_done(&js->v8);
    free(js->path);
    free(js);
}

/* Handlers of bytecodes, and what enters the first one. */
static bool is_handler(const char *name)
{
    return cn_ends_with(name, "Handler") ||
           strcmp(name, "InterpreterEntryTrampoline") == 0;
}

static void see_symbol(void *arg, const char *name, uint64_t address, uint64_t len)
{
    static const char layout[] = "v8dbg_", builtin[] = "Builtins_";
    struct javascript *js = arg;
    struct cn_v8 *v8 = &js->v8;
    uint64_t end;

    if (strncmp(name, layout, strlen(layout)) == 0 && js->symbol_count < SYMBOLS_MAX &&
        cn_v8_layout_has(name + strlen(layout))) {
        js->has_v8 = true;
        CN_PUSH(js->symbols, js->symbol_count, js->symbol_capacity,
                (struct layout_symbol){cn_strdup(name + strlen(layout)), address});
    } else if (strncmp(name, builtin, strlen(builtin)) == 0 &&
               v8->builtin_count < SYMBOLS_MAX && cn_u64_add(address, len, &end)) {
        js->has_v8 = true;
        name += strlen(builtin);
        CN_PUSH(v8->builtins, v8->builtin_count, v8->builtin_capacity,
                (struct cn_v8_builtin){address,
                                       is_handler(name) ? CN_V8_HANDLER : CN_V8_BUILTIN});
        if (v8->builtins_end == 0 || address < v8->builtins_begin)
            v8->builtins_begin = address;
        if (end > v8->builtins_end)
            v8->builtins_end = end;
    }
}

static char *hint(const void *state)
{
    const struct javascript *js = state;

    if (!js->is_loaded || js->is_known || !js->has_v8)
        return NULL;
    return cn_strprintf(
        js->v8.builtin_count > 0
            ? "functions of JavaScript have no names: the version of V8 in %s does not "
              "describe its objects; run it with --perf-basic-prof"
            : "functions of JavaScript have no names: %s has no symbols; use one that is "
              "not "
              "stripped, or run it with --perf-basic-prof",
        js->path);
}

static int compare_builtins(const void *a, const void *b)
{
    const struct cn_v8_builtin *x = a, *y = b;

    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Read symbols and layout. A process that has just begun may not be readable yet. */
static void load(struct javascript *js)
{
    struct cn_memory *memory = js->v8.memory;
    bool is_read = true;

    if (js->tries++ == 0) {
        cn_language_symbols_visit(&js->mapping, see_symbol, js);
        if (js->v8.builtin_count > 0)
            qsort(js->v8.builtins, js->v8.builtin_count, sizeof(*js->v8.builtins),
                  compare_builtins);
    }
    memory->left += LAYOUT_LEN_MAX;
    for (size_t i = 0; i < js->symbol_count && is_read; i++) {
        uint32_t value;

        is_read = cn_memory_u32(memory, js->symbols[i].address, &value);
        if (is_read)
            cn_v8_layout_set(&js->v8.layout, js->symbols[i].name, (int32_t)value);
    }
    js->is_loaded = is_read || js->tries == LOAD_TRIES_MAX;
    if (!js->is_loaded)
        return;
    forget_symbols(js);
    js->is_known = cn_v8_layout_end(&js->v8.layout) && js->v8.builtin_count > 0;
}

/* Where built-ins are in an executable mapping that is not theirs: V8 maps or copies them near
 * the code that it compiles. */
static bool find_copy(struct javascript *js, struct cn_v8_range *range, uint64_t file_off,
                      bool is_file)
{
    struct cn_v8 *v8 = &js->v8;
    uint8_t ours[COMPARED_LEN], theirs[COMPARED_LEN];
    uint64_t len = v8->builtins_end - v8->builtins_begin;

    if (is_file) {
        /* Another mapping of the same file. */
        uint64_t builtins_off =
            v8->builtins_begin - js->mapping.begin + js->mapping.file_off;
        uint64_t begin = range->begin + (builtins_off - file_off);

        if (file_off > builtins_off || begin >= range->end || begin == v8->builtins_begin)
            return false;
        range->shift = v8->builtins_begin - begin;
    } else {
        if (range->end - range->begin < len ||
            range->end - range->begin - len >= UINT64_C(1) << 16 ||
            !cn_memory_read(v8->memory, v8->builtins_begin, ours, sizeof(ours)) ||
            !cn_memory_read(v8->memory, range->begin, theirs, sizeof(theirs)) ||
            memcmp(ours, theirs, sizeof(ours)) != 0)
            return false;
        range->shift = v8->builtins_begin - range->begin;
    }
    range->kind = CN_V8_BUILTIN;
    return true;
}

static void add_mapping(struct javascript *js, const char *line)
{
    struct cn_v8 *v8 = &js->v8;
    struct cn_v8_range range = {.kind = CN_V8_NATIVE};
    uint64_t file_off;
    char flags[5];
    int path_at = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &range.begin,
               &range.end, flags, &file_off, &path_at) != 4 ||
        path_at == 0 || flags[2] != 'x' || v8->range_count == RANGES_MAX)
        return;
    const char *path = line + path_at;
    bool is_file = *path != '\0' && *path != '\n';
    size_t len = strcspn(path, "\n");
    bool is_ours = is_file && len <= strlen(js->path) &&
                   strncmp(js->path + strlen(js->path) - len, path, len) == 0;
    if ((!is_file || is_ours) && !find_copy(js, &range, file_off, is_file) && !is_file)
        range.kind = CN_V8_COMPILED;
    CN_PUSH(v8->ranges, v8->range_count, v8->range_capacity, range);
}

/* See where code is now. */
static void look(struct javascript *js)
{
    struct cn_text path = {0};
    char line[4352];

    cn_text_printf(&path, "/proc/%d/maps", (int)js->v8.memory->pid);
    FILE *maps = fopen(cn_text_str(&path), "re");
    cn_text_done(&path);
    if (!maps)
        return;
    js->v8.range_count = 0;
    while (fgets(line, sizeof(line), maps))
        add_mapping(js, line);
    (void)fclose(maps);
}

static bool is_seen(const struct javascript *js, uint64_t address)
{
    const struct cn_v8 *v8 = &js->v8;

    if (address >= js->mapping.begin && address < js->mapping.end)
        return true;
    for (size_t i = 0; i < v8->range_count; i++)
        if (address >= v8->ranges[i].begin && address < v8->ranges[i].end)
            return true;
    return false;
}

static bool undo(void *state, struct cn_unwind_step *step)
{
    struct javascript *js = state;
    uint64_t pc =
        step->registers
            .value[step->registers.machine == CN_UNWIND_AARCH64 ? CN_UNWIND_ARM_PC
                                                                : CN_UNWIND_X86_RIP];

    if (!js->is_loaded)
        load(js);
    if (!js->is_loaded || !js->is_known)
        return false;
    if (!is_seen(js, pc)) {
        uint64_t now_ns = cn_clock_ns();

        if (now_ns - js->looked_ns >= LOOK_NS) {
            js->looked_ns = now_ns;
            look(js);
        }
    }
    return cn_v8_undo(&js->v8, step);
}

const struct cn_language_runtime cn_language_javascript = {.is_runtime = is_node,
                                                           .open = open_node,
                                                           .undo = undo,
                                                           .hint = hint,
                                                           .close = close_node};
