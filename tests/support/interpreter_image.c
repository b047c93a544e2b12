#include "support/interpreter_image.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "formats/exchange/perf/stored_names.h"

static uint8_t *at(struct cn_text *image, uint64_t off)
{
    assert(off < CN_IMAGE_LEN);
    return (uint8_t *)image->chars + off;
}

static void put(struct cn_text *image, uint64_t off, uint64_t value)
{
    cn_u64_put(at(image, off), value);
}

/* A pointer to another place of the image. */
static void point(struct cn_text *image, uint64_t off, uint64_t to)
{
    put(image, off, CN_IMAGE_BASE + to);
}

static struct cn_text image_new(void)
{
    struct cn_text image = {0};

    memset(cn_text_room(&image, CN_IMAGE_LEN), 0, CN_IMAGE_LEN);
    cn_text_advance(&image, CN_IMAGE_LEN);
    return image;
}

bool cn_image_walk(struct cn_frame_walk *walk, struct cn_memory *memory,
                   const struct cn_frame_table *table, uint64_t state)
{
    walk->memory = memory;
    return cn_frame_walk_from(walk, table, state);
}

char *cn_image_name(const struct cn_stored_names *names, uint64_t address)
{
    for (size_t i = 0; i < names->count; i++) {
        /* Adding a frame again gives the address that it has. */
        struct cn_stored_names copy = *names;

        if (cn_stored_names_address(&copy, &names->frames[i]) == address)
            return cn_strprintf("%s:%u", names->frames[i].function,
                                names->frames[i].line);
    }
    return cn_strdup("");
}

/* PHP. */

enum { PHP_FRAMES = 0x400, PHP_FUNCTIONS = 0x800, PHP_TEXTS = 0x2000 };
enum { PHP_KEY, PHP_USORT, PHP_MAIN, PHP_COUNT };

static void add_php_text(struct cn_text *image, uint64_t off, const char *chars)
{
    put(image, off + 8, off + 77); /* the hash */
    put(image, off + 16, strlen(chars));
    memcpy(at(image, off + 24), chars, strlen(chars));
}

static void add_php_function(struct cn_text *image, const struct cn_php_layout *l,
                             unsigned number, uint8_t kind, const char *name,
                             uint64_t opcodes)
{
    uint64_t function = PHP_FUNCTIONS + 0x200 * (uint64_t)number;
    uint64_t text = PHP_TEXTS + 0x80 * (uint64_t)number;

    *at(image, function) = kind;
    if (name) {
        point(image, function + 8, text);
        add_php_text(image, text, name);
    }
    if (opcodes > 0) {
        point(image, function + l->file, PHP_TEXTS + 0x200);
        put(image, function + l->opcodes, opcodes);
        cn_u32_put(at(image, function + l->last), 8);
    }
}

static void add_php_frame(struct cn_text *image, unsigned number, uint64_t opline,
                          uint64_t call, uint32_t line)
{
    uint64_t frame = PHP_FRAMES + 0x80 * (uint64_t)number;

    if (opline > 0) {
        put(image, frame, opline);
        cn_u32_put(at(image, opline - CN_IMAGE_BASE + 24), line);
    }
    point(image, frame + 24, PHP_FUNCTIONS + 0x200 * (uint64_t)number);
    put(image, frame + 40, call);
    if (number + 1 < PHP_COUNT)
        point(image, frame + 48, frame + 0x80);
}

struct cn_text cn_image_php(uint32_t api)
{
    const struct cn_php_layout *l = cn_php_layout_find(api);
    struct cn_text image = image_new();
    enum { INTERNAL = 1, USER = 2, TOP = 1 << 17, CLASS = 0x2400 };

