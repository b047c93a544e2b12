#include "sampler/languages/perl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/interpreter.h"
#include "sampler/languages/runtimes.h"
#include "sampler/languages/texts.h"

/* What is the same in all versions that are known. */
enum {
    ARRAY_CONTEXTS = 8,
    ARRAY_PREVIOUS = 16,
    ARRAY_LAST = 32, /* index */
    CONTEXT_KIND = 0,
    CONTEXT_LINE = 16, /* of the caller */
    CONTEXT_RETURN = 48,
    KIND_MASK = 15,
    KIND_NONE = 0,
    KIND_SUB = 9,
    KIND_FORMAT = 10,
    KIND_EVAL = 11,
    IS_BLOCK = 1 << 6,  /* of an eval */
    IS_REGEXP = 1 << 6, /* of a sub: a block of code in a regular expression */
    SORTS = 3,          /* kind of an array */
    LINE_NUMBER = 36,
    LINE_FILE = 48,
    VALUE_BODY = 0,
    VALUE_FLAGS = 12,
    VALUE_DATA = 16,
    TYPE_MASK = 0xff,
    TYPE_GLOB = 9,
    TYPE_PACKAGE = 12,
    TYPE_SUB = 13,
    SUB_PACKAGE = 32,
    SUB_START = 40,
    SUB_NAME = 56, /* the name, or a glob with it */
    SUB_FLAGS = 92,
    SUB_HAS_NAME = 1 << 15,
    GLOB_NAME = 32,
    GLOB_PACKAGE = 40,
    TABLE_MAX = 24, /* of a package */
    TABLE_LEN = 32,
    MORE_NAME = 0,
    MORE_NAME_COUNT = 28,
    NAME_LEN = 4,
    NAME_CHARS = 8,
    TABLE_SIZE_MAX = 1 << 24,
    NAME_MAX = 512,
    LINES_MAX = 1 << 24,
    /* Where glibc has the values of keys, from the thread pointer. */
    X86_KEYS_OFF = 0x310,
    ARM_KEYS_OFF = -1584,
    KEYS_MAX = 32,
};

/* Words of the state, and of a context, that are read: both have the line, the path of its file and
 * the first characters of that in this order. The sum is of words that another sub at the
 * same address has others of. */
enum { HEAD_LINE, HEAD_FILE, HEAD_FILE_CHARS, HEAD_LEN };
enum {
    AT_KIND,
    AT_RETURN,
    AT_LINE,
    AT_FILE,
    AT_FILE_CHARS, /* the first of its path */
    AT_SUB,
    AT_SUM,
    AT_REQUIRED,
    AT_CHARS, /* the first of the name of what is required */
    AT_ARRAY,
    ROW_LEN
};

static const struct cn_perl_layout layouts[] = {
    {28, 240, 224, 96, 64, 56, 40, false},  {30, 240, 224, 96, 64, 56, 40, false},
    {32, 240, 224, 104, 72, 64, 44, false}, {34, 224, 208, 104, 72, 64, 44, false},
    {36, 224, 208, 104, 72, 64, 44, true},  {38, 224, 208, 104, 72, 64, 44, true},
    {40, 224, 208, 104, 72, 64, 44, true},
};

struct cn_perl {
    struct cn_memory *memory;
    struct cn_stored_names *names;
    struct cn_perl_place place;
    const struct cn_perl_layout *layout; /* NULL: not known */
    char version[16];
    bool is_located;
    bool runs_program; /* the stack of the sample has the call that runs the program */
    size_t main_frame; /* the frame of the program itself; SIZE_MAX: none */
    struct cn_interpreted interpreted;
    struct cn_language_texts subs;  /* names by address */
    struct cn_language_texts files; /* paths */
};

const struct cn_perl_layout *cn_perl_layout_find(uint8_t version)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].version == version)
            return &layouts[i];
    return NULL;
}

