#include "sampler/languages/ruby.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/interpreter.h"
#include "sampler/languages/runtimes.h"

/* What is the same in all versions that are known. */
enum {
    STATE_STACK = 0,
    STATE_STACK_LEN = 8,
    STATE_FRAME = 16,
    FRAME_PC = 0,
    FRAME_CODE = 16,
    FRAME_ENV = 32,
    ENV_FLAGS = 0,
    ENV_METHOD = -16,
    CODE_BODY = 16,
    BODY_SIZE = 4,
    BODY_INSTRUCTIONS = 8,
    METHOD_CLASS = 8,
    METHOD_DEFINITION = 16,
    METHOD_OWNER = 32,
    FLAGS_KIND = 0x7fff0001,
    KIND_METHOD = 0x11110001,
    KIND_C = 0x55550001,
    KIND_NONE = 0x79990001, /* the first frame of a thread */
    FLAG_FIRST = 0x20,      /* of the function that interprets */
    FLAG_C = 0x80,
    OBJECT_KIND = 0xf01f, /* of the flags of an object that is not for programs */
    METHOD_ENTRY = 0x601a,
    FRAME_VARIABLES = 0x201a,
    ISEQ = 0x701a,
    TEXTS_LEN_MAX = 64 << 20,
    INSTRUCTIONS_MAX = 1 << 20,
    CODES_MAX = 1 << 16,
};

/* Words of a frame that are read. What the method has is its class and its definition, unless a
 * frame has variables such as $~: then they are where the method should be, and have the method
 * first. The sum is of words that another iseq at the same address has others of. */
enum { AT_PC, AT_CODE, AT_FLAGS, AT_METHOD, AT_CLASS, AT_DEFINITION, AT_SUM, ROW_LEN };

static const struct cn_ruby_layout layouts[] = {
    {
        .version = 0x301,
        .frame_len = 64,
        .has_short = true,
        .file = 64,
        .base_name = 72,
        .name = 80,
        .first_line = 88,
        .lines = 120,
        .line_count = 136,
        .line_index = 144,
        .local = 176,
        .line_len = 12,
        .method_id = 32,
        .classes = CN_RUBY_CLASS_VARIABLES,
        .singleton = 1 << 12,
        .vm_thread = 40,
        .thread_state = 40,
    },
};

/* A function that was read: an iseq, or a method that is written in C. */
struct ruby_code {
    uint64_t code, sum;
    uint64_t method;     /* 0: it is a block */
    uint64_t begin, end; /* of instructions */
    const char *name, *file;
    uint32_t first_line;
    struct cn_ruby_lines lines;
};

struct cn_ruby {
    struct cn_memory *memory;
    struct cn_stored_names *names;
    struct cn_ruby_place place;
    const struct cn_ruby_layout *layout; /* NULL: not known */
    struct cn_ruby_objects objects;
    bool is_located; /* the variable that walks begin with */
    struct cn_interpreted interpreted;
    struct cn_map code_of; /* by iseq, or by method that is written in C */
    struct ruby_code *codes;
    size_t code_count, code_capacity;
    struct cn_map method_of; /* by iseq: its blocks do not have it */
    uint64_t *methods;
    size_t method_count, method_capacity;
    size_t text_len; /* bytes in the arena, about */
    struct cn_arena arena;
};

const struct cn_ruby_layout *cn_ruby_layout_find(uint16_t version)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].version == version)
            return &layouts[i];
    return NULL;
}

