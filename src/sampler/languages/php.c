#include "sampler/languages/php.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/file.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/interpreter.h"
#include "sampler/languages/runtimes.h"
#include "sampler/languages/texts.h"

/* What is the same in all versions that are known. */
enum {
    FRAME_OPLINE = 0,
    FRAME_PREPARED = 8,
    FRAME_FUNCTION = 24,
    FRAME_THIS = 32,
    FRAME_CALL = 40,
    FRAME_ARGUMENTS = 44,
    FRAME_PREVIOUS = 48,
    FRAME_LEN = 56, /* as far as it is used */
    FRAME_SLOTS_BEGIN = 80,
    FRAME_SLOT_LEN = 16,
    FUNCTION_KIND = 0, /* one byte, then flags in the upper half of the word */
    FUNCTION_NAME = 8,
    FUNCTION_CLASS = 16,
    FUNCTION_PARAMETERS = 32,
    OPLINE_LINE = 24,
    OPLINE_LEN = 32,
    CLASS_NAME = 8,
    TEXT_HASH = 8,
    TEXT_LEN = 16,
    TEXT_CHARS = 24,
    INTERNAL_FUNCTION = 1,
    USER_FUNCTION = 2,
    EVAL_CODE = 4,
    IS_TOP = 1 << 17, /* of a call: the first frame of the function that interprets */
    OPCODES_MAX = 1 << 24,
    TOP_BEFORE_CURRENT = 32, /* in the globals */
    GENERATOR_PARENT_AFTER_FRAME = 96,
};

/* Words of a frame that are read. */
enum {
    AT_CALL,
    AT_KIND,
    AT_LINE,
    AT_NAME,
    AT_CLASS,
    AT_FILE,
    AT_FIRST,
    AT_HASHES,
    AT_DELEGATOR,
    ROW_LEN
};
enum { AT_FUNCTION = ROW_LEN }; /* of walks that the sampler does */

static const struct cn_php_layout layouts[] = {
    {20190902, "7.4", 1664, 488, 60, 64, 136, 144, 52, 56, 64},
    {20200930, "8.0", 1696, 488, 68, 72, 144, 152, 60, 64, 56},
    {20210902, "8.1", 1752, 488, 68, 72, 144, 152, 60, 64, 56},
    {20220829, "8.2", 1800, 488, 80, 88, 152, 160, 76, 56, 56},
    {20230831, "8.3", 1760, 488, 76, 80, 144, 152, 72, 64, 56},
    {20240924, "8.4", 1928, 488, 96, 104, 168, 176, 92, 72, 56},
    {20250925, "8.5", 1952, 512, 96, 104, 168, 176, 92, 72, 56},
};

struct cn_php {
    struct cn_memory *memory;
    struct cn_stored_names *names;
    struct cn_php_place place;
    const struct cn_php_layout *layout; /* NULL: not known */
    char problem[64];
    struct cn_interpreted interpreted;
    struct cn_language_texts texts;
};

const struct cn_php_layout *cn_php_layout_find(uint32_t api)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].api == api)
            return &layouts[i];
    return NULL;
}