static void make_tables(struct cn_perl *p)
{
    const struct cn_perl_layout *l = p->layout;
    struct cn_frame_table *t = &p->interpreted.table;
    enum { LINE = CN_FRAME_FOUND + 2, FILE = CN_FRAME_FOUND + 4, SUB = FILE + 2, BODY };
    enum { REQUIRED = CN_FRAME_FOUND + 9, CHARS };
    enum { HEAD_FILE_NAME = CN_FRAME_FOUND + 2 };

    *t = (struct cn_frame_table){
        .language = CN_LANGUAGE_PERL,
        .order = CN_FRAME_DOWN,
        .first = l->contexts,
        .base = ARRAY_CONTEXTS,
        .count = ARRAY_LAST,
        .array_next = ARRAY_PREVIOUS,
        .stride = l->context_len,
        .frame_len = l->context_len,
        .head_len = HEAD_LEN,
        .head_read_count = 4,
        .head_reads =
            {
                {CN_FRAME_STATE, CN_FRAME_NOWHERE, 0, l->line},
                {CN_FRAME_FOUND, HEAD_LINE, 0, LINE_NUMBER},
                {CN_FRAME_FOUND, HEAD_FILE, 0, LINE_FILE},
                {HEAD_FILE_NAME, HEAD_FILE_CHARS, 0, 0},
            },
        .row_len = ROW_LEN,
        .read_count = 13,
        .reads =
            {
                {CN_FRAME_SELF, AT_KIND, 0, CONTEXT_KIND},
                {CN_FRAME_SELF, AT_RETURN, 0, CONTEXT_RETURN},
                {CN_FRAME_SELF, CN_FRAME_NOWHERE, 0, CONTEXT_LINE},
                {LINE, AT_LINE, 0, LINE_NUMBER},
                {LINE, AT_FILE, 0, LINE_FILE},
                {FILE, AT_FILE_CHARS, 0, 0},
                {CN_FRAME_SELF, AT_SUB, 0, l->sub},
                {SUB, AT_SUM, 0, VALUE_BODY},
                {BODY, AT_SUM, 0, SUB_NAME},
                {CN_FRAME_SELF, AT_REQUIRED, 0, l->required},
                {REQUIRED, CN_FRAME_NOWHERE, 0, VALUE_DATA},
                {CHARS, AT_CHARS, 0, 0},
                {CN_FRAME_ARRAY, AT_ARRAY, 0, l->array_kind},
            },
    };
    /* Without threads the members of the state are variables of their own. */
    if (p->place.contexts != 0) {
        t->root_kind = CN_FRAME_AT_ADDRESS;
        t->root = p->place.contexts;
        t->first = 0;
        t->head_reads[0].off = (int32_t)(int64_t)(p->place.line - p->place.contexts);
        p->is_located = true;
    }
    p->interpreted.late = *t;
}

/* A name of the interpreter, which has its length. */
static bool read_name(struct cn_perl *p, uint64_t address, char out[NAME_MAX])
{
    uint32_t len;

    if (address == 0 || !cn_memory_u32(p->memory, address + NAME_LEN, &len) || len == 0 ||
        len > INT32_MAX)
        return false;
    len = len < NAME_MAX ? len : NAME_MAX - 1;
    if (!cn_memory_read(p->memory, address + NAME_CHARS, out, len))
        return false;
    out[len] = '\0';
    return true;
}

static bool is_type(struct cn_perl *p, uint64_t value, uint32_t type)
{
    uint32_t flags;

    return value != 0 && cn_memory_u32(p->memory, value + VALUE_FLAGS, &flags) &&
           (flags & TYPE_MASK) == type;
}

/* The name of a package: in what a table has more than others, which is after its list or after
 * its body. */