static void make_tables(struct cn_ruby *r)
{
    enum { CODE = CN_FRAME_FOUND + 1, ENV, METHOD = CN_FRAME_FOUND + 4, BODY };

    r->interpreted.table = (struct cn_frame_table){
        .language = CN_LANGUAGE_RUBY,
        .order = CN_FRAME_UP,
        .first = STATE_FRAME,
        .base = STATE_STACK,
        .count = STATE_STACK_LEN,
        .stride = r->layout->frame_len,
        .frame_len = FRAME_ENV + 8,
        .row_len = ROW_LEN,
        .read_count = 9,
        .reads =
            {
                {CN_FRAME_SELF, AT_PC, 0, FRAME_PC},
                {CN_FRAME_SELF, AT_CODE, 0, FRAME_CODE},
                {CN_FRAME_SELF, CN_FRAME_NOWHERE, 0, FRAME_ENV},
                {ENV, AT_FLAGS, 0, ENV_FLAGS},
                {ENV, AT_METHOD, 0, ENV_METHOD},
                {CODE, AT_SUM, 0, CODE_BODY},
                {BODY, AT_SUM, 0, r->layout->name},
                {METHOD, AT_CLASS, 0, METHOD_CLASS},
                {METHOD, AT_DEFINITION, 0, METHOD_DEFINITION},
            },
    };
    r->interpreted.late = r->interpreted.table;
}

static void forget(struct cn_ruby *r)
{
    cn_map_done(&r->code_of);
    cn_map_done(&r->method_of);
    free(r->codes);
    free(r->methods);
    cn_arena_done(&r->arena);
    r->codes = NULL;
    r->methods = NULL;
    r->code_count = r->code_capacity = r->method_count = r->method_capacity = 0;
    r->text_len = 0;
}

static bool is_method(struct cn_ruby *r, uint64_t method)
{
    uint64_t flags;

    return method != 0 && (method & 7) == 0 && cn_memory_u64(r->memory, method, &flags) &&
           (flags & OBJECT_KIND) == METHOD_ENTRY;
}

/* What precedes the name of a method: its class. */
static void read_owner(struct cn_ruby *r, uint64_t method, char out[CN_RUBY_TEXT_MAX])
{
    uint64_t owner;

    out[0] = '\0';
    if (is_method(r, method) && cn_memory_u64(r->memory, method + METHOD_OWNER, &owner))
        cn_ruby_class(&r->objects, owner, out);
}

/* Remember the method of an iseq. */
static void note_method(struct cn_ruby *r, uint64_t code, uint64_t method)
{
    (void)cn_map_at(&r->method_of, code, (uint32_t)r->method_count);
    CN_PUSH(r->methods, r->method_count, r->method_capacity, method);
}

/* "block in words" is "block in Text#words": the class is before the name of the method. */
static const char *join(struct cn_ruby *r, const char *owner, const char *name,
                        const char *base)
{
    size_t len = strlen(name), base_len = strlen(base);
    size_t before =
        base_len <= len && strcmp(name + len - base_len, base) == 0 ? len - base_len : 0;

    r->text_len += strlen(owner) + len + 1;
    return cn_arena_printf(&r->arena, "%.*s%s%s", (int)before, name, owner,
                           name + before);
}

static bool read_iseq(struct cn_ruby *r, struct ruby_code *code)
{
    char owner[CN_RUBY_TEXT_MAX], name[CN_RUBY_TEXT_MAX], base[CN_RUBY_TEXT_MAX];
    char file[CN_RUBY_TEXT_MAX];
    const struct cn_ruby_layout *l = r->layout;
    uint64_t flags, body, text, value, local;
    uint32_t size;

    if (!cn_memory_u64(r->memory, code->code, &flags) || (flags & OBJECT_KIND) != ISEQ ||
        !cn_memory_u64(r->memory, code->code + CODE_BODY, &body) ||
        !cn_memory_u32(r->memory, body + BODY_SIZE, &size) || size > INSTRUCTIONS_MAX ||
        !cn_memory_u64(r->memory, body + BODY_INSTRUCTIONS, &code->begin) ||
        !cn_memory_u64(r->memory, body + l->name, &text) ||
        !cn_ruby_text(&r->objects, text, name))
        return false;
    code->end = code->begin + 8 * (uint64_t)size;
    base[0] = file[0] = '\0';
    if (cn_memory_u64(r->memory, body + l->base_name, &value))
        (void)cn_ruby_text(&r->objects, value, base);
    if (cn_memory_u64(r->memory, body + l->file, &value))
        (void)cn_ruby_path(&r->objects, value, file);
    if (!cn_memory_u64(r->memory, body + l->local, &local))
        local = 0;
    uint32_t at = cn_map_find(&r->method_of, local, UINT32_MAX);
    read_owner(r,
               code->method != 0  ? code->method
               : at == UINT32_MAX ? 0
                                  : r->methods[at],
               owner);
    code->name = join(r, owner, name, base);
    code->file = cn_arena_strdup(&r->arena, file);
    r->text_len += strlen(file) + 1;
    /* A number of the language has a bit that marks it. */
    if (cn_memory_u64(r->memory, body + l->first_line, &value))
        code->first_line = l->is_line_plain ? (uint32_t)value : (uint32_t)(value >> 1);
    code->lines = cn_ruby_lines_read(&r->objects, body, &r->arena);
    r->text_len += code->lines.entries.len + code->lines.index.len;
    return true;
}

