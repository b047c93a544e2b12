#include "sampler/languages/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/text.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/languages.h"
#include "sampler/languages/python_code.h"
#include "sampler/languages/runtimes.h"

enum {
    INTERPRETERS_MAX = 64,
    THREADS_MAX = 4096,
    THREAD_SLOTS = 64,
    CALLS_MAX = 256,    /* of the function that interprets, in the copy of a stack */
    WORDS_MAX = 128,    /* of the frame of one */
    OWNER_NONE = 3,     /* and above: a frame without code */
    REFERENCE_TAGS = 7, /* in the lowest bits of references */
    /* Where glibc has the number of a thread in what pthread_self() points to. */
    X86_TID_OFF = 0x2d0,
    ARM_TID_OFF = 0xd0,
};

/* A call of the function that interprets, as it was in the copy of the stack. */
struct call {
    struct cn_unwind_registers registers;
    uint64_t stack_begin;
    struct cn_bytes stack;
};

struct cn_python {
    struct cn_memory *memory;
    struct cn_stored_names *names;
    struct cn_python_place place;
    struct cn_python_layout layout;
    bool is_known, is_unknown; /* the layout; neither: nothing was read yet */
    char version[16];          /* if it is not known */
    struct {
        uint32_t tid;
        uint64_t state;
    } threads[THREAD_SLOTS];
    struct cn_python_codes codes;
    uint64_t round; /* of the memory: of the sample that calls are of */
    bool is_in_call;
    struct call calls[CALLS_MAX];
    size_t call_count;
    struct cn_python_frame frames[CN_PYTHON_FRAMES_MAX]; /* of the sample */
    struct cn_python_frame again[CN_PYTHON_FRAMES_MAX];
    uint64_t merged[CN_PYTHON_FRAMES_MAX + 1024];
};

struct cn_python *cn_python_open(struct cn_memory *memory,
                                 const struct cn_python_place *place,
                                 struct cn_stored_names *names)
{
    struct cn_python *p = cn_alloc(1, sizeof(*p));

    p->memory = memory;
    p->names = names;
    p->place = *place;
    return p;
}

void cn_python_close(struct cn_python *p)
{
    if (!p)
        return;
    cn_python_codes_done(&p->codes);
    free(p);
}

const char *cn_python_problem(const struct cn_python *p)
{
    return p->is_unknown ? p->version : NULL;
}

uint32_t cn_python_tid_off(void)
{
    return cn_unwind_machine_here() == CN_UNWIND_X86_64 ? X86_TID_OFF : ARM_TID_OFF;
}

static bool find_layout(struct cn_python *p)
{
    uint64_t number = 0;
    uint16_t version = p->place.path_version;

    if (p->is_known || p->is_unknown)
        return p->is_known;
    if (p->place.version > 0) {
        /* Memory that can not be read may be readable later. */
        if (!cn_memory_u64(p->memory, p->place.version, &number))
            return false;
        version = (uint16_t)(number >> 16);
    }
    const struct cn_python_layout *layout = cn_python_layout_find(version);
    if (layout)
        p->layout = *layout;
    p->is_known =
        layout || cn_python_layout_read(&p->layout, p->memory, p->place.runtime);
    p->is_unknown = !p->is_known;
    (void)snprintf(p->version, sizeof(p->version), "%u.%u", version >> 8,
                   version & 0xffU);
    return p->is_known;
}

const struct cn_python_layout *cn_python_layout(struct cn_python *p, uint64_t *runtime)
{
    *runtime = p->place.runtime;
    return find_layout(p) ? &p->layout : NULL;
}

static bool is_thread(struct cn_python *p, uint64_t state, uint32_t tid)
{
    uint64_t id;
    uint32_t number;

    if (p->layout.thread_native_id > 0)
        return cn_memory_u64(p->memory, state + p->layout.thread_native_id, &id) &&
               id == tid;
    if (!cn_memory_u64(p->memory, state + p->layout.thread_id, &id))
        return false;
    uint64_t off = cn_python_tid_off();
    return id <= UINT64_MAX - off && cn_memory_u32(p->memory, id + off, &number) &&
           number == tid;
}