static bool read_package(struct cn_perl *p, uint64_t package, char out[NAME_MAX])
{
    uint64_t body, list, max, more, name;
    uint32_t count;

    if (!is_type(p, package, TYPE_PACKAGE) ||
        !cn_memory_u64(p->memory, package + VALUE_BODY, &body))
        return false;
    more = body + TABLE_LEN;
    if (!p->layout->has_more_in_body) {
        if (!cn_memory_u64(p->memory, package + VALUE_DATA, &list) ||
            !cn_memory_u64(p->memory, body + TABLE_MAX, &max) || max > TABLE_SIZE_MAX)
            return false;
        more = list + 8 * (max + 1);
    }
    if (!cn_memory_u64(p->memory, more + MORE_NAME, &name) ||
        !cn_memory_u32(p->memory, more + MORE_NAME_COUNT, &count))
        return false;
    /* With several names, the first of a list. */
    if (count != 0 && !cn_memory_u64(p->memory, name, &name))
        return false;
    return read_name(p, name, out);
}

/* The first characters of a string, without what is after its end. */
static uint64_t first_chars(uint64_t word)
{
    for (unsigned i = 0; i < 64; i += 8)
        if ((word >> i & 0xff) == 0)
            return word & ((UINT64_C(1) << i) - 1);
    return word;
}

/* A path, which began with `first` at the sample (0: not known): as it was when it was first read if
 * it has changed since, or the process has ended. "" if it is not known. Each string that eval
 * compiles has a number, "(eval 12)", which is left out. */
static const char *read_file(struct cn_perl *p, uint64_t address, uint64_t first)
{
    static const char eval[] = "(eval ";
    char chars[CN_STORED_TEXT_MAX] = {0};
    const struct cn_language_text *known = cn_language_texts_find(&p->files, address);
    uint64_t now;

    if (address == 0)
        return "";
    bool is_read = cn_memory_string(p->memory, address, chars, sizeof(chars));
    memcpy(&now, chars, sizeof(now));
    now = is_read ? first_chars(now) : 0;
    first = first_chars(first);
    if (first == 0)
        first = is_read || !known ? now : known->check;
    if (memcmp(&first, eval, strlen(eval)) == 0)
        return "(eval)";
    if (now != first || first == 0)
        return known && known->check == first ? known->chars : "";
    if (known && strcmp(known->chars, chars) == 0)
        return known->chars;
    return cn_language_texts_add(&p->files, address, first, chars, strlen(chars))->chars;
}

/* Where a sub begins: its first operation has the line, unless it is in C. The file is "" if it is
 * not known. */
static uint32_t find_start(struct cn_perl *p, uint64_t body, const char **file)
{
    uint64_t start, path;
    uint32_t line;

    *file = "";
    if (!cn_memory_u64(p->memory, body + SUB_START, &start) || start == 0 ||
        !cn_memory_u32(p->memory, start + LINE_NUMBER, &line) || line > LINES_MAX ||
        !cn_memory_u64(p->memory, start + LINE_FILE, &path))
        return 0;
    *file = read_file(p, path, 0);
    return (*file)[0] != '\0' ? line : 0;
}

/* The name of a sub, if it is still that of the sample; NULL if it can not be read. */
static const struct cn_language_text *read_sub(struct cn_perl *p, uint64_t sub,
                                               uint64_t sum)
{
    const struct cn_language_text *known = cn_language_texts_find(&p->subs, sub);
    char name[NAME_MAX], package_name[NAME_MAX];
    uint64_t body, glob, package;
    uint32_t flags;
    struct cn_text text = {0};

    if (known && known->check == sum)
        return known;
    if (!is_type(p, sub, TYPE_SUB) ||
        !cn_memory_u64(p->memory, sub + VALUE_BODY, &body) ||
        !cn_memory_u32(p->memory, body + SUB_FLAGS, &flags) ||
        !cn_memory_u64(p->memory, body + SUB_NAME, &glob) || body + glob != sum)
        return NULL;
    if (flags & SUB_HAS_NAME) {
        if (!read_name(p, glob, name) ||
            !cn_memory_u64(p->memory, body + SUB_PACKAGE, &package))
            return NULL;
    } else {
        uint64_t more, hek;

        if (!is_type(p, glob, TYPE_GLOB) ||
            !cn_memory_u64(p->memory, glob + VALUE_BODY, &more) ||
            !cn_memory_u64(p->memory, more + GLOB_NAME, &hek) ||
            !read_name(p, hek, name) ||
            !cn_memory_u64(p->memory, more + GLOB_PACKAGE, &package))
            return NULL;
    }
    if (read_package(p, package, package_name))
        cn_text_printf(&text, "%s::", package_name);
    cn_text_str_add(&text, name);
    const char *file, *base;
    uint32_t line = find_start(p, body, &file);
    base = strrchr(file, '/');
    if (strcmp(name, "__ANON__") == 0 && line > 0)
        cn_text_printf(&text, "[%s:%u]", base ? base + 1 : file, line);
    struct cn_language_text *added =
        cn_language_texts_add(&p->subs, sub, sum, cn_text_str(&text), text.len);
    added->line = line;
    cn_text_done(&text);
    return added;
}