static bool read_c_method(struct cn_ruby *r, struct ruby_code *code)
{
    char owner[CN_RUBY_TEXT_MAX], name[CN_RUBY_TEXT_MAX];
    uint64_t definition, id;

    if (!is_method(r, code->method) ||
        !cn_memory_u64(r->memory, code->method + METHOD_DEFINITION, &definition) ||
        !cn_memory_u64(r->memory, definition + r->layout->method_id, &id) ||
        !cn_ruby_id(&r->objects, id, name))
        return false;
    read_owner(r, code->method, owner);
    code->name = join(r, owner, name, name);
    code->file = "";
    return true;
}

/* The method of a row; 0 if it has none. */
static uint64_t method_of(struct cn_ruby *r, const uint64_t *row)
{
    uint64_t method = row[AT_METHOD] & ~(uint64_t)CN_FRAME_TAGS, flags;

    if (method != 0 && cn_memory_u64(r->memory, method, &flags) &&
        (flags & OBJECT_KIND) == FRAME_VARIABLES)
        method = row[AT_CLASS];
    return method;
}

/* Is what a row was made of still there? */
static bool is_same(struct cn_ruby *r, const uint64_t *row)
{
    uint64_t body, name, class, definition;

    if (row[AT_FLAGS] & FLAG_C)
        return cn_memory_u64(r->memory, row[AT_METHOD] + METHOD_CLASS, &class) &&
               cn_memory_u64(r->memory, row[AT_METHOD] + METHOD_DEFINITION,
                             &definition) &&
               class == row[AT_CLASS] && definition == row[AT_DEFINITION];
    return cn_memory_u64(r->memory, row[AT_CODE] + CODE_BODY, &body) &&
           cn_memory_u64(r->memory, body + r->layout->name, &name) &&
           body + name == row[AT_SUM];
}

/* The function of a row; NULL if it can not be read, or has become another. */
static const struct ruby_code *find_code(struct cn_ruby *r, const uint64_t *row)
{
    bool is_c = row[AT_FLAGS] & FLAG_C;
    bool is_whole_method = (row[AT_FLAGS] & FLAGS_KIND) == KIND_METHOD;
    struct ruby_code code = {
        .code = is_c ? row[AT_METHOD] : row[AT_CODE],
        .sum = is_c ? row[AT_CLASS] + row[AT_DEFINITION] : row[AT_SUM],
    };
    uint32_t known = cn_map_find(&r->code_of, code.code, UINT32_MAX);

    if (known != UINT32_MAX && r->codes[known].sum == code.sum)
        return &r->codes[known];
    if (r->code_count >= CODES_MAX || r->text_len > TEXTS_LEN_MAX)
        forget(r);
    code.method = is_c || is_whole_method ? method_of(r, row) : 0;
    if (!(is_c ? read_c_method(r, &code) : read_iseq(r, &code)) || !is_same(r, row))
        return NULL;
    uint32_t at = *cn_map_at(&r->code_of, code.code, (uint32_t)r->code_count);
    if (at == r->code_count)
        CN_PUSH(r->codes, r->code_count, r->code_capacity, code);
    r->codes[at] = code;
    return &r->codes[at];
}