/* The state of a thread; 0 if it has none. */
static uint64_t find_thread(struct cn_python *p, uint32_t tid)
{
    const struct cn_python_layout *layout = &p->layout;
    uint64_t *slot = &p->threads[tid % THREAD_SLOTS].state;
    uint64_t interpreter, state, owner;

    if (p->threads[tid % THREAD_SLOTS].tid == tid && is_thread(p, *slot, tid))
        return *slot;
    if (!cn_memory_u64(p->memory, p->place.runtime + layout->runtime_interpreters,
                       &interpreter))
        return 0;
    for (size_t i = 0, k = 0; i < INTERPRETERS_MAX && interpreter != 0; i++) {
        if (!cn_memory_u64(p->memory, interpreter + layout->interpreter_threads, &state))
            return 0;
        for (; k < THREADS_MAX && state != 0; k++) {
            if (!cn_memory_u64(p->memory, state + layout->thread_interpreter, &owner) ||
                owner != interpreter)
                break;
            if (is_thread(p, state, tid)) {
                p->threads[tid % THREAD_SLOTS].tid = tid;
                return *slot = state;
            }
            if (!cn_memory_u64(p->memory, state + layout->thread_next, &state))
                break;
        }
        if (!cn_memory_u64(p->memory, interpreter + layout->interpreter_next,
                           &interpreter))
            return 0;
    }
    return 0;
}

/* A frame without code, which all frames of one call are before. */
static void end_call(struct cn_python_frame *frames, size_t *count, size_t most)
{
    if (*count > 0 && !frames[*count - 1].is_first)
        frames[*count - 1].is_first = true;
    else if (*count < most)
        frames[(*count)++] = (struct cn_python_frame){.is_first = true};
}

static size_t walk_frames(struct cn_python *p, uint64_t frame,
                          struct cn_python_frame *frames, size_t most)
{
    const struct cn_python_layout *layout = &p->layout;
    size_t count = 0;

    for (size_t i = 0; i < 2 * most && count < most && frame != 0; i++) {
        uint64_t previous, instruction = 0;
        uint32_t number = 0;
        uint8_t entry = 0;

        if (!cn_memory_u64(p->memory, frame + layout->frame_previous, &previous) ||
            (layout->entry != CN_PYTHON_ENTRY_EACH &&
             !cn_memory_u8(p->memory, frame + layout->frame_entry, &entry)))
            return 0;
        if (layout->entry == CN_PYTHON_ENTRY_SHIM && entry >= OWNER_NONE) {
            /* The outermost may be of the thread, not of a call. */
            if (previous != 0 || (count > 0 && !frames[count - 1].is_first))
                end_call(frames, &count, most);
        } else {
            struct cn_python_frame *to = &frames[count++];

            if (!cn_memory_u64(p->memory, frame + layout->frame_code, &to->code) ||
                !(layout->code_instructions > 0
                      ? cn_memory_u64(p->memory, frame + layout->frame_instruction,
                                      &instruction)
                      : cn_memory_u32(p->memory, frame + layout->frame_instruction,
                                      &number)))
                return 0;
            to->code &= ~(uint64_t)REFERENCE_TAGS;
            to->instruction = layout->code_instructions > 0
                                  ? instruction
                                  : (uint64_t)(int64_t)(int32_t)number;
            to->is_first = layout->entry == CN_PYTHON_ENTRY_EACH ||
                           (layout->entry == CN_PYTHON_ENTRY_FLAG && entry != 0);
        }
        frame = previous;
    }
    return count;
}

static size_t walk_once(struct cn_python *p, uint32_t tid, struct cn_python_frame *frames,
                        size_t most)
{
    uint64_t state, frame;

    if (!find_layout(p) || (state = find_thread(p, tid)) == 0 ||
        !cn_memory_u64(p->memory, state + p->layout.thread_frame, &frame))
        return 0;
    if (p->layout.has_cframe &&
        (frame == 0 || !cn_memory_u64(p->memory, frame + p->layout.cframe_frame, &frame)))
        return 0;
    return walk_frames(p, frame, frames, most);
}

size_t cn_python_walk(struct cn_python *p, uint32_t tid, struct cn_python_frame *frames,
                      size_t most)
{
    size_t count = walk_once(p, tid, frames, most);

    /* The thread runs on: what it has changed meanwhile is read differently again. */
    cn_memory_begin(p->memory, p->memory->pid, p->memory->left);
    p->round = p->memory->round;
    bool is_same =
        count > 0 && walk_once(p, tid, p->again, CN_PYTHON_FRAMES_MAX) == count;
    for (size_t i = 0; is_same && i < count; i++)
        is_same = frames[i].code == p->again[i].code &&
                  frames[i].is_first == p->again[i].is_first;
    return is_same ? count : 0;
}

static bool is_in_eval(const struct cn_python *p, uint64_t address)
{
    return address >= p->place.eval_begin && address < p->place.eval_end;
}