/* The name of the file that a context requires: a value with a string, which begins as it did at the
 * sample, unless the file is complete and another value has its place. */
static void print_required(struct cn_perl *p, const uint64_t *row, struct cn_text *out)
{
    char chars[NAME_MAX];
    uint64_t value = row[AT_REQUIRED], data, first;

    if (value == 0)
        cn_text_str_add(out, "(eval)");
    else if (cn_memory_u64(p->memory, value + VALUE_DATA, &data) && data != 0 &&
             cn_memory_u64(p->memory, data & ~(uint64_t)CN_FRAME_TAGS, &first) &&
             first == row[AT_CHARS] &&
             cn_memory_string(p->memory, data, chars, sizeof(chars)) && chars[0])
        cn_text_printf(out, "require %s", chars);
    else
        cn_text_str_add(out, "(require)");
}

static bool is_regexp(const uint64_t *row)
{
    return (row[AT_KIND] & KIND_MASK) == KIND_SUB && row[AT_KIND] & IS_REGEXP;
}

static bool is_sort(const uint64_t *row)
{
    return (row[AT_KIND] & KIND_MASK) == KIND_NONE && (uint32_t)row[AT_ARRAY] == SORTS;
}

static bool name_row(struct cn_perl *p, const uint64_t *row, struct cn_text *out,
                     uint32_t *first_line)
{
    const struct cn_language_text *sub;

    switch (row[AT_KIND] & KIND_MASK) {
    case KIND_EVAL:
        print_required(p, row, out);
        return true;
    case KIND_NONE:
        cn_text_str_add(out, "(sort block)");
        return true;
    default:
        if (is_regexp(row)) {
            cn_text_str_add(out, "(regexp block)");
            return true;
        }
        sub = read_sub(p, row[AT_SUB], row[AT_SUM]);
        cn_text_str_add(out, sub ? sub->chars : "");
        *first_line = sub ? sub->line : 0;
        return sub;
    }
}

static uint64_t name_frame(void *arg, size_t frame,
                           const struct cn_interpreter_call *call)
{
    struct cn_perl *p = arg;
    const struct cn_interpreted *in = &p->interpreted;
    struct cn_text name = {0};
    struct cn_stored_frame stored = {.language = CN_LANGUAGE_PERL};

    /* Nothing in the stack says what an older one ran. */
    if (call)
        return 0;
    if (frame == p->main_frame)
        cn_text_str_add(&name, "main::RUNTIME");
    bool is_known = frame == p->main_frame ||
                    name_row(p, cn_interpreted_row(in, frame), &name, &stored.first_line);
    /* The line is that from which the frame before was called. */
    const uint64_t *at = frame == 0 ? in->head : cn_interpreted_row(in, frame - 1);
    const uint64_t *line = at + (frame == 0 ? (size_t)HEAD_LINE : (size_t)AT_LINE);
    if (is_known) {
        stored.function = cn_text_str(&name);
        stored.file = read_file(p, line[1], line[2]);
        stored.line = (uint32_t)line[0];
    }
    uint64_t address = cn_stored_names_address(p->names, &stored);
    cn_text_done(&name);
    return address;
}

/* A call from C returns to no operation. Neither does the last one of a block that C calls: the
 * context of that block is the next of the same array. */
