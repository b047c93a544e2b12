/* Functions of Erlang, whose run-time compiles modules when it loads them (from OTP 24 on).
 *
 * It tells debuggers of each through the interface that gdb has for such code: a list that begins at
 * __jit_debug_descriptor, the newest module first. The block of a module has the ranges of its code with
 * their names, and lines of each.
 *
 * Stacks of its processes are in their heaps. On x86_64 the stack pointer points there while Erlang
 * runs, so that the copy of the stack has its frames: words whose lowest two bits are 0 are return
 * addresses, all others are terms. On aarch64, and while functions of C run, the stack of a process is
 * not in the copy, and changes before it can be read: then a function is the outermost frame that is known.
 *
 *   descriptor   u32 version, u32 action, u64 entry in question, u64 first entry
 *   entry        u64 next, u64 previous, u64 address of the block, u64 its length
 *   block        u32 1, u32 -, u64 begin of the code, u32 ranges, u32 length, u16 length of the name, 6 bytes -,
 *                then as many bytes as the name has
 *   range        u32 begin, u32 end, u32 lines, u16 length of the name, the name with its NUL, 2 bytes -
 *   line         u32 begin, u32 number, u16 length of the file, the file with its NUL, 2 bytes -
 */
#include "sampler/languages/erlang.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/file.h"
#include "sampler/languages/runtimes.h"

enum {
    FIRST_OFF = 16,
    ENTRY_LEN = 32,
    BLOCK_LEN = 32,
    BLOCK_NAME_LEN_OFF = 24,
    RANGE_LEN = 16,
    RANGE_NAME_OFF = 14,
    LINE_LEN = 12,
    LINE_FILE_OFF = 10,
    OF_MODULE = 1,
    MODULES_MAX = 1 << 16,
    MODULES_AT_ONCE = 64, /* that are read for one sample */
    BLOCK_LEN_MAX = 1 << 22,
    KEPT_LEN_MAX = 1 << 26, /* of all blocks */
    LINES_MAX = 1 << 24,
    TAG_MASK = 3, /* of a term; 0: a return address */
};

struct code_range {
    uint32_t begin, end; /* in the module */
    size_t name_off, lines_off;
    uint32_t line_count;
};

struct code_module {
    uint64_t entry, block, block_len;
    uint64_t begin, end;
    uint8_t *bytes; /* the block; NULL until it is needed */
    struct code_range *ranges;
    size_t range_count, range_capacity;
};

struct cn_erlang {
    struct cn_memory *memory;
    struct cn_stored_names *names;
    uint64_t descriptor; /* 0: it has none */
    struct code_module *list;
    size_t count, capacity;
    struct cn_map number_of; /* by entry */
    uint64_t next;           /* the entry to go on with; 0: the first */
    bool is_complete;        /* the end of the list was reached once */
    bool lacks_callers;      /* a function was shown without them */
    bool is_on_stack;        /* the stack pointer is that of a process */
    size_t kept_len;
};

static bool is_erlang(const char *path)
{
    const char *name = strrchr(path, '/');

    return strcmp(name ? name + 1 : path, "beam.smp") == 0;
}

static void *open_erlang(struct cn_memory *memory,
                         const struct cn_language_mapping *mapping,
                         struct cn_stored_names *names)
{
    static const char *const symbols[] = {"__jit_debug_descriptor"};
    uint64_t descriptor;

    cn_language_symbols(mapping, symbols, 1, &descriptor);
    return cn_erlang_open(memory, descriptor, names);
}

struct cn_erlang *cn_erlang_open(struct cn_memory *memory, uint64_t descriptor,
                                 struct cn_stored_names *names)
{
    struct cn_erlang *e = cn_alloc(1, sizeof(*e));

    e->memory = memory;
    e->names = names;
    e->descriptor = descriptor;
    return e;
}

static void forget(struct cn_erlang *e, struct code_module *module)
{
    e->kept_len -= module->bytes ? (size_t)module->block_len : 0;
    free(module->bytes);
    free(module->ranges);
    *module = (struct code_module){.entry = module->entry};
}

/* Read what an entry says. A block of another kind has no code. */
static bool read_module(struct cn_erlang *e, uint64_t entry, struct code_module *out,
                        uint64_t *next)
{
    uint8_t bytes[ENTRY_LEN], head[BLOCK_LEN];

    if (!cn_memory_read(e->memory, entry, bytes, sizeof(bytes)))
        return false;
    *next = cn_u64_get(bytes);
    *out = (struct code_module){.entry = entry,
                                .block = cn_u64_get(bytes + 16),
                                .block_len = cn_u64_get(bytes + 24)};
    if (out->block_len < BLOCK_LEN || out->block_len > BLOCK_LEN_MAX)
        return true;
    if (!cn_memory_read(e->memory, out->block, head, sizeof(head)))
        return false;
    if (cn_u32_get(head) != OF_MODULE)
        return true;
    out->begin = cn_u64_get(head + 8);
    out->end = out->begin + cn_u32_get(head + 20);
    return true;
}