    point(&image, l->current, PHP_FRAMES);
    add_php_function(&image, l, PHP_KEY, USER, "key", CN_IMAGE_KEY_ADDRESS);
    add_php_function(&image, l, PHP_USORT, INTERNAL, "usort", 0);
    add_php_function(&image, l, PHP_MAIN, USER, NULL, CN_IMAGE_MAIN_ADDRESS);
    point(&image, PHP_FUNCTIONS + 16, CLASS);
    point(&image, CLASS + 8, CLASS + 0x80);
    add_php_text(&image, CLASS + 0x80, "Shape");
    add_php_text(&image, PHP_TEXTS + 0x200, "/srv/app.php");
    add_php_frame(&image, PHP_KEY, CN_IMAGE_KEY_ADDRESS + 32, TOP, 3);
    add_php_frame(&image, PHP_USORT, 0, 0, 0);
    add_php_frame(&image, PHP_MAIN, CN_IMAGE_MAIN_ADDRESS + 64, TOP, 12);
    return image;
}

struct cn_php_place cn_image_php_place(uint32_t api)
{
    const struct cn_php_layout *layout = cn_php_layout_find(api);

    return (struct cn_php_place){
        .globals = CN_IMAGE_BASE,
        .globals_len = layout ? layout->globals_len : 0,
        .execute_begin = CN_IMAGE_LOOP,
        .execute_end = CN_IMAGE_EVAL_END,
        .api = api,
    };
}

/* Ruby. */

enum {
    RUBY_STATE = 0x100,
    RUBY_VM = 0x180,
    RUBY_THREAD = 0x200,
    RUBY_STACK = 0x400, /* ends at RUBY_STACK_END */
    RUBY_STACK_END = 0x700,
    RUBY_ENVS = 0x740,
    RUBY_CODES = 0x800,  /* of 0x20 bytes: block, words, <main> */
    RUBY_BODIES = 0x900, /* of 0x180 bytes */
    RUBY_TEXTS = 0xe00,
    RUBY_LINES = 0x1200,
    RUBY_METHODS = 0x1300, /* words, each */
    RUBY_CLASSES = 0x1400, /* Text, Array: of 0x100 bytes */
    RUBY_SYMBOLS = 0x1800,
    RUBY_SYMBOL_BLOCK = 0x1900, /* symbols up to RUBY_SYMBOL_COUNT, of 16 bytes each */
    RUBY_SYMBOL_COUNT = 0x100,
    RUBY_DATA = 0x3c00,
    RUBY_OBJECT_STRING = 5,
    RUBY_EACH_ID = 0xa0,
    RUBY_CLASSPATH_ID = 0xb1,
    RUBY_CLASSPATH_NUMBER = 0xb1 >> 4,
};

static void add_ruby_text(struct cn_text *image, const struct cn_ruby_layout *l,
                          uint64_t off, const char *chars)
{
    enum { IS_LONG = 1 << 13 };
    size_t len = strlen(chars);

    assert(len < 24);
    put(image, off, RUBY_OBJECT_STRING | (l->has_short ? len << 14 : 0));
    if (!l->has_short)
        put(image, off + 16, len);
    memcpy(at(image, off + (l->has_short ? 16 : 24)), chars, len);
}

static void add_ruby_array(struct cn_text *image, uint64_t off, uint64_t list,
                           uint64_t count)
{
    put(image, off, 7);
    put(image, off + 16, count);
    point(image, off + 32, list);
}

static void add_ruby_code(struct cn_text *image, const struct cn_ruby_layout *l,
                          unsigned number, const char *base, const char *name,
                          uint64_t instructions, unsigned local)
{
    uint64_t code = RUBY_CODES + 0x20 * (uint64_t)number;
    uint64_t body = RUBY_BODIES + 0x180 * (uint64_t)number;
    uint64_t text = RUBY_TEXTS + 0x100 * (uint64_t)number;
    uint64_t lines = RUBY_LINES + 0x40 * (uint64_t)number;

    put(image, code, 0x701a);
    point(image, code + 16, body);
    cn_u32_put(at(image, body + 4), 16);
    put(image, body + 8, instructions);
    point(image, body + l->base_name, text);
    add_ruby_text(image, l, text, base);
    point(image, body + l->name, text + 0x40);
    add_ruby_text(image, l, text + 0x40, name);
    point(image, body + l->file, text + 0x80);
    add_ruby_text(image, l, text + 0x80, "/srv/app.rb");
    put(image, body + l->first_line, l->is_line_plain ? 5 : 5 << 1 | 1);
    point(image, body + l->lines, lines);
    cn_u32_put(at(image, body + l->line_count), 1);
    cn_u32_put(at(image, lines), 10 + number);
    point(image, body + l->local, RUBY_CODES + 0x20 * (uint64_t)local);
}