static void make_tables(struct cn_php *p)
{
    struct cn_interpreted *in = &p->interpreted;
    enum {
        FUNCTION = CN_FRAME_FOUND + 1,
        OPLINE,
        KIND,
        LINE,
        NAME,
        CLASS,
        CLASS_TEXT,
        FILE
    };

    in->table = (struct cn_frame_table){
        .language = CN_LANGUAGE_PHP,
        .root_kind = CN_FRAME_AT_ADDRESS,
        .root = p->place.globals,
        .order = CN_FRAME_LINKED,
        .first = p->layout->current,
        .link = FRAME_PREVIOUS,
        .frame_len = FRAME_LEN,
        .row_len = ROW_LEN,
        .ending =
            {
                .top = p->layout->current - TOP_BEFORE_CURRENT,
                .prepared = FRAME_PREPARED,
                .function = FRAME_FUNCTION,
                .arguments = FRAME_ARGUMENTS,
                .internal = INTERNAL_FUNCTION,
                .parameters = FUNCTION_PARAMETERS,
                .variables = p->layout->variables,
                .temporaries = p->layout->temporaries,
                .frame_len = FRAME_SLOTS_BEGIN,
                .slot_len = FRAME_SLOT_LEN,
            },
        .delegation =
            {
                .function = FRAME_FUNCTION,
                .generator = FRAME_THIS,
                .frame = p->layout->generator_frame,
                .parent = p->layout->generator_frame + GENERATOR_PARENT_AFTER_FRAME,
            },
        .read_count = 14,
        .reads =
            {
                {CN_FRAME_SELF, AT_CALL, 0, FRAME_CALL},
                {CN_FRAME_SELF, CN_FRAME_NOWHERE, 0, FRAME_FUNCTION},
                {CN_FRAME_SELF, CN_FRAME_NOWHERE, 0, FRAME_OPLINE},
                {FUNCTION, AT_KIND, 0, FUNCTION_KIND},
                {OPLINE, AT_LINE, 0, OPLINE_LINE},
                {FUNCTION, AT_NAME, 0, FUNCTION_NAME},
                {FUNCTION, CN_FRAME_NOWHERE, 0, FUNCTION_CLASS},
                {CLASS, AT_CLASS, 0, CLASS_NAME},
                {FUNCTION, AT_FILE, 0, (int32_t)p->layout->file},
                {NAME, AT_HASHES, 0, TEXT_HASH},
                {CLASS_TEXT, AT_HASHES, 0, TEXT_HASH},
                {FILE, AT_HASHES, 0, TEXT_HASH},
                {FUNCTION, AT_FIRST, 0, (int32_t)p->layout->first_line},
                {CN_FRAME_DELEGATOR, AT_DELEGATOR, 0, CN_FRAME_ADDRESS},
            },
    };
    in->late = in->table;
    in->late.reads[1].to = AT_FUNCTION;
    in->late.row_len = AT_FUNCTION + 1;
}

/* A string; NULL if there is none that can be read. */
static const struct cn_language_text *read_text(struct cn_php *p, uint64_t address)
{
    char chars[CN_STORED_TEXT_MAX];
    uint64_t hash, len;

    if (!cn_memory_u64(p->memory, address + TEXT_HASH, &hash) ||
        !cn_memory_u64(p->memory, address + TEXT_LEN, &len))
        return NULL;
    len = len < sizeof(chars) ? len : sizeof(chars);
    if (!cn_memory_read(p->memory, address + TEXT_CHARS, chars, len))
        return NULL;
    return cn_language_texts_add(&p->texts, address, hash, chars, len);
}

/* The strings of a frame. */
enum { NAME, CLASS, FILE_NAME, TEXT_COUNT };

/* Find strings of which the sum of the hashes is known: those that were read before, or as they
 * are now. Those of internal functions stay. */
static bool find_texts(struct cn_php *p, const uint64_t *addresses, bool is_internal,
                       bool has_hashes, uint64_t hashes, const char **out)
{
    for (int again = 0; again < 2; again++) {
        const struct cn_language_text *found;
        uint64_t sum = 0;
        bool is_found = true;

        for (size_t i = 0; i < TEXT_COUNT && is_found; i++) {
            out[i] = NULL;
            if (addresses[i] == 0)
                continue;
            found = again ? read_text(p, addresses[i])
                          : cn_language_texts_find(&p->texts, addresses[i]);
            is_found = found;
            if (found) {
                out[i] = found->chars;
                sum += found->check;
            }
        }
        if (is_found && (is_internal || (has_hashes ? sum == hashes : again)))
            return true;
    }
    return false;
}

/* The line that runs, as the stack says it: `call` holds an instruction of the function. */
static bool confirm(struct cn_php *p, uint64_t function,
                    const struct cn_interpreter_call *call, uint32_t *line)
{
    uint64_t opcodes, opline;
    uint32_t count;

    if (!cn_memory_u64(p->memory, function + p->layout->opcodes, &opcodes) ||
        !cn_memory_u32(p->memory, function + p->layout->last, &count) ||
        count > OPCODES_MAX)
        return false;
    struct cn_interpreter_range range = {opcodes, opcodes + OPLINE_LEN * (uint64_t)count};
    return cn_interpreter_holds(call, range, &opline) &&
           cn_memory_u32(p->memory, opline + OPLINE_LINE, line);
}

/* The code of a file has no name. */
static void print_code(struct cn_text *text, uint8_t kind, bool is_outermost,
                       const char *file)
{
    const char *name = strrchr(file, '/');

    if (kind == EVAL_CODE)
        cn_text_str_add(text, "{eval}");
    else if (is_outermost)
        cn_text_str_add(text, "{main}");
    else
        cn_text_printf(text, "include %s", name ? name + 1 : file);
}