static bool is_from_c(const uint64_t *row, const uint64_t *outer)
{
    return row[AT_RETURN] == 0 &&
           !(outer && !is_regexp(row) &&
             (uint32_t)row[AT_ARRAY] == (uint32_t)outer[AT_ARRAY] &&
             (is_sort(outer) || is_regexp(outer)));
}

static void list(void *arg, struct cn_interpreted *in)
{
    struct cn_perl *p = arg;

    for (size_t i = 0; i < in->row_count; i++) {
        const uint64_t *row = in->rows + in->row_len * i;
        const uint64_t *outer = i + 1 < in->row_count ? row + in->row_len : NULL;
        unsigned kind = row[AT_KIND] & KIND_MASK;

        if (kind == KIND_SUB || kind == KIND_FORMAT)
            cn_interpreted_add(in, i, is_from_c(row, outer) ? CN_INTERPRETER_FIRST : 0);
        else if (kind == KIND_EVAL && !(row[AT_KIND] & IS_BLOCK))
            cn_interpreted_add(in, i, 0);
        else if (is_sort(row))
            cn_interpreted_add(in, i, CN_INTERPRETER_FIRST);
    }
    p->main_frame = SIZE_MAX;
    if (p->runs_program && in->frame_count < CN_INTERPRETER_FRAMES_MAX) {
        p->main_frame = in->frame_count;
        cn_interpreted_add(in, in->row_count, CN_INTERPRETER_FIRST);
    }
}

static uint64_t find(void *arg, uint32_t tid)
{
    struct cn_perl *p = arg;
    uint64_t state;

    if (p->place.contexts != 0)
        return p->place.contexts;
    if (tid != (uint32_t)p->memory->pid || p->place.first == 0 ||
        !cn_memory_u64(p->memory, p->place.first, &state))
        return 0;
    return state;
}

static const struct cn_interpreted_kind kind = {
    .language = CN_LANGUAGE_PERL,
    .same_mask = 1 << AT_KIND | 1 << AT_RETURN | 1 << AT_SUB,
    .list = list,
    .name = name_frame,
    .find = find,
};

struct cn_perl *cn_perl_open(struct cn_memory *memory, const struct cn_perl_place *place,
                             struct cn_stored_names *names)
{
    struct cn_perl *p = cn_alloc(1, sizeof(*p));

    p->memory = memory;
    p->names = names;
    p->place = *place;
    (void)snprintf(p->version, sizeof(p->version), "%u.%u.%u", place->revision,
                   place->version, place->subversion);
    p->layout = place->revision == 5 ? cn_perl_layout_find(place->version) : NULL;
    p->interpreted.kind = &kind;
    p->interpreted.arg = p;
    p->interpreted.walk.memory = memory;
    p->interpreted.interpreter.memory = memory;
    p->interpreted.interpreter.entry =
        (struct cn_interpreter_range){place->runops_begin, place->runops_end};
    if (p->layout)
        make_tables(p);
    return p;
}

void cn_perl_close(struct cn_perl *p)
{
    if (!p)
        return;
    cn_language_texts_done(&p->subs);
    cn_language_texts_done(&p->files);
    free(p);
}

/* The interpreter of a thread is the value of a key where it is not in a variable. */
static bool locate(struct cn_perl *p)
{
    struct cn_frame_table *t = &p->interpreted.table;
    uint32_t key;

    if (p->place.state.kind != CN_VARIABLE_NONE)
        return cn_language_variable_locate(&p->place.state, p->memory, t);
    if (p->place.key == 0 || !cn_memory_u32(p->memory, p->place.key, &key) ||
        key >= KEYS_MAX)
        return false;
    t->root_kind = CN_FRAME_AT_THREAD;
    t->root =
        (uint64_t)(int64_t)(cn_unwind_machine_here() == CN_UNWIND_X86_64 ? X86_KEYS_OFF
                                                                         : ARM_KEYS_OFF) +
        16 * (uint64_t)key + 8;
    return true;
}