/* `number` counts from the innermost; without code it is a method of C. */
static void add_ruby_frame(struct cn_text *image, const struct cn_ruby_layout *l,
                           unsigned number, unsigned count, int code, uint64_t pc,
                           uint32_t flags, int method)
{
    uint64_t frame = RUBY_STACK_END - (uint64_t)l->frame_len * (count - number);
    uint64_t env = RUBY_ENVS + 0x20 * (uint64_t)number;

    if (number == 0)
        point(image, RUBY_STATE + 16, frame);
    put(image, frame, pc);
    if (code >= 0)
        point(image, frame + 16, RUBY_CODES + 0x20 * (uint64_t)code);
    point(image, frame + 32, env + 16);
    put(image, env + 16, flags);
    if (method >= 0)
        point(image, env, RUBY_METHODS + 0x40 * (uint64_t)method);
}

static void add_ruby_class(struct cn_text *image, const struct cn_ruby_layout *l,
                           unsigned number, const char *name)
{
    enum { MORE = 0x40, TABLE = 0x60, ENTRY = 0xa0, TEXT = 0xc0 };
    uint64_t class = RUBY_CLASSES + 0x100 * (uint64_t)number;

    put(image, class, 2);
    add_ruby_text(image, l, class + TEXT, name);
    if (l->classes == CN_RUBY_CLASS_FIELD) {
        point(image, class + l->class_name, class + TEXT);
        return;
    }
    point(image, class + 24, class + MORE);
    point(image, class + MORE + 8, class + TABLE);
    put(image, class + TABLE + 40, 1);
    point(image, class + TABLE + 48, class + ENTRY);
    put(image, class + ENTRY + 8, RUBY_CLASSPATH_ID);
    point(image, class + ENTRY + 16, class + TEXT);
}

static void add_ruby_symbol(struct cn_text *image, const struct cn_ruby_layout *l,
                            unsigned number, unsigned text, const char *name)
{
    uint64_t off = 0x2c00 + 0x40 * (uint64_t)text;

    point(image, RUBY_SYMBOL_BLOCK + 0x40 + 16 * (uint64_t)number, off);
    add_ruby_text(image, l, off, name);
}

static void add_ruby_symbols(struct cn_text *image, const struct cn_ruby_layout *l)
{
    /* The list has one block, which has the symbols. */
    add_ruby_array(image, RUBY_SYMBOLS, RUBY_SYMBOLS + 0x40, 1);
    point(image, RUBY_SYMBOLS + 0x40, RUBY_SYMBOL_BLOCK);
    add_ruby_array(image, RUBY_SYMBOL_BLOCK, RUBY_SYMBOL_BLOCK + 0x40,
                   2 * RUBY_SYMBOL_COUNT);
    add_ruby_symbol(image, l, '!', 0, "!");
    add_ruby_symbol(image, l, '+', 1, "+");
    add_ruby_symbol(image, l, '<', 2, "<");
    add_ruby_symbol(image, l, '`', 3, "`");
    add_ruby_symbol(image, l, RUBY_EACH_ID, 4, "each");
    add_ruby_symbol(image, l, RUBY_CLASSPATH_NUMBER, 5, "__classpath__");
    put(image, RUBY_DATA + 0x40, 300);
    point(image, RUBY_DATA + 0x48, RUBY_DATA);
    point(image, RUBY_DATA + 0x50, RUBY_SYMBOLS);
}

struct cn_text cn_image_ruby(uint16_t version)
{
    const struct cn_ruby_layout *l = cn_ruby_layout_find(version);
    struct cn_text image = image_new();
    enum { BLOCK, WORDS, MAIN, CODES, FRAMES = 5 };
    enum { FIRST = 0x20, IN_C = 0x80, LOCAL = 2 };
    enum { DEFINITION = 0x20 };

