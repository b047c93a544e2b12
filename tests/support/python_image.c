#include "support/python_image.h"

#include <string.h>

#include "base/bytes/record.h"

/* Offsets in the image. */
enum {
    RUNTIME = 0x0000,
    VERSION = 0x0f00,
    CODE_TYPE = 0x0f80,
    INTERPRETER = 0x4000,
    THREAD = 0x1200,
    CFRAME = 0x1400,
    PTHREAD = 0x1500,
    FRAMES = 0x2000, /* of 0x100 bytes: key, its shim, main, <module>, its shim */
    CODES = 0x2800,  /* of 0x400 bytes: key, main, <module> */
    TEXTS = 0x3400,
    LINES = 0x3800,
    BYTECODE = 0x3c00,
    MODULES = 0x4800, /* dicts, with their keys after 0x40 bytes */
    MODULE_DICT = 0x4900,
    RUNNING = 0x4a00,
    MODULE = 0x4b00,
    TASK = 0x4c00,
    GENERATOR = 0x4d00,  /* to 3.10 */
    TASK_TEXTS = 0x5000, /* of 0x100 bytes: _asyncio, _current_tasks, the name */
};

static uint8_t *at(struct cn_text *image, uint64_t off)
{
    return (uint8_t *)image->chars + off;
}

static void put(struct cn_text *image, uint64_t off, uint64_t value)
{
    cn_u64_put(at(image, off), value);
}

/* For versions that say where everything is: the numbers of _Py_DebugOffsets as they are in 3.13,
 * 3.14 and 3.15. */
static void describe(struct cn_text *image, const struct cn_python_layout *l)
{
    static const uint8_t words[3][24] = {
        {5,  8,  9,  11, 21, 22, 23, 24, 25, 29, 30, 31,
         33, 35, 37, 38, 39, 43, 45, 65, 66, 68, 69, 70},
        {5,  8,  9,  12, 24, 25, 26, 27, 28, 32, 33, 34,
         36, 40, 42, 43, 44, 48, 51, 75, 76, 78, 79, 80},
        {5,  8,  9,  12, 24, 25, 26, 30, 31, 40, 41, 42,
         44, 48, 50, 51, 52, 56, 59, 87, 88, 90, 91, 92},
    };
    const uint32_t numbers[24] = {
        l->runtime_interpreters, l->interpreter_next, l->interpreter_threads,
        l->interpreter_modules,  l->thread_next,      l->thread_interpreter,
        l->thread_frame,         l->thread_id,        l->thread_native_id,
        l->frame_previous,       l->frame_code,       l->frame_instruction,
        l->frame_entry,          l->code_file,        l->code_name,
        l->code_lines,           l->code_first_line,  l->code_instructions,
        l->object_type,          l->bytes_len,        l->bytes_data,
        l->text_state,           l->text_len,         l->text_ascii,
    };

    memcpy(at(image, RUNTIME), "xdebugpy", 8);
    put(image, RUNTIME + 8, (uint64_t)l->version << 16);
    for (size_t i = 0; i < 24; i++)
        put(image, RUNTIME + 8 * (uint64_t)words[l->version - 0x30d][i], numbers[i]);
}

static struct cn_python_layout layout_of(uint16_t version)
{
    const struct cn_python_layout *known = cn_python_layout_find(version);
    struct cn_python_layout layout;

    if (known)
        return *known;
    layout = *cn_python_layout_find(0x30c);
    layout.version = version;
    layout.has_cframe = false;
    layout.task_coroutine = version == 0x30d ? 120 : 0; /* as it is in 3.13 */
    layout.task_name = version == 0x30d ? 128 : 0;
    layout.runtime_interpreters = 0x400;
    return layout;
}

static void add_text(struct cn_text *image, const struct cn_python_layout *l,
                     uint64_t off, const char *text)
{
    enum { WIDTH_1 = 1, COMPACT_ASCII = 8 | 16 };

    put(image, off + l->text_len, strlen(text));
    put(image, off + l->text_state, (uint64_t)(WIDTH_1 | COMPACT_ASCII) << l->text_kind);
    memcpy(at(image, off + l->text_ascii), text, strlen(text));
}

