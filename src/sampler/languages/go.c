#include "sampler/languages/go.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/file.h"
#include "sampler/languages/runtimes.h"
#include "unwind/unwind.h"

/* What is the same in all versions that are known. */
enum {
    STACK_BEGIN = 0, /* of a goroutine */
    STACK_END = 8,
    THREAD = 48,
    SP = 56,
    PC = 64,
    THREAD_G0 = 0, /* of a thread: the goroutine of its own stack */
};

/* Words that are read. */
enum { AT_ID = CN_FRAME_OTHER_LEN, AT_CREATOR, HEAD_LEN };

static const struct cn_go_layout layouts[] = {
    {18, 192, 104, 152, 296}, {21, 192, 104, 152, 280}, {23, 192, 104, 160, 288},
    {25, 184, 96, 152, 280},  {26, 0, 0, 0, 0}, /* not known from here on */
};

struct cn_go {
    struct cn_stored_names *names;
    struct cn_go_place place;
    const struct cn_go_layout *layout; /* NULL: not known */
    struct cn_file file;
    struct cn_go_table table;
};

const struct cn_go_layout *cn_go_layout_find(unsigned minor)
{
    const struct cn_go_layout *found = NULL;

    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (minor >= layouts[i].minor)
            found = &layouts[i];
    return found && found->curg > 0 ? found : NULL;
}

struct cn_go *cn_go_open(const struct cn_go_place *place, struct cn_file *file,
                         const struct cn_go_table *table, struct cn_stored_names *names)
{
    struct cn_go *go = cn_alloc(1, sizeof(*go));

    *go = (struct cn_go){
        .names = names,
        .place = *place,
        .layout = cn_go_layout_find(place->minor),
        .file = *file,
        .table = *table,
    };
    *file = (struct cn_file){0};
    return go;
}

void cn_go_close(struct cn_go *go)
{
    if (!go)
        return;
    cn_file_close(&go->file);
    free(go);
}

enum cn_language_table cn_go_describe(const struct cn_go *go, struct cn_frame_table *out)
{
    const struct cn_go_layout *l = go->layout;
    enum { M = CN_FRAME_FOUND, G = CN_FRAME_FOUND + 2 };

    if (!l)
        return CN_LANGUAGE_NO_TABLE;
    *out = (struct cn_frame_table){
        .language = CN_LANGUAGE_GO,
        .root_kind = cn_unwind_machine_here() == CN_UNWIND_AARCH64 ? CN_FRAME_IN_REGISTER
                                                                   : CN_FRAME_AT_THREAD,
        .root = go->place.state_off,
        .order = CN_FRAME_NONE,
        .head_len = HEAD_LEN,
        .head_read_count = 10,
        .head_reads =
            {
                {CN_FRAME_STATE, CN_FRAME_NOWHERE, 0, THREAD},
                {M, CN_FRAME_OTHER_FROM, 0, THREAD_G0},
                {M, CN_FRAME_NOWHERE, 0, l->curg},
                {G, CN_FRAME_OTHER_SP, 0, SP},
                {G, CN_FRAME_OTHER_PC, 0, PC},
                {G, CN_FRAME_OTHER_FP, 0, l->fp},
                {G, CN_FRAME_OTHER_BEGIN, 0, STACK_BEGIN},
                {G, CN_FRAME_OTHER_END, 0, STACK_END},
                {G, AT_ID, 0, l->id},
                {G, AT_CREATOR, 0, l->creator},
            },
        .resumed = go->place.resumed,
    };
    memcpy(out->changes, go->place.changes, sizeof(out->changes));
    return CN_LANGUAGE_TABLE;
}

/* The frame of what created a goroutine; 0 if it is not known, or was the start of the program. */
static uint64_t name_creator(struct cn_go *go, uint64_t creator)
{
    uint64_t address = creator - go->place.bias - 1;
    struct cn_go_function function;
    struct cn_go_location location;
    struct cn_text name = {0};

    if (creator == 0 || !cn_go_table_find(&go->table, address, &function) ||
        strncmp(function.name, "runtime.rt0_go", 14) == 0 ||
        cn_go_table_locations(&go->table, &function, address, &location, 1) != 1)
        return 0;
    cn_text_printf(&name, "created by %s", function.name);
    struct cn_stored_frame stored = {
        .function = cn_text_str(&name),
        .file = location.file,
        .line = location.line,
        .language = CN_LANGUAGE_GO,
    };
    uint64_t found = cn_stored_names_address(go->names, &stored);
    cn_text_done(&name);
    return found;
}

static uint64_t name_goroutine(struct cn_go *go, uint64_t id)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "goroutine %llu", (unsigned long long)id);
    return cn_stored_names_address(
        go->names,
        &(struct cn_stored_frame){.function = name, .language = CN_LANGUAGE_GO});
}