static uint64_t name_frame(void *arg, size_t frame,
                           const struct cn_interpreter_call *call)
{
    struct cn_ruby *r = arg;
    const uint64_t *row = cn_interpreted_row(&r->interpreted, frame);
    const struct ruby_code *code = find_code(r, row);
    bool is_c = row[AT_FLAGS] & FLAG_C;
    uint64_t position, held;

    if (!code)
        return call
                   ? 0
                   : cn_stored_names_address(r->names, &(struct cn_stored_frame){
                                                           .language = CN_LANGUAGE_RUBY});
    if (call && !is_c &&
        !cn_interpreter_holds(call, (struct cn_interpreter_range){code->begin, code->end},
                              &held))
        return 0;
    struct cn_stored_frame stored = {
        .function = code->name,
        .file = code->file,
        .language = CN_LANGUAGE_RUBY,
        .first_line = code->first_line,
    };
    /* The next instruction is the one that is stored. */
    position = (row[AT_PC] - code->begin) / 8;
    position -= position > 0;
    if (!is_c && row[AT_PC] >= code->begin && row[AT_PC] <= code->end)
        stored.line = cn_ruby_line(&code->lines, r->layout, position);
    return cn_stored_names_address(r->names, &stored);
}

static void list(void *arg, struct cn_interpreted *in)
{
    struct cn_ruby *r = arg;

    for (size_t i = 0; i < in->row_count; i++) {
        const uint64_t *row = in->rows + in->row_len * i;
        uint32_t flags = (uint32_t)row[AT_FLAGS];

        if ((flags & FLAGS_KIND) == KIND_NONE)
            continue;
        if (!(flags & FLAG_C) && row[AT_CODE] != 0 && row[AT_PC] != 0) {
            cn_interpreted_add(in, i, flags & FLAG_FIRST ? CN_INTERPRETER_FIRST : 0);
            if ((flags & FLAGS_KIND) == KIND_METHOD &&
                cn_map_find(&r->method_of, row[AT_CODE], UINT32_MAX) == UINT32_MAX)
                note_method(r, row[AT_CODE], method_of(r, row));
        } else if ((flags & FLAGS_KIND) == KIND_C && !r->objects.has_no_symbols) {
            cn_interpreted_add(in, i, 0);
        }
    }
}

/* Only the main thread is found without its thread pointer. */
static uint64_t find(void *arg, uint32_t tid)
{
    struct cn_ruby *r = arg;
    uint64_t vm, thread, state;

    if (tid != (uint32_t)r->memory->pid || r->place.vm == 0 ||
        !cn_memory_u64(r->memory, r->place.vm, &vm) ||
        !cn_memory_u64(r->memory, vm + r->layout->vm_thread, &thread) ||
        !cn_memory_u64(r->memory, thread + r->layout->thread_state, &state))
        return 0;
    return state;
}

static const struct cn_interpreted_kind kind = {
    .language = CN_LANGUAGE_RUBY,
    .same_mask = 1 << AT_CODE | 1 << AT_FLAGS,
    .list = list,
    .name = name_frame,
    .find = find,
};

struct cn_ruby *cn_ruby_open(struct cn_memory *memory, const struct cn_ruby_place *place,
                             struct cn_stored_names *names)
{
    struct cn_ruby *r = cn_alloc(1, sizeof(*r));
    unsigned major = 0, minor = 0;
    struct cn_interpreter *interpreter = &r->interpreted.interpreter;

    r->memory = memory;
    r->names = names;
    r->place = *place;
    if (sscanf(place->version, "%3u.%3u", &major, &minor) == 2)
        r->layout = cn_ruby_layout_find((uint16_t)(major << 8 | minor));
    r->objects = (struct cn_ruby_objects){
        .memory = memory,
        .layout = r->layout,
        .data_begin = place->data_begin,
        .data_end = place->data_end,
    };
    r->interpreted.kind = &kind;
    r->interpreted.arg = r;
    r->interpreted.walk.memory = memory;
    interpreter->memory = memory;
    interpreter->entry =
        (struct cn_interpreter_range){place->entry_begin, place->entry_end};
    interpreter->body = (struct cn_interpreter_range){place->body_begin, place->body_end};
    if (r->layout)
        make_tables(r);
    return r;
}