void cn_python_see(struct cn_python *p, const struct cn_unwind_step *step)
{
    bool is_arm = step->registers.machine == CN_UNWIND_AARCH64;
    uint64_t pc = step->registers.value[is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP];
    uint64_t sp = step->registers.value[is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP];

    if (p->round != p->memory->round) {
        p->round = p->memory->round;
        p->call_count = 0;
        p->is_in_call = false;
    }
    /* The frame ends where that of its caller begins. */
    if (p->is_in_call) {
        struct call *call = &p->calls[p->call_count - 1];
        uint64_t begin = call->stack_begin;

        if (sp < begin || begin < step->stack_begin ||
            !cn_bytes_slice(step->stack, begin - step->stack_begin,
                            sp - begin < 8 * WORDS_MAX ? sp - begin : 8 * WORDS_MAX,
                            &call->stack))
            call->stack = (struct cn_bytes){0};
    }
    p->is_in_call = is_in_eval(p, pc - !step->is_innermost) && p->call_count < CALLS_MAX;
    if (p->is_in_call)
        p->calls[p->call_count++] =
            (struct call){.registers = step->registers, .stack_begin = sp};
}

static bool is_in_code(const struct cn_python_code *code, uint64_t address)
{
    return address >= code->begin && address <= code->end;
}

/* Does a call hold an instruction of a code? Then that is the next one that it runs, if it is
 * known which. */
static bool find_instruction(const struct call *call, const struct cn_python_code *code,
                             uint64_t *out)
{
    bool is_found = false;

    *out = code->begin;
    for (size_t i = 0; i < CN_UNWIND_REGISTER_MAX && *out == code->begin; i++) {
        if (!(call->registers.known >> i & 1) ||
            !is_in_code(code, call->registers.value[i]))
            continue;
        is_found = true;
        *out = call->registers.value[i];
    }
    for (size_t i = 0; i + 8 <= call->stack.len && *out == code->begin; i += 8) {
        if (!is_in_code(code, cn_u64_get(call->stack.ptr + i)))
            continue;
        is_found = true;
        *out = cn_u64_get(call->stack.ptr + i);
    }
    return is_found;
}

static bool is_eval(const struct cn_python *p, const uint64_t *chain, size_t i)
{
    return is_in_eval(p, chain[i] - (i > 0));
}

/* The address that stands for a frame; 0 if it is none, or not the one that a call ran. */
static uint64_t name_frame(struct cn_python *p, const struct cn_python_frame *frame,
                           const struct call *call)
{
    /* The process may have freed it, or ended. */
    const struct cn_python_code *code =
        frame->sum != 0 ? cn_python_code_find(&p->codes, frame->code, frame->sum) : NULL;

    if (!code)
        code = cn_python_code_at(&p->codes, p->memory, &p->layout, p->place.code_type,
                                 frame->code);

    /* The code has been freed since then. */
    if (frame->sum != 0 && (!code || frame->sum != code->key[0] + code->key[2]))
        return cn_stored_names_address(
            p->names, &(struct cn_stored_frame){.language = CN_LANGUAGE_PYTHON});
    if (!code)
        return 0;
    int64_t instruction = (int64_t)frame->instruction;
    if (p->layout.code_instructions > 0)
        instruction -= (int64_t)code->begin;
    else if (p->layout.lines == CN_PYTHON_LINES)
        instruction *= 2;
    if (call) {
        uint64_t next;

        if (!find_instruction(call, code, &next))
            return 0;
        instruction =
            next > code->begin ? (int64_t)(next - code->begin) - 2 : instruction;
    }
    struct cn_stored_frame stored = {
        .function = code->function,
        .file = code->file,
        .line = cn_python_line(code, p->layout.lines, instruction),
        .language = CN_LANGUAGE_PYTHON,
        .first_line = code->first_line,
    };
    return cn_stored_names_address(p->names, &stored);
}

/* The frames of one call in the place of `address`, or that. Returns how many it has read. */
static size_t add_call(struct cn_python *p, const struct cn_python_frame *frames,
                       size_t frame_count, const struct call *call, uint64_t address,
                       size_t *count)
{
    const size_t room = sizeof(p->merged) / sizeof(p->merged[0]);
    size_t at = 0, begin = *count;
    bool is_good = true;

    for (bool is_first = false; at < frame_count && !is_first; at++) {
        uint64_t name = 0;

        is_first = frames[at].is_first;
        if (is_good && frames[at].code != 0 && *count < room)
            name = name_frame(p, &frames[at], at == 0 ? call : NULL);
        is_good = is_good && name != 0;
        if (is_good)
            p->merged[(*count)++] = name;
    }
    if (!is_good) {
        p->merged[begin] = address;
        *count = begin + 1;
    }
    return at;
}