/* Where Go calls C, which calls Go, the function that stands for the change of stacks is among its
 * callers. */
static size_t leave_out_changes(const struct cn_go *go, uint64_t *chain, size_t count)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++)
        if (i == 0 || chain[i] < go->place.resumed.begin ||
            chain[i] >= go->place.resumed.end)
            chain[left++] = chain[i];
    return left;
}

size_t cn_go_finish(struct cn_go *go, const struct cn_language_sample *sample,
                    uint64_t *chain, size_t count, size_t most)
{
    const struct cn_frames_found *found = sample->found;

    count = leave_out_changes(go, chain, count);
    /* The thread may run something else than its goroutine. */
    if (!go->layout || !found || found->language != CN_LANGUAGE_GO ||
        found->head_len != HEAD_LEN || count == 0 ||
        chain[count - 1] < go->place.outermost.begin ||
        chain[count - 1] > go->place.outermost.end)
        return count;
    if (sample->has_goroutines && sample->words[AT_ID] != 0 && count < most)
        chain[count++] = name_goroutine(go, sample->words[AT_ID]);
    uint64_t creator = name_creator(go, sample->words[AT_CREATOR]);
    if (creator != 0 && count < most)
        chain[count++] = creator;
    return count;
}

/* Libraries have ".so" in their names, and are no programs of Go. */
static bool may_be_go(const char *path)
{
    return path[0] == '/' && !strstr(path, ".so");
}

/* The minor version in what the linker says about a program: a mark, then from byte 32 on "go1.19.8"
 * after its length. 0: it is not Go. */
static unsigned find_version(const struct cn_language_mapping *mapping)
{
    enum { MARK_LEN = 14, TEXT = 33, LEN = 64 };
    char bytes[LEN + 1] = {0};
    unsigned minor;

    if (!cn_language_section(mapping, ".go.buildinfo", bytes, LEN) ||
        memcmp(bytes, "\xff Go buildinf:", MARK_LEN) != 0 ||
        sscanf(bytes + TEXT, "go1.%3u", &minor) != 1)
        return 0;
    return minor;
}

/* Is it a function of the run-time? Those that are not written in Go may have an ending. */
static bool is_function(const char *name, const char *wanted)
{
    size_t len = strlen(wanted);

    return strncmp(name, wanted, len) == 0 &&
           (name[len] == '\0' || strcmp(name + len, ".abi0") == 0);
}

static void find_functions(const struct cn_go_table *table, struct cn_go_place *place)
{
    static const char *const names[] = {"runtime.systemstack", "runtime.mcall",
                                        "runtime.morestack", "runtime.asmcgocall"};
    struct cn_go_function function;

    for (uint32_t i = 0; i < table->function_count; i++) {
        if (!cn_go_table_function(table, i, &function) ||
            strncmp(function.name, "runtime.", 8) != 0)
            continue;
        struct cn_frame_range range = {function.begin + place->bias,
                                       function.end + place->bias};
        /* Go calls functions that are not written in Go by others of the same name. */
        bool changes = function.flags & (CN_GO_MOVES_STACK | CN_GO_IS_OUTERMOST);
        for (size_t k = 0; changes && k < sizeof(names) / sizeof(names[0]); k++)
            if (is_function(function.name, names[k]))
                place->changes[k] = range;
        if (is_function(function.name, "runtime.systemstack_switch"))
            place->resumed = range;
        if (is_function(function.name, "runtime.goexit"))
            place->outermost = range;
    }
}

static void *open_go(struct cn_memory *memory, const struct cn_language_mapping *mapping,
                     struct cn_stored_names *names)
{
    struct cn_go_place place = {.minor = find_version(mapping)};
    struct cn_file file = {0};
    struct cn_go_table table;
    struct cn_error ignored = {0};

    (void)memory;
    if (place.minor == 0 || !cn_language_bias(mapping, &place.bias) ||
        !cn_file_open(&file, mapping->path, &ignored))
        return NULL;
    if (!cn_go_table_open(&table, file.bytes)) {
        cn_file_close(&file);
        return NULL;
    }
    place.state_off = cn_language_last_variable(mapping);
    find_functions(&table, &place);
    return cn_go_open(&place, &file, &table, names);
}

static void close_go(void *state)
{
    cn_go_close(state);
}

static size_t finish(void *state, const struct cn_language_sample *sample,
                     uint64_t *chain, size_t count, size_t most)
{
    return cn_go_finish(state, sample, chain, count, most);
}

static enum cn_language_table describe(void *state, struct cn_frame_table *out)
{
    return cn_go_describe(state, out);
}

const struct cn_language_runtime cn_language_go = {
    .is_runtime = may_be_go,
    .open = open_go,
    .finish = finish,
    .describe = describe,
    .close = close_go,
};