/* Note what an entry says. True if that was known. */
static bool note_module(struct cn_erlang *e, const struct code_module *found)
{
    uint32_t at = *cn_map_at(&e->number_of, found->entry, (uint32_t)e->count);

    if (at == e->count)
        CN_PUSH(e->list, e->count, e->capacity, *found);
    else if (e->list[at].block == found->block && e->list[at].begin == found->begin &&
             e->list[at].end == found->end)
        return true;
    forget(e, &e->list[at]);
    e->list[at] = *found;
    return false;
}

/* List modules that are new, some at once. Once all are, those after one that is known are known too. */
static void list_modules(struct cn_erlang *e)
{
    uint64_t entry = e->next;
    struct code_module found;

    if (entry == 0 && !cn_memory_u64(e->memory, e->descriptor + FIRST_OFF, &entry))
        return;
    e->next = 0;
    for (int i = 0; i < MODULES_AT_ONCE && e->count < MODULES_MAX; i++) {
        if (entry == 0 || !read_module(e, entry, &found, &entry)) {
            e->is_complete |= entry == 0;
            return;
        }
        if (note_module(e, &found) && e->is_complete)
            return;
    }
    e->next = entry;
}

/* The module of an address. Its entry must still be there, unless the process has ended. */
static struct code_module *find_known(struct cn_erlang *e, uint64_t address)
{
    for (size_t i = e->count; i-- > 0;) {
        struct code_module *module = &e->list[i];
        uint64_t block;

        if (address < module->begin || address >= module->end)
            continue;
        if (cn_memory_u64(e->memory, module->entry + 16, &block) &&
            block != module->block)
            forget(e, module);
        else
            return module;
    }
    return NULL;
}

/* Add the next range of a block, with its lines. */
static bool add_range(struct code_module *module, struct cn_bytes block, size_t *at)
{
    struct cn_bytes head, name;
    struct code_range range = {0};

    if (!cn_bytes_slice(block, *at, RANGE_LEN, &head))
        return false;
    size_t name_len = cn_u16_get(head.ptr + 12);
    range.begin = cn_u32_get(head.ptr);
    range.end = cn_u32_get(head.ptr + 4);
    range.line_count = cn_u32_get(head.ptr + 8);
    range.name_off = *at + RANGE_NAME_OFF;
    if (!cn_bytes_slice(block, range.name_off, name_len, &name) || name_len == 0 ||
        name.ptr[name_len - 1] != '\0')
        return false;
    range.lines_off = *at + RANGE_LEN + name_len;
    *at = range.lines_off;
    for (uint32_t i = 0; i < range.line_count; i++) {
        if (!cn_bytes_slice(block, *at, LINE_LEN, &head))
            return false;
        size_t file_len = cn_u16_get(head.ptr + 8);
        if (!cn_bytes_slice(block, *at + LINE_FILE_OFF, file_len, &name) ||
            file_len == 0 || name.ptr[file_len - 1] != '\0')
            return false;
        *at += LINE_LEN + file_len;
    }
    CN_PUSH(module->ranges, module->range_count, module->range_capacity, range);
    return true;
}

/* Read the block of a module. */
static bool load(struct cn_erlang *e, struct code_module *module)
{
    size_t len = (size_t)module->block_len;

    if (module->bytes)
        return true;
    if (e->kept_len + len > KEPT_LEN_MAX)
        return false;
    uint8_t *bytes = cn_alloc(len, 1);
    if (!cn_memory_read(e->memory, module->block, bytes, len) ||
        cn_u64_get(bytes + 8) != module->begin) {
        free(bytes);
        return false;
    }
    module->bytes = bytes;
    e->kept_len += len;
    size_t at = BLOCK_LEN + cn_u16_get(bytes + BLOCK_NAME_LEN_OFF);
    for (uint32_t i = cn_u32_get(bytes + 16);
         i > 0 && add_range(module, (struct cn_bytes){bytes, len}, &at); i--)
        ;
    return true;
}

/* The line of an offset, which is that of the last place before it. */
static void find_line(const struct code_module *module, const struct code_range *range,
                      uint32_t off, struct cn_stored_frame *frame)
{
    size_t at = range->lines_off;

    for (uint32_t i = 0; i < range->line_count; i++) {
        const uint8_t *line = module->bytes + at;

        if (cn_u32_get(line) > off && i > 0)
            return;
        if (cn_u32_get(line + 4) < LINES_MAX) {
            frame->line = cn_u32_get(line + 4);
            frame->first_line = i == 0 ? frame->line : frame->first_line;
            frame->file = (const char *)line + LINE_FILE_OFF;
        }
        at += LINE_LEN + cn_u16_get(line + 8);
    }
}

enum code_kind {
    CODE_OF_FUNCTION,
    CODE_SHARED, /* that functions call, mostly to get to C */
    CODE_OUTERMOST,
};