enum cn_language_table cn_perl_describe(struct cn_perl *p, struct cn_frame_table *out)
{
    if (!p->layout)
        return CN_LANGUAGE_NO_TABLE;
    p->is_located = p->is_located || locate(p);
    if (!p->is_located)
        return CN_LANGUAGE_LATER;
    *out = p->interpreted.table;
    return CN_LANGUAGE_TABLE;
}

void cn_perl_see(struct cn_perl *p, const struct cn_unwind_step *step)
{
    cn_interpreter_see(&p->interpreted.interpreter, step);
}

size_t cn_perl_finish(struct cn_perl *p, const struct cn_language_sample *sample,
                      uint64_t *chain, size_t count, size_t most)
{
    if (!p->layout)
        return count;
    p->runs_program = false;
    for (size_t i = 0; i < count; i++)
        p->runs_program |= chain[i] >= p->place.run_begin && chain[i] < p->place.run_end;
    return cn_interpreted_finish(&p->interpreted, sample, chain, count, most);
}

const char *cn_perl_problem(const struct cn_perl *p)
{
    return p->layout ? NULL : p->version;
}

static bool is_perl(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    name += strncmp(name, "lib", 3) == 0 ? 3 : 0;
    return strncmp(name, "perl", 4) == 0;
}

static void *open_perl(struct cn_memory *memory,
                       const struct cn_language_mapping *mapping,
                       struct cn_stored_names *names)
{
    static const char *const symbols[] = {
        "PL_revision", "PL_version",      "PL_subversion",
        "PL_thr_key",  "PL_curinterp",    "Perl_runops_standard",
        "perl_run",    "PL_curstackinfo", "PL_curcop",
    };
    enum {
        COUNT = sizeof(symbols) / sizeof(symbols[0]),
        RUNOPS = 5,
        RUN,
        CONTEXTS,
        LINE
    };
    uint64_t at[COUNT], lens[COUNT];
    struct cn_perl_place place = {0};

    cn_language_symbols_sized(mapping, symbols, COUNT, at, lens);
    /* The program that uses the library has none of them. */
    if (at[RUNOPS] == 0 || lens[RUNOPS] == 0 ||
        !cn_language_constant(mapping, at[0], &place.revision, 1) ||
        !cn_language_constant(mapping, at[1], &place.version, 1) ||
        !cn_language_constant(mapping, at[2], &place.subversion, 1))
        return NULL;
    (void)cn_language_variable_find(mapping, "PL_current_context", &place.state);
    place.key = at[3];
    place.first = at[4];
    place.runops_begin = at[RUNOPS];
    place.runops_end = at[RUNOPS] + lens[RUNOPS];
    place.run_begin = at[RUN];
    place.run_end = at[RUN] + lens[RUN];
    place.contexts = at[CONTEXTS];
    place.line = at[LINE];
    return cn_perl_open(memory, &place, names);
}

static void close_perl(void *state)
{
    cn_perl_close(state);
}

static bool see(void *state, struct cn_unwind_step *step)
{
    cn_perl_see(state, step);
    return false;
}

static size_t finish(void *state, const struct cn_language_sample *sample,
                     uint64_t *chain, size_t count, size_t most)
{
    return cn_perl_finish(state, sample, chain, count, most);
}

static enum cn_language_table describe(void *state, struct cn_frame_table *out)
{
    return cn_perl_describe(state, out);
}

static char *hint(const void *state)
{
    const struct cn_perl *language = state;
    const char *problem = cn_perl_problem(language);

    return problem
               ? cn_strprintf("Perl %s is not known (5.28 to 5.40 are): the subs of its "
                              "programs are not shown",
                              problem)
               : cn_interpreter_hint(&language->interpreted.interpreter, "Perl");
}

const struct cn_language_runtime cn_language_perl = {
    .is_runtime = is_perl,
    .open = open_perl,
    .undo = see,
    .finish = finish,
    .describe = describe,
    .hint = hint,
    .close = close_perl,
};