/* Two lines, each of 8 instructions of 2 bytes: the second is `more` after the first. */
static void add_code(struct cn_text *image, const struct cn_python_layout *l,
                     unsigned number, const char *name, uint32_t first_line, uint8_t more)
{
    static const char path[] = "/srv/app.py";
    uint64_t code = CODES + 0x400 * (uint64_t)number, name_off = TEXTS + 0x100 * number;
    uint64_t lines = LINES + 0x80 * (uint64_t)number, bytes = BYTECODE + 0x80 * number;
    const uint8_t tables[3][6] = {
        [CN_PYTHON_LNOTAB] = {16, more, 0, 0},
        [CN_PYTHON_LINES] = {16, 0, 16, more},
        [CN_PYTHON_LOCATIONS] = {0x80 | 13 << 3 | 7, 0, 0x80 | 13 << 3 | 7,
                                 (uint8_t)(more << 1)},
    };

    put(image, code + l->object_type, CN_IMAGE_BASE + CODE_TYPE);
    put(image, code + l->code_name, CN_IMAGE_BASE + name_off);
    put(image, code + l->code_file, CN_IMAGE_BASE + TEXTS + 0x300);
    put(image, code + l->code_lines, CN_IMAGE_BASE + lines);
    cn_u32_put(at(image, code + l->code_first_line), first_line);
    if (l->code_bytes > 0) {
        put(image, code + l->code_bytes, CN_IMAGE_BASE + bytes);
        put(image, bytes + l->bytes_len, 32);
    }
    add_text(image, l, name_off, name);
    add_text(image, l, TEXTS + 0x300, path);
    put(image, lines + l->bytes_len, 4);
    memcpy(at(image, lines + l->bytes_data), tables[l->lines], 4);
}

static void add_frame(struct cn_text *image, const struct cn_python_layout *l,
                      unsigned number, unsigned code, int previous, bool is_entry)
{
    uint64_t frame = FRAMES + 0x100 * (uint64_t)number, second = 16 + 4;
    uint64_t object = CN_IMAGE_BASE + CODES + 0x400 * (uint64_t)code;

    put(image, frame + l->frame_previous,
        previous < 0 ? 0 : CN_IMAGE_BASE + FRAMES + 0x100 * (uint64_t)previous);
    put(image, frame + l->frame_code, object);
    if (l->code_instructions > 0)
        put(image, frame + l->frame_instruction, object + l->code_instructions + second);
    else
        cn_u32_put(at(image, frame + l->frame_instruction),
                   (uint32_t)(l->lines == CN_PYTHON_LINES ? second / 2 : second));
    if (l->entry == CN_PYTHON_ENTRY_FLAG)
        *at(image, frame + l->frame_entry) = is_entry;
}

static void add_shim(struct cn_text *image, const struct cn_python_layout *l,
                     unsigned number, int previous)
{
    enum { OWNED_BY_STACK = 3 };

    add_frame(image, l, number, 0, previous, false);
    *at(image, FRAMES + 0x100 * (uint64_t)number + l->frame_entry) = OWNED_BY_STACK;
}

/* A dict with one entry. */
static void add_dict(struct cn_text *image, const struct cn_python_layout *l,
                     uint64_t off, uint64_t key, uint64_t value)
{
    uint64_t keys = off + 0x40, entry = keys + (l->version < 0x30b ? 48 : 40);

    put(image, off + 32, CN_IMAGE_BASE + keys);
    if (l->version < 0x30b) {
        put(image, keys + 8, 8);  /* size */
        put(image, keys + 32, 1); /* entries */
    } else {
        *at(image, keys + 8) = *at(image, keys + 9) = 3; /* sizes: 8 */
        put(image, keys + 24, 1);
    }
    put(image, entry + 8, key);
    put(image, entry + 16, value);
}

void cn_image_name_task(struct cn_text *image, uint16_t version, const char *name)
{
    struct cn_python_layout l = layout_of(version);

    add_text(image, &l, TASK_TEXTS + 0x200, name);
}