/* What a frame is called; code before a function, with its description, is part of it. */
static uint64_t name_of(struct cn_erlang *e, const struct code_module *module,
                        uint32_t off, enum code_kind *kind)
{
    static const char outermost[] = "erts_beamasm:normal_exit/";
    static const char shared[] = "global::";
    static const char prologue[] = "-CodeInfoPrologue";
    struct cn_stored_frame frame = {.function = "(Erlang)"};
    struct cn_text text = {0};

    for (size_t i = 0; i < module->range_count; i++) {
        const struct code_range *range = &module->ranges[i];

        if (off < range->begin || off >= range->end)
            continue;
        const char *name = (const char *)module->bytes + range->name_off;
        size_t len = strlen(name), more = strlen(prologue);
        bool is_before = len > more && strcmp(name + len - more, prologue) == 0;
        if (strncmp(name, shared, strlen(shared)) == 0)
            *kind = CODE_SHARED;
        else if (strncmp(name, outermost, strlen(outermost)) == 0)
            *kind = CODE_OUTERMOST;
        cn_text_add(&text, name, is_before ? len - more : len);
        frame.function = cn_text_str(&text);
        /* It has no lines: the function begins after it. */
        if (is_before && i + 1 < module->range_count)
            find_line(module, range + 1, range[1].begin, &frame);
        else
            find_line(module, range, off, &frame);
        break;
    }
    uint64_t address = cn_stored_names_address(e->names, &frame);
    cn_text_done(&text);
    return address;
}

/* The module of an address, which may be new. */
static struct code_module *find_module(struct cn_erlang *e, uint64_t address)
{
    struct code_module *module = find_known(e, address);

    if (module)
        return module;
    list_modules(e);
    return find_known(e, address);
}

static void set_register(struct cn_unwind_step *step, unsigned number, uint64_t value)
{
    step->registers.value[number] = value;
    step->registers.known |= UINT64_C(1) << number;
}

/* Go to the caller by the stack of the process, if that is in the copy. */
static void step_to_caller(struct cn_erlang *e, struct cn_unwind_step *step)
{
    uint64_t begin = step->registers.value[CN_UNWIND_X86_RSP], at = begin, word;

    step->registers.known = 0;
    for (; cn_language_stack(step, at, &word); at += sizeof(word)) {
        /* Calls of shared code do not align where they return to. */
        bool may_return = (word & TAG_MASK) == 0 || (step->is_innermost && at == begin);

        if (may_return && find_module(e, word)) {
            set_register(step, CN_UNWIND_X86_RIP, word);
            at += sizeof(word);
            break;
        }
        if ((word & TAG_MASK) == 0)
            return;
    }
    set_register(step, CN_UNWIND_X86_RSP, at);
}

static bool undo(void *state, struct cn_unwind_step *step)
{
    struct cn_erlang *e = state;
    bool is_arm = step->registers.machine == CN_UNWIND_AARCH64;
    uint64_t pc = step->registers.value[is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP] -
                  (step->is_innermost ? 0 : 1);

    e->is_on_stack &= !step->is_innermost;
    if (step->has_rule || e->descriptor == 0)
        return false;
    struct code_module *module = find_module(e, pc);
    if (!module)
        return false;
    enum code_kind kind = CODE_OF_FUNCTION;
    (void)load(e, module);
    step->frames[0] = name_of(e, module, (uint32_t)(pc - module->begin), &kind);
    step->frame_count = 1;
    e->is_on_stack |= step->is_innermost && !is_arm;
    if (e->is_on_stack && kind == CODE_OUTERMOST) {
        set_register(step, CN_UNWIND_X86_RIP, 0);
        set_register(step, CN_UNWIND_X86_RSP,
                     step->registers.value[CN_UNWIND_X86_RSP] + sizeof(uint64_t));
        return true;
    }
    if (e->is_on_stack) {
        step_to_caller(e, step);
        return true;
    }
    e->lacks_callers = true;
    /* Shared code has a frame while it calls C. */
    if (kind == CODE_SHARED && !step->is_innermost)
        return false;
    step->registers.known = 0;
    return true;
}

static char *hint(const void *state)
{
    const struct cn_erlang *e = state;

    if (e->descriptor == 0)
        return cn_strdup("not supported: functions of an Erlang that interprets them, or "
                         "is older than 24, are not shown");
    if (!e->lacks_callers)
        return NULL;
    return cn_strdup(
        cn_unwind_machine_here() == CN_UNWIND_X86_64
            ? "Erlang: functions that call C are shown without their callers, "
              "which are not on the stack of the thread"
            : "Erlang: functions are shown without their callers, which are "
              "not on the stack of the thread");
}

static void close_erlang(void *state)
{
    struct cn_erlang *e = state;

    for (size_t i = 0; i < e->count; i++)
        forget(e, &e->list[i]);
    free(e->list);
    cn_map_done(&e->number_of);
    free(e);
}

const struct cn_language_runtime cn_language_erlang = {
    .is_runtime = is_erlang,
    .open = open_erlang,
    .undo = undo,
    .has_code_only = true,
    .hint = hint,
    .close = close_erlang,
};