    point(&image, RUBY_STATE, RUBY_STACK);
    put(&image, RUBY_STATE + 8, (RUBY_STACK_END - RUBY_STACK) / 8);
    point(&image, RUBY_DATA, RUBY_VM); /* ruby_current_vm_ptr */
    point(&image, RUBY_VM + l->vm_thread, RUBY_THREAD);
    point(&image, RUBY_THREAD + l->thread_state, RUBY_STATE);
    add_ruby_code(&image, l, BLOCK, "words", "block in words", CN_IMAGE_KEY_ADDRESS,
                  WORDS);
    add_ruby_code(&image, l, WORDS, "words", "words", CN_IMAGE_MAIN_ADDRESS, WORDS);
    add_ruby_code(&image, l, MAIN, "<main>", "<main>", CN_IMAGE_MAIN_ADDRESS + 0x100,
                  MAIN);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t method = RUBY_METHODS + 0x40 * (uint64_t)i;

        put(&image, method, 0x601a);
        point(&image, method + 16, RUBY_METHODS + 0x80 + 0x30 * (uint64_t)i);
        point(&image, method + 32, RUBY_CLASSES + 0x100 * (uint64_t)i);
    }
    put(&image, RUBY_METHODS + 0x80 + 0x30 + l->method_id, RUBY_EACH_ID);
    add_ruby_class(&image, l, 0, "Text");
    add_ruby_class(&image, l, 1, "Array");
    add_ruby_symbols(&image, l);
    add_ruby_frame(&image, l, 0, FRAMES, BLOCK, CN_IMAGE_KEY_ADDRESS + 16,
                   0x22220001 | FIRST, -1);
    add_ruby_frame(&image, l, 1, FRAMES, -1, 0, 0x55550001 | IN_C | LOCAL, 1);
    add_ruby_frame(&image, l, 2, FRAMES, WORDS, CN_IMAGE_MAIN_ADDRESS + 16,
                   0x11110001 | LOCAL, 0);
    add_ruby_frame(&image, l, 3, FRAMES, MAIN, CN_IMAGE_MAIN_ADDRESS + 0x110,
                   0x77770001 | FIRST, -1);
    add_ruby_frame(&image, l, 4, FRAMES, MAIN, CN_IMAGE_MAIN_ADDRESS + 0x100,
                   0x79990001 | FIRST, -1);
    return image;
}

struct cn_ruby_place cn_image_ruby_place(uint16_t version)
{
    struct cn_ruby_place place = {
        .state = {.kind = CN_VARIABLE_FIXED, .off = 8},
        .vm = CN_IMAGE_BASE + RUBY_DATA,
        .entry_begin = CN_IMAGE_LOOP,
        .entry_end = CN_IMAGE_EVAL_END,
        .body_begin = CN_IMAGE_BODY,
        .body_end = CN_IMAGE_BODY_END,
        .data_begin = CN_IMAGE_BASE + 0x2000,
        .data_end = CN_IMAGE_BASE + CN_IMAGE_LEN,
    };

    (void)snprintf(place.version, sizeof(place.version), "%u.%u.1", version >> 8,
                   version & 0xffU);
    return place;
}

/* Perl. */

enum {
    PERL_STATE = 0x100,
    PERL_ARRAYS = 0x400, /* sorts, main */
    PERL_CONTEXTS = 0x500,
    PERL_LINES = 0x800,
    PERL_SUBS = 0x900, /* key, work: of 0x100 bytes */
    PERL_GLOB = 0xb00,
    PERL_PACKAGE = 0xc00,
    PERL_NAMES = 0xe00,
};

static void add_perl_name(struct cn_text *image, uint64_t off, const char *chars)
{
    cn_u32_put(at(image, off + 4), (uint32_t)strlen(chars));
    memcpy(at(image, off + 8), chars, strlen(chars));
}

static void add_perl_line(struct cn_text *image, unsigned number, uint32_t line)
{
    uint64_t off = PERL_LINES + 0x40 * (uint64_t)number;

    cn_u32_put(at(image, off + 36), line);
    point(image, off + 48, PERL_NAMES + 0x80);
}