/* key() is run by a task. */
static void add_task(struct cn_text *image, const struct cn_python_layout *l)
{
    uint64_t generator = l->frame_generator > 0 ? GENERATOR : FRAMES - l->generator_frame;

    if (l->frame_generator > 0)
        put(image, FRAMES + l->frame_generator, CN_IMAGE_BASE + generator);
    if (l->entry == CN_PYTHON_ENTRY_SHIM)
        *at(image, FRAMES + l->frame_entry) = 1; /* of a generator */
    if (l->task_coroutine == 0)
        return;
    put(image, INTERPRETER + l->interpreter_modules, CN_IMAGE_BASE + MODULES);
    add_text(image, l, TASK_TEXTS, "_asyncio");
    add_text(image, l, TASK_TEXTS + 0x100, "_current_tasks");
    add_text(image, l, TASK_TEXTS + 0x200, "job");
    add_dict(image, l, MODULES, CN_IMAGE_BASE + TASK_TEXTS, CN_IMAGE_BASE + MODULE);
    put(image, MODULE + 16, CN_IMAGE_BASE + MODULE_DICT);
    add_dict(image, l, MODULE_DICT, CN_IMAGE_BASE + TASK_TEXTS + 0x100,
             CN_IMAGE_BASE + RUNNING);
    add_dict(image, l, RUNNING, CN_IMAGE_BASE, CN_IMAGE_BASE + TASK);
    put(image, TASK + l->task_coroutine, CN_IMAGE_BASE + generator);
    put(image, TASK + l->task_name, CN_IMAGE_BASE + TASK_TEXTS + 0x200);
}

struct cn_text cn_image_python(uint16_t version)
{
    struct cn_python_layout l = layout_of(version);
    struct cn_text image = {0};
    bool has_shims = l.entry == CN_PYTHON_ENTRY_SHIM;

    memset(cn_text_room(&image, CN_IMAGE_LEN), 0, CN_IMAGE_LEN);
    cn_text_advance(&image, CN_IMAGE_LEN);
    if (version >= 0x30d)
        describe(&image, &l);
    put(&image, VERSION, (uint64_t)version << 16 | 0x2f0);
    put(&image, RUNTIME + l.runtime_interpreters, CN_IMAGE_BASE + INTERPRETER);
    put(&image, INTERPRETER + l.interpreter_threads, CN_IMAGE_BASE + THREAD);
    put(&image, THREAD + l.thread_interpreter, CN_IMAGE_BASE + INTERPRETER);
    put(&image, THREAD + l.thread_id, CN_IMAGE_BASE + PTHREAD);
    if (l.thread_native_id > 0)
        put(&image, THREAD + l.thread_native_id, CN_IMAGE_TID);
    /* struct pthread of both machines. */
    cn_u32_put(at(&image, PTHREAD + 0xd0), CN_IMAGE_TID);
    cn_u32_put(at(&image, PTHREAD + 0x2d0), CN_IMAGE_TID);
    put(&image, THREAD + l.thread_frame,
        CN_IMAGE_BASE + (l.has_cframe ? CFRAME : FRAMES));
    if (l.has_cframe)
        put(&image, CFRAME + l.cframe_frame, CN_IMAGE_BASE + FRAMES);
    add_frame(&image, &l, 0, 0, has_shims ? 1 : 2, true);
    if (has_shims)
        add_shim(&image, &l, 1, 2);
    add_frame(&image, &l, 2, 1, 3, false);
    add_frame(&image, &l, 3, 2, has_shims ? 4 : -1, true);
    if (has_shims)
        add_shim(&image, &l, 4, -1);
    add_task(&image, &l);
    add_code(&image, &l, 0, "key", 2, 1);
    add_code(&image, &l, 1, "main", 5, 7);
    add_code(&image, &l, 2, "<module>", 1, 20);
    return image;
}

struct cn_python_place cn_image_place(void)
{
    return (struct cn_python_place){
        .runtime = CN_IMAGE_BASE + RUNTIME,
        .code_type = CN_IMAGE_BASE + CODE_TYPE,
        .version = CN_IMAGE_BASE + VERSION,
        .eval_begin = CN_IMAGE_EVAL,
        .eval_end = CN_IMAGE_EVAL_END,
    };
}

bool cn_image_copy(void *arg, uint64_t address, void *out, size_t len)
{
    const struct cn_bytes *image = arg;
    struct cn_bytes found;

    if (address < CN_IMAGE_BASE ||
        !cn_bytes_slice(*image, address - CN_IMAGE_BASE, len, &found))
        return false;
    memcpy(out, found.ptr, len);
    return true;
}