size_t cn_python_merge(struct cn_python *p, const struct cn_python_frame *frames,
                       size_t frame_count, uint64_t *chain, size_t chain_len, size_t most,
                       bool is_whole, bool is_late)
{
    size_t eval_count = 0, call_count = 0, eval = 0, at = 0, count = 0;
    const size_t room = sizeof(p->merged) / sizeof(p->merged[0]);

    for (size_t i = 0; i < chain_len; i++)
        eval_count += is_eval(p, chain, i);
    for (size_t i = 0; i < frame_count; i++)
        call_count += frames[i].is_first;
    if (is_late && eval_count != p->call_count)
        return chain_len;
    /* A call that begins or ends has no frames. */
    size_t skipped = is_whole && eval_count > call_count ? 1 : 0;
    if (eval_count == 0 || (is_whole && eval_count - skipped != call_count))
        return chain_len;
    for (size_t i = 0; i < chain_len && count < room; i++) {
        bool is_call = is_eval(p, chain, i);

        eval += is_call;
        if (is_call && eval > skipped && at < frame_count)
            at += add_call(p, frames + at, frame_count - at,
                           is_late ? &p->calls[eval - 1] : NULL, chain[i], &count);
        else
            p->merged[count++] = chain[i];
    }
    count = count < most ? count : most;
    memcpy(chain, p->merged, count * sizeof(*chain));
    return count;
}

/* The version in the name of a file, as 0x30b for python3.11 and libpython3.11.so.1.0; 0 if it
 * has none, UINT16_MAX if it is not Python. */
static uint16_t version_of(const char *path)
{
    const char *name = strrchr(path, '/');
    unsigned long minor;
    char *end;

    name = name ? name + 1 : path;
    name += strncmp(name, "lib", 3) == 0 ? 3 : 0;
    if (strncmp(name, "python", 6) != 0)
        return UINT16_MAX;
    if (strncmp(name + 6, "3.", 2) != 0)
        return 0;
    minor = strtoul(name + 8, &end, 10);
    return end > name + 8 && minor < 256 ? (uint16_t)(0x300 | minor) : 0;
}

static bool is_python(const char *path)
{
    return version_of(path) != UINT16_MAX;
}

static void *open_python(struct cn_memory *memory,
                         const struct cn_language_mapping *mapping,
                         struct cn_stored_names *names)
{
    static const char *const symbols[] = {"_PyRuntime", "PyCode_Type", "Py_Version",
                                          "_PyEval_EvalFrameDefault"};
    enum { COUNT = sizeof(symbols) / sizeof(symbols[0]) };
    uint64_t at[COUNT], lens[COUNT];

    cn_language_symbols_sized(mapping, symbols, COUNT, at, lens);
    /* A program that uses the library has none of them. */
    if (at[0] == 0 || at[1] == 0 || at[3] == 0 || lens[3] == 0)
        return NULL;
    struct cn_python_place place = {
        .runtime = at[0],
        .code_type = at[1],
        .version = at[2],
        .eval_begin = at[3],
        .eval_end = at[3] + lens[3],
        .path_version = version_of(mapping->path),
    };
    return cn_python_open(memory, &place, names);
}

static void close_python(void *state)
{
    cn_python_close(state);
}

static bool see(void *state, struct cn_unwind_step *step)
{
    cn_python_see(state, step);
    return false;
}

static size_t finish(void *state, const struct cn_language_sample *sample,
                     uint64_t *chain, size_t count, size_t most)
{
    struct cn_python *p = state;
    size_t frame_count = 0;

    if (sample->has_python)
        return find_layout(p)
                   ? cn_python_merge(p, sample->python, sample->python_count, chain,
                                     count, most, sample->is_whole, false)
                   : count;
    for (size_t i = 0; i < count && frame_count == 0; i++)
        if (is_eval(p, chain, i))
            frame_count = cn_python_walk(p, sample->tid, p->frames, CN_PYTHON_FRAMES_MAX);
    return cn_python_merge(p, p->frames, frame_count, chain, count, most,
                           sample->is_whole, true);
}

static char *hint(const void *state)
{
    const char *version = cn_python_problem(state);

    return version ? cn_strprintf(
                         "Python %s is not known (3.9 to 3.15 are): the functions of "
                         "its programs are not shown",
                         version)
                   : NULL;
}

const struct cn_language_runtime cn_language_python = {
    .is_runtime = is_python,
    .open = open_python,
    .undo = see,
    .finish = finish,
    .hint = hint,
    .close = close_python,
};