void cn_ruby_close(struct cn_ruby *r)
{
    if (!r)
        return;
    forget(r);
    free(r);
}

enum cn_language_table cn_ruby_describe(struct cn_ruby *r, struct cn_frame_table *out)
{
    if (!r->layout)
        return CN_LANGUAGE_NO_TABLE;
    if (!r->is_located)
        r->is_located = cn_language_variable_locate(&r->place.state, r->memory,
                                                    &r->interpreted.table);
    if (!r->is_located)
        return CN_LANGUAGE_LATER;
    *out = r->interpreted.table;
    return CN_LANGUAGE_TABLE;
}

void cn_ruby_see(struct cn_ruby *r, const struct cn_unwind_step *step)
{
    cn_interpreter_see(&r->interpreted.interpreter, step);
}

size_t cn_ruby_finish(struct cn_ruby *r, const struct cn_language_sample *sample,
                      uint64_t *chain, size_t count, size_t most)
{
    return r->layout ? cn_interpreted_finish(&r->interpreted, sample, chain, count, most)
                     : count;
}

const char *cn_ruby_problem(const struct cn_ruby *r)
{
    return r->layout ? NULL : r->place.version;
}

static bool is_ruby(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    name += strncmp(name, "lib", 3) == 0 ? 3 : 0;
    return strncmp(name, "ruby", 4) == 0;
}

static void *open_ruby(struct cn_memory *memory,
                       const struct cn_language_mapping *mapping,
                       struct cn_stored_names *names)
{
    static const char *const symbols[] = {"ruby_version", "ruby_current_vm_ptr",
                                          "rb_vm_exec", "vm_exec_core"};
    enum { COUNT = sizeof(symbols) / sizeof(symbols[0]) };
    uint64_t at[COUNT], lens[COUNT];
    struct cn_ruby_place place = {0};

    cn_language_symbols_sized(mapping, symbols, COUNT, at, lens);
    /* The program that uses the library has none of them. */
    if (at[0] == 0 || at[2] == 0 || lens[2] == 0)
        return NULL;
    place.vm = at[1];
    place.entry_begin = at[2];
    place.entry_end = at[2] + lens[2];
    place.body_begin = at[3];
    place.body_end = at[3] + lens[3];
    if (at[3] == 0)
        (void)cn_language_callee(mapping, place.entry_begin, place.entry_end,
                                 &place.body_begin, &place.body_end);
    (void)cn_language_variable_find(mapping, "ruby_current_ec", &place.state);
    (void)cn_language_data(mapping, &place.data_begin, &place.data_end);
    if (!cn_language_constant(mapping, at[0], place.version, sizeof(place.version) - 1))
        return NULL;
    return cn_ruby_open(memory, &place, names);
}

static void close_ruby(void *state)
{
    cn_ruby_close(state);
}

static bool see(void *state, struct cn_unwind_step *step)
{
    cn_ruby_see(state, step);
    return false;
}

static size_t finish(void *state, const struct cn_language_sample *sample,
                     uint64_t *chain, size_t count, size_t most)
{
    return cn_ruby_finish(state, sample, chain, count, most);
}

static enum cn_language_table describe(void *state, struct cn_frame_table *out)
{
    return cn_ruby_describe(state, out);
}

static char *hint(const void *state)
{
    const struct cn_ruby *language = state;
    const char *problem = cn_ruby_problem(language);

    return problem ? cn_strprintf("Ruby %s is not known: the methods of its programs are "
                                  "not shown",
                                  problem)
                   : cn_interpreter_hint(&language->interpreted.interpreter, "Ruby");
}

const struct cn_language_runtime cn_language_ruby = {
    .is_runtime = is_ruby,
    .open = open_ruby,
    .undo = see,
    .finish = finish,
    .describe = describe,
    .hint = hint,
    .close = close_ruby,
};