/* Closures have one name, to 8.3: the place is added, as later versions do. */
static void print_name(struct cn_text *text, const char *const texts[TEXT_COUNT],
                       uint32_t first_line)
{
    const char *file = texts[FILE_NAME] ? texts[FILE_NAME] : "";
    const char *base = strrchr(file, '/');

    if (texts[CLASS])
        cn_text_printf(text, "%s::", texts[CLASS]);
    if (strcmp(texts[NAME], "{closure}") == 0)
        cn_text_printf(text, "{closure:%s:%u}", base ? base + 1 : file, first_line);
    else
        cn_text_str_add(text, texts[NAME]);
}

static uint64_t name_frame(void *arg, size_t frame,
                           const struct cn_interpreter_call *call)
{
    struct cn_php *p = arg;
    const uint64_t *row = cn_interpreted_row(&p->interpreted, frame);
    uint8_t kind = (uint8_t)row[AT_KIND];
    bool is_internal = kind == INTERNAL_FUNCTION;
    const uint64_t addresses[TEXT_COUNT] = {row[AT_NAME], row[AT_CLASS],
                                            is_internal ? 0 : row[AT_FILE]};
    const char *texts[TEXT_COUNT];
    uint32_t line = is_internal ? 0 : (uint32_t)row[AT_LINE];
    struct cn_text function = {0};

    if (call && !is_internal && !confirm(p, row[AT_FUNCTION], call, &line))
        return 0;
    if (!find_texts(p, addresses, is_internal, !p->interpreted.is_late, row[AT_HASHES],
                    texts))
        return cn_stored_names_address(
            p->names, &(struct cn_stored_frame){.language = CN_LANGUAGE_PHP});
    if (texts[NAME])
        print_name(&function, texts, (uint32_t)row[AT_FIRST]);
    else
        print_code(&function, kind, frame + 1 == p->interpreted.frame_count,
                   texts[FILE_NAME] ? texts[FILE_NAME] : "");
    struct cn_stored_frame stored = {
        .function = cn_text_str(&function),
        .file = texts[FILE_NAME],
        .line = line,
        .language = CN_LANGUAGE_PHP,
        .first_line = is_internal ? 0 : (uint32_t)row[AT_FIRST],
    };
    uint64_t address = cn_stored_names_address(p->names, &stored);
    cn_text_done(&function);
    return address;
}

/* Generators that delegate are part of the call of the one that runs. Their rows follow that of the
 * placeholder after it, the outermost first. Returns the row after them. */
static size_t list_delegators(struct cn_interpreted *in, size_t begin)
{
    size_t end = begin;

    while (end < in->row_count && in->rows[in->row_len * end + AT_DELEGATOR] != 0)
        end++;
    for (size_t i = end; i-- > begin;)
        cn_interpreted_add(in, i, i == begin ? CN_INTERPRETER_FIRST : 0);
    return end;
}

static bool is_delegator(const struct cn_interpreted *in, size_t i)
{
    return i < in->row_count && in->rows[in->row_len * i + AT_DELEGATOR] != 0;
}

static void list(void *arg, struct cn_interpreted *in)
{
    size_t i = 0;

    (void)arg;
    while (i < in->row_count) {
        const uint64_t *row = in->rows + in->row_len * i;
        uint8_t kind = (uint8_t)row[AT_KIND];
        bool is_first = row[AT_CALL] & IS_TOP && !is_delegator(in, i + 2);

        if (is_delegator(in, i)) {
            i = list_delegators(in, i);
            continue;
        }
        /* Some frames are there for their caller alone. */
        if (kind == USER_FUNCTION || kind == EVAL_CODE)
            cn_interpreted_add(in, i, is_first ? CN_INTERPRETER_FIRST : 0);
        else if (kind == INTERNAL_FUNCTION && row[AT_NAME] != 0)
            cn_interpreted_add(in, i, 0);
        i++;
    }
}

static uint64_t find(void *arg, uint32_t tid)
{
    const struct cn_php *p = arg;

    (void)tid;
    return p->place.globals;
}

static const struct cn_interpreted_kind kind = {
    .language = CN_LANGUAGE_PHP,
    .same_mask =
        1 << AT_CALL | 1 << AT_KIND | 1 << AT_NAME | 1 << AT_CLASS | 1 << AT_FILE,
    .list = list,
    .name = name_frame,
    .find = find,
};