static void add_perl_sub(struct cn_text *image, unsigned number, bool has_name,
                         uint64_t name)
{
    enum { BODY = 0x40, SUB = 13, HAS_NAME = 1 << 15 };
    uint64_t sub = PERL_SUBS + 0x100 * (uint64_t)number;

    point(image, sub, sub + BODY);
    cn_u32_put(at(image, sub + 12), SUB);
    point(image, sub + BODY + 32, PERL_PACKAGE);
    point(image, sub + BODY + 56, name);
    if (has_name)
        cn_u32_put(at(image, sub + BODY + 92), HAS_NAME);
}

static void add_perl_context(struct cn_text *image, const struct cn_perl_layout *l,
                             unsigned array, unsigned number, uint8_t kind, unsigned line,
                             int sub, uint64_t returns_to)
{
    uint64_t context =
        PERL_CONTEXTS + 0x100 * (uint64_t)array + l->context_len * (uint64_t)number;

    *at(image, context) = kind;
    point(image, context + 16, PERL_LINES + 0x40 * (uint64_t)line);
    put(image, context + 48, returns_to);
    if (sub >= 0)
        point(image, context + l->sub, PERL_SUBS + 0x100 * (uint64_t)sub);
}

struct cn_text cn_image_perl(uint8_t version)
{
    const struct cn_perl_layout *l = cn_perl_layout_find(version);
    struct cn_text image = image_new();
    enum { BLOCK = 2, SUB = 9, GLOB = 9, PACKAGE = 12, SORTS = 3 };

    point(&image, PERL_STATE + l->contexts, PERL_ARRAYS);
    point(&image, PERL_STATE + l->line, PERL_LINES);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t array = PERL_ARRAYS + 0x80 * (uint64_t)i;

        point(&image, array + 8, PERL_CONTEXTS + 0x100 * (uint64_t)i);
        if (i == 0)
            point(&image, array + 16, array + 0x80);
        cn_u32_put(at(&image, array + 32), i);
        cn_u32_put(at(&image, array + l->array_kind), i == 0 ? SORTS : 1);
    }
    add_perl_line(&image, 0, 3);
    add_perl_line(&image, 1, 12);
    add_perl_line(&image, 2, 20);
    add_perl_context(&image, l, 0, 0, SUB, 1, 0, 0);
    add_perl_context(&image, l, 1, 0, SUB, 2, 1, CN_IMAGE_BASE);
    add_perl_context(&image, l, 1, 1, BLOCK, 1, -1, 0);
    add_perl_sub(&image, 0, true, PERL_NAMES);
    add_perl_sub(&image, 1, false, PERL_GLOB);
    add_perl_name(&image, PERL_NAMES, "key");
    add_perl_name(&image, PERL_NAMES + 0x20, "work");
    add_perl_name(&image, PERL_NAMES + 0x40, "main");
    memcpy(at(&image, PERL_NAMES + 0x80), "/srv/app.pl", 11);
    point(&image, PERL_GLOB, PERL_GLOB + 0x40);
    cn_u32_put(at(&image, PERL_GLOB + 12), GLOB);
    point(&image, PERL_GLOB + 0x40 + 32, PERL_NAMES + 0x20);
    point(&image, PERL_GLOB + 0x40 + 40, PERL_PACKAGE);
    /* Its list has one place, after which its name is in older versions. */
    point(&image, PERL_PACKAGE, PERL_PACKAGE + 0x40);
    cn_u32_put(at(&image, PERL_PACKAGE + 12), PACKAGE);
    point(&image, PERL_PACKAGE + 16, PERL_PACKAGE + 0xc0);
    point(&image, PERL_PACKAGE + (l->has_more_in_body ? 0x60 : 0xc8), PERL_NAMES + 0x40);
    return image;
}

struct cn_perl_place cn_image_perl_place(uint8_t version)
{
    return (struct cn_perl_place){
        .revision = 5,
        .version = version,
        .subversion = 1,
        .state = {.kind = CN_VARIABLE_FIXED, .off = 8},
        .runops_begin = CN_IMAGE_LOOP,
        .runops_end = CN_IMAGE_EVAL_END,
        .run_begin = CN_IMAGE_RUN,
        .run_end = CN_IMAGE_RUN_END,
    };
}