/* Builds for debugging have other globals. */
static void find_layout(struct cn_php *p)
{
    const struct cn_php_place *place = &p->place;
    const struct cn_php_layout *layout = cn_php_layout_find(place->api);

    if (!layout)
        (void)snprintf(p->problem, sizeof(p->problem), "with the interface %u",
                       place->api);
    else if (place->has_threads || layout->globals_len != place->globals_len)
        (void)snprintf(p->problem, sizeof(p->problem), "%s %s", layout->name,
                       place->has_threads ? "with threads (ZTS)" : "of this build");
    else
        p->layout = layout;
}

struct cn_php *cn_php_open(struct cn_memory *memory, const struct cn_php_place *place,
                           struct cn_stored_names *names)
{
    struct cn_php *p = cn_alloc(1, sizeof(*p));

    p->memory = memory;
    p->names = names;
    p->place = *place;
    find_layout(p);
    p->interpreted.kind = &kind;
    p->interpreted.arg = p;
    p->interpreted.walk.memory = memory;
    if (p->layout)
        make_tables(p);
    p->interpreted.interpreter.memory = memory;
    p->interpreted.interpreter.entry =
        (struct cn_interpreter_range){place->execute_begin, place->execute_end};
    return p;
}

void cn_php_close(struct cn_php *p)
{
    if (!p)
        return;
    cn_language_texts_done(&p->texts);
    free(p);
}

enum cn_language_table cn_php_describe(struct cn_php *p, struct cn_frame_table *out)
{
    if (p->layout)
        *out = p->interpreted.table;
    return p->layout ? CN_LANGUAGE_TABLE : CN_LANGUAGE_NO_TABLE;
}

void cn_php_see(struct cn_php *p, const struct cn_unwind_step *step)
{
    cn_interpreter_see(&p->interpreted.interpreter, step);
}

size_t cn_php_finish(struct cn_php *p, const struct cn_language_sample *sample,
                     uint64_t *chain, size_t count, size_t most)
{
    return p->layout ? cn_interpreted_finish(&p->interpreted, sample, chain, count, most)
                     : count;
}

const char *cn_php_problem(const struct cn_php *p)
{
    return p->layout ? NULL : p->problem;
}

static bool is_php(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    name += strncmp(name, "lib", 3) == 0 ? 3 : 0;
    return strncmp(name, "php", 3) == 0;
}

static void *open_php(struct cn_memory *memory, const struct cn_language_mapping *mapping,
                      struct cn_stored_names *names)
{
    static const char *const symbols[] = {"executor_globals", "execute_ex"};
    enum { COUNT = sizeof(symbols) / sizeof(symbols[0]), API_LEN = 3 };
    uint64_t at[COUNT], lens[COUNT];
    char build[64]; /* "API20220829,NTS" */

    cn_language_symbols_sized(mapping, symbols, COUNT, at, lens);
    if (at[1] == 0 || lens[1] == 0)
        return NULL;
    struct cn_php_place place = {
        .globals = at[0],
        .globals_len = lens[0],
        .execute_begin = at[1],
        .execute_end = at[1] + lens[1],
    };
    if (cn_language_text_find(mapping, "API20", build, sizeof(build))) {
        place.api = (uint32_t)strtoul(build + API_LEN, NULL, 10);
        place.has_threads = strstr(build, ",TS");
    }
    return cn_php_open(memory, &place, names);
}

static void close_php(void *state)
{
    cn_php_close(state);
}

static bool see(void *state, struct cn_unwind_step *step)
{
    cn_php_see(state, step);
    return false;
}

static size_t finish(void *state, const struct cn_language_sample *sample,
                     uint64_t *chain, size_t count, size_t most)
{
    return cn_php_finish(state, sample, chain, count, most);
}

static enum cn_language_table describe(void *state, struct cn_frame_table *out)
{
    return cn_php_describe(state, out);
}

static char *hint(const void *state)
{
    const struct cn_php *language = state;
    const char *problem = cn_php_problem(language);

    return problem ? cn_strprintf("PHP %s is not known (7.4 to 8.5 without threads are): "
                                  "the functions of its programs are not shown",
                                  problem)
                   : cn_interpreter_hint(&language->interpreted.interpreter, "PHP");
}

const struct cn_language_runtime cn_language_php = {
    .is_runtime = is_php,
    .open = open_php,
    .undo = see,
    .finish = finish,
    .describe = describe,
    .hint = hint,
    .close = close_php,
};
