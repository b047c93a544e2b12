#include "sampler/languages/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/file.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/interpreter.h"
#include "sampler/languages/languages.h"
#include "sampler/languages/python_code.h"
#include "sampler/languages/python_tasks.h"
#include "sampler/languages/runtimes.h"

enum {
    THREAD_SLOTS = 64,
    OWNER_NONE = 3, /* and above: a frame without code */
    /* Where glibc has the number of a thread in what pthread_self() points to. */
    X86_TID_OFF = 0x2d0,
    ARM_TID_OFF = 0xd0,
    OWNER_GENERATOR = 1,
    MODULES_BYTES_MAX = 4 << 20, /* read for the names of all modules */
    TASK_SLOTS = 256,
    TASK_NAMES_MAX = 4096, /* other tasks have the name of their coroutine */
};

#define MODULES_NS UINT64_C(4000000) /* between looks at new modules */

/* Words of a frame that are read. */
enum { AT_CODE, AT_INSTRUCTION, AT_ENTRY, AT_SUM, AT_GENERATOR, ROW_LEN };

struct cn_python {
    struct cn_memory *memory;
    struct cn_stored_names *names;
    struct cn_python_place place;
    struct cn_python_layout layout;
    struct cn_frame_table table; /* of the layout */
    bool is_known, is_unknown;   /* the layout; neither: nothing was read yet */
    char version[16];            /* if it is not known */
    struct {
        uint32_t tid;
        uint64_t state;
    } threads[THREAD_SLOTS];
    struct cn_python_codes codes;
    struct cn_python_tasks tasks;
    bool has_generators; /* and tasks were not looked for since then */
    uint64_t looked_ns;  /* for tasks */
    struct {
        struct cn_python_task task;
        uint64_t address;
    } task_names[TASK_SLOTS];
    size_t task_name_count;
    struct cn_frame_walk walk;
    struct cn_interpreter interpreter;
    struct cn_python_frame frames[CN_PYTHON_FRAMES_MAX]; /* of the sample */
    struct cn_python_frame again[CN_PYTHON_FRAMES_MAX];
    uint8_t flags[CN_PYTHON_FRAMES_MAX];
};

struct cn_python *cn_python_open(struct cn_memory *memory,
                                 const struct cn_python_place *place,
                                 struct cn_stored_names *names)
{
    struct cn_python *p = cn_alloc(1, sizeof(*p));

    p->memory = memory;
    p->names = names;
    p->place = *place;
    p->walk.memory = memory;
    p->interpreter.memory = memory;
    p->interpreter.entry =
        (struct cn_interpreter_range){place->eval_begin, place->eval_end};
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

/* Where the number of a thread is behind its thread_id. */
static uint32_t tid_off(void)
{
    return cn_unwind_machine_here() == CN_UNWIND_X86_64 ? X86_TID_OFF : ARM_TID_OFF;
}

/* What is copied of code: it may be of a module that is imported and freed at once. */
static struct cn_frame_object describe_code(const struct cn_python_layout *l)
{
    const uint32_t offsets[] = {l->object_type, l->code_name,       l->code_file,
                                l->code_lines,  l->code_first_line, l->code_bytes};
    uint32_t text_head = l->text_ascii > l->text_other ? l->text_ascii : l->text_other;
    struct cn_frame_object object = {
        .word = AT_CODE,
        .sum = AT_SUM,
        .part_count = 3,
        .parts =
            {
                {l->code_name, text_head, l->text_len, 4},
                {l->code_file, text_head, l->text_len, 4},
                {l->code_lines, l->bytes_data, l->bytes_len, 1},
            },
    };

    if (l->code_instructions == 0)
        object.parts[object.part_count++] =
            (struct cn_frame_part){l->code_bytes, l->bytes_data, 0, 0};
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
        if (offsets[i] + 8 > object.len)
            object.len = offsets[i] + 8;
    if (object.len > CN_FRAME_OBJECT_MAX || text_head > CN_FRAME_OBJECT_MAX ||
        l->bytes_data > CN_FRAME_OBJECT_MAX)
        object.len = 0;
    return object;
}

/* How frames are walked. False if one is too long. */
static bool make_table(struct cn_python *p)
{
    const struct cn_python_layout *l = &p->layout;
    const uint32_t offsets[] = {l->frame_previous, l->frame_code, l->frame_instruction,
                                l->frame_entry, l->frame_generator};

    p->table = (struct cn_frame_table){
        .language = CN_LANGUAGE_PYTHON,
        .root_kind = CN_FRAME_IN_LISTS,
        .root = p->place.runtime + l->runtime_interpreters,
        .order = CN_FRAME_LINKED,
        .interpreter_next = l->interpreter_next,
        .interpreter_threads = l->interpreter_threads,
        .thread_next = l->thread_next,
        .thread_previous = l->thread_next - 8, /* in all versions */
        .thread_interpreter = l->thread_interpreter,
        .thread_id = l->thread_native_id > 0 ? l->thread_native_id : l->thread_id,
        .tid_off = l->thread_native_id > 0 ? 0 : tid_off(),
        .first = l->thread_frame,
        .has_second = l->has_cframe,
        .second = l->cframe_frame,
        .link = l->frame_previous,
        .row_len = ROW_LEN,
        .read_count = 7,
        .reads =
            {
                {CN_FRAME_SELF, AT_CODE, 0, (int32_t)l->frame_code},
                {CN_FRAME_SELF, AT_INSTRUCTION, 0, (int32_t)l->frame_instruction},
                {CN_FRAME_SELF, AT_ENTRY, 0, (int32_t)l->frame_entry},
                {CN_FRAME_FOUND, AT_SUM, 0, (int32_t)l->code_name},
                {CN_FRAME_FOUND, AT_SUM, 0, (int32_t)l->code_file},
                {CN_FRAME_FOUND, AT_SUM, 0, (int32_t)l->code_lines},
                {CN_FRAME_SELF, AT_GENERATOR, 0, CN_FRAME_ADDRESS},
            },
    };
    if (l->frame_generator > 0)
        p->table.reads[6].off = (int32_t)l->frame_generator;
    p->table.object = describe_code(l);
    cn_python_tasks_describe(&p->tasks, l, &p->table);
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
        if (offsets[i] / 8 * 8 + 8 > p->table.frame_len)
            p->table.frame_len = offsets[i] / 8 * 8 + 8;
    return p->table.frame_len <= CN_FRAME_LEN;
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
        /* Something else is there in a process that has become another program meanwhile. */
        if (version >> 8 != 3 ||
            (p->place.path_version != 0 && version != p->place.path_version))
            return false;
    }
    const struct cn_python_layout *layout = cn_python_layout_find(version);
    if (layout)
        p->layout = *layout;
    p->is_known =
        (layout || cn_python_layout_read(&p->layout, p->memory, p->place.runtime)) &&
        make_table(p);
    p->is_unknown = !p->is_known;
    (void)snprintf(p->version, sizeof(p->version), "%u.%u", version >> 8,
                   version & 0xffU);
    return p->is_known;
}

/* A frame without code, which all frames of one call are before. */
static void end_call(struct cn_python_frame *frames, size_t *count, size_t most)
{
    if (*count > 0 && !frames[*count - 1].is_first)
        frames[*count - 1].is_first = true;
    else if (*count < most)
        frames[(*count)++] = (struct cn_python_frame){.is_first = true};
}

/* Add the task that runs the last frame, whose caller it is. */
static void add_task(struct cn_python_frame *frames, size_t *count, size_t most,
                     const struct cn_python_task *task)
{
    struct cn_python_frame *last = &frames[*count - 1];

    if (*count == most)
        return;
    frames[*count] = *last;
    frames[(*count)++].task = *task;
    last->is_first = false;
}

size_t cn_python_decode(struct cn_python *p, const struct cn_frames_found *found,
                        const uint64_t *words, struct cn_python_frame *frames,
                        size_t most)
{
    const struct cn_python_layout *layout = &p->layout;
    bool has_tasks = found->head_len == CN_PYTHON_TASK_WORDS;
    size_t count = 0, rows = 0;

    if (found->row_len == ROW_LEN && found->word_count >= found->head_len)
        rows = (found->word_count - found->head_len) / ROW_LEN;
    for (size_t i = 0; i < rows && count < most; i++) {
        const uint64_t *row = words + found->head_len + ROW_LEN * i;
        uint8_t entry = (uint8_t)(row[AT_ENTRY] >> 8 * (layout->frame_entry % 8));
        struct cn_python_task task;

        /* The frames of another interpreter follow. */
        if (row[AT_CODE] == 0 && row[AT_GENERATOR] == 0)
            continue;
        if (layout->entry == CN_PYTHON_ENTRY_SHIM && entry >= OWNER_NONE) {
            bool is_last = i + 1 == rows || row[ROW_LEN + AT_GENERATOR] == 0;

            /* The outermost may be of the thread, not of a call. */
            if (!is_last || (count > 0 && !frames[count - 1].is_first))
                end_call(frames, &count, most);
            continue;
        }
        frames[count++] = (struct cn_python_frame){
            .code = row[AT_CODE] & ~(uint64_t)CN_FRAME_TAGS,
            .instruction = layout->code_instructions > 0
                               ? row[AT_INSTRUCTION]
                               : (uint64_t)(int64_t)(int32_t)row[AT_INSTRUCTION],
            .sum = row[AT_SUM],
            .is_first = layout->entry == CN_PYTHON_ENTRY_EACH ||
                        (layout->entry == CN_PYTHON_ENTRY_FLAG && entry != 0),
        };
        uint64_t generator = row[AT_GENERATOR] - layout->generator_frame;
        p->has_generators |= layout->entry == CN_PYTHON_ENTRY_SHIM
                                 ? entry == OWNER_GENERATOR
                                 : generator != 0;
        if (has_tasks && cn_python_tasks_match(words, generator, &task))
            add_task(frames, &count, most, &task);
    }
    return count;
}

/* Tasks are only looked for where there are coroutines, and not all the time. */
static void look_for_tasks(struct cn_python *p)
{
    uint64_t now_ns = cn_clock_ns();

    if (!p->has_generators || p->tasks.running != 0 || p->layout.task_coroutine == 0 ||
        now_ns - p->looked_ns < MODULES_NS)
        return;
    p->looked_ns = now_ns;
    p->has_generators = false;
    cn_memory_begin(p->memory, p->memory->pid, MODULES_BYTES_MAX);
    if (cn_python_tasks_find(&p->tasks, p->memory, &p->layout, p->place.runtime))
        (void)make_table(p);
}

static size_t walk_once(struct cn_python *p, uint32_t tid, struct cn_python_frame *frames,
                        size_t most)
{
    size_t slot = tid % THREAD_SLOTS;

    if (p->threads[slot].tid != tid)
        p->threads[slot].state = 0;
    p->threads[slot].tid = tid;
    if (!find_layout(p) ||
        !cn_frame_walk_thread(&p->walk, &p->table, tid, &p->threads[slot].state))
        return 0;
    size_t count = cn_python_decode(p, &p->walk.found, p->walk.words, frames, most);
    for (size_t i = 0; i < count; i++)
        frames[i].sum = 0;
    return count;
}

size_t cn_python_walk(struct cn_python *p, uint32_t tid, struct cn_python_frame *frames,
                      size_t most)
{
    size_t count = walk_once(p, tid, frames, most);

    /* The thread runs on: what it has changed meanwhile is read differently again. */
    cn_memory_begin(p->memory, p->memory->pid, p->memory->left);
    p->interpreter.round = p->memory->round;
    bool is_same =
        count > 0 && walk_once(p, tid, p->again, CN_PYTHON_FRAMES_MAX) == count;
    for (size_t i = 0; is_same && i < count; i++)
        is_same = frames[i].code == p->again[i].code &&
                  frames[i].is_first == p->again[i].is_first;
    return is_same ? count : 0;
}

void cn_python_see(struct cn_python *p, const struct cn_unwind_step *step)
{
    cn_interpreter_see(&p->interpreter, step);
}

/* The code of a frame; NULL if there is none, or it was freed since the sample. */
static const struct cn_python_code *find_code(struct cn_python *p,
                                              const struct cn_python_frame *frame)
{
    /* The process may have freed it, or ended. */
    const struct cn_python_code *code =
        frame->sum != 0 ? cn_python_code_find(&p->codes, frame->code, frame->sum) : NULL;

    if (code && !code->is_partial)
        return code;
    code = cn_python_code_at(&p->codes, p->memory, &p->layout, p->place.code_type,
                             frame->code);
    if (frame->sum == 0 || (code && frame->sum == cn_python_code_sum(code)))
        return code;
    return cn_python_code_find(&p->codes, frame->code, frame->sum);
}

static void learn(void *state, uint64_t object)
{
    struct cn_python *p = state;

    if (p->is_known)
        (void)cn_python_code_at(&p->codes, p->memory, &p->layout, p->place.code_type,
                                object);
}

static uint64_t unknown_frame(struct cn_python *p)
{
    return cn_stored_names_address(
        p->names, &(struct cn_stored_frame){.language = CN_LANGUAGE_PYTHON});
}

/* True if an offset is not one of the code, nor before its first instruction: a thread of a
 * free-threaded interpreter runs a copy. */
static bool is_outside(const struct cn_python_code *code, int64_t instruction)
{
    return instruction < -2 || instruction >= (int64_t)(code->end - code->begin);
}

/* The address that stands for a frame; 0 if it is none, or not the one that a call ran. */
static uint64_t name_frame(struct cn_python *p, const struct cn_python_frame *frame,
                           const struct cn_interpreter_call *call)
{
    const struct cn_python_code *code = find_code(p, frame);

    if (!code)
        return frame->sum != 0 ? unknown_frame(p) : 0;
    int64_t instruction = (int64_t)frame->instruction;
    if (p->layout.code_instructions > 0)
        instruction -= (int64_t)code->begin;
    else if (p->layout.lines == CN_PYTHON_LINES)
        instruction *= 2;
    if (call) {
        uint64_t next;

        if (!cn_interpreter_holds(
                call, (struct cn_interpreter_range){code->begin, code->end}, &next))
            return 0;
        instruction =
            next > code->begin ? (int64_t)(next - code->begin) - 2 : instruction;
    }
    struct cn_stored_frame stored = {
        .function = code->function,
        .file = code->file,
        .line = p->layout.code_instructions > 0 && is_outside(code, instruction)
                    ? 0
                    : cn_python_line(code, p->layout.lines, instruction),
        .language = CN_LANGUAGE_PYTHON,
        .first_line = code->first_line,
    };
    return cn_stored_names_address(p->names, &stored);
}

/* The name that was given to a task; otherwise that of its coroutine. */
static uint64_t name_task(struct cn_python *p, const struct cn_python_frame *frame)
{
    const struct cn_python_task *task = &frame->task;
    size_t slot = (size_t)((task->at ^ task->coroutine) / 16 % TASK_SLOTS);
    struct cn_text text = {0};

    if (memcmp(&p->task_names[slot].task, task, sizeof(*task)) == 0)
        return p->task_names[slot].address;
    const struct cn_python_code *code = find_code(p, frame);
    if (!code)
        return unknown_frame(p);
    cn_text_str_add(&text, "task ");
    if (p->task_name_count < TASK_NAMES_MAX &&
        cn_python_task_name(p->memory, &p->layout, task, &text))
        p->task_name_count++;
    else
        cn_text_str_add(&text, code->function);
    struct cn_stored_frame stored = {
        .function = cn_text_str(&text),
        .file = code->file,
        .language = CN_LANGUAGE_PYTHON,
    };
    p->task_names[slot].task = *task;
    p->task_names[slot].address = cn_stored_names_address(p->names, &stored);
    cn_text_done(&text);
    return p->task_names[slot].address;
}

/* Frames that are merged. */
struct merging {
    struct cn_python *python;
    const struct cn_python_frame *frames;
};

static uint64_t name(void *arg, size_t frame, const struct cn_interpreter_call *call)
{
    struct merging *m = arg;

    return m->frames[frame].task.at != 0 ? name_task(m->python, &m->frames[frame])
                                         : name_frame(m->python, &m->frames[frame], call);
}

size_t cn_python_merge(struct cn_python *p, const struct cn_python_frame *frames,
                       size_t frame_count, uint64_t *chain, size_t chain_len, size_t most,
                       bool is_whole, bool is_late)
{
    struct merging m = {p, frames};
    struct cn_interpreter_frames merged = {
        .flags = p->flags,
        .count = frame_count,
        .is_late = is_late,
        .name = name,
        .arg = &m,
    };

    for (size_t i = 0; i < frame_count; i++)
        p->flags[i] = (uint8_t)((frames[i].is_first ? CN_INTERPRETER_FIRST : 0) |
                                (frames[i].code == 0 ? CN_INTERPRETER_EMPTY : 0));
    return cn_interpreter_merge(&p->interpreter, &merged, chain, chain_len, most,
                                is_whole);
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

    if (sample->found && sample->found->language == CN_LANGUAGE_PYTHON) {
        if (!find_layout(p))
            return count;
        frame_count = cn_python_decode(p, sample->found, sample->words, p->frames,
                                       CN_PYTHON_FRAMES_MAX);
        return cn_python_merge(p, p->frames, frame_count, chain, count, most,
                               sample->is_whole && !sample->found->is_cut, false);
    }
    if (!cn_interpreter_runs(&p->interpreter, chain, count))
        return count;
    frame_count = cn_python_walk(p, sample->tid, p->frames, CN_PYTHON_FRAMES_MAX);
    count = cn_python_merge(p, p->frames, frame_count, chain, count, most,
                            sample->is_whole, true);
    cn_interpreter_count_late(&p->interpreter, chain, count);
    look_for_tasks(p);
    return count;
}

/* Tasks are looked for. */
static bool is_stale(const void *state)
{
    const struct cn_python *p = state;

    return p->has_generators && p->tasks.running == 0 && p->layout.task_coroutine > 0;
}

static enum cn_language_table describe(void *state, struct cn_frame_table *out)
{
    struct cn_python *p = state;

    if (find_layout(p)) {
        look_for_tasks(p);
        *out = p->table;
    }
    return p->is_known     ? CN_LANGUAGE_TABLE
           : p->is_unknown ? CN_LANGUAGE_NO_TABLE
                           : CN_LANGUAGE_LATER;
}

static char *hint(const void *state)
{
    const struct cn_python *language = state;
    const char *version = cn_python_problem(language);

    if (!version && language->is_known && language->layout.is_free_threaded)
        return cn_strprintf(
            "Python %s without its global lock was not tried: functions are "
            "shown as it describes itself, lines where they are certain, no "
            "tasks of asyncio",
            language->version);
    return version ? cn_strprintf(
                         "Python %s is not known (3.9 to 3.15 are): the functions of "
                         "its programs are not shown",
                         version)
                   : cn_interpreter_hint(&language->interpreter, "Python");
}

const struct cn_language_runtime cn_language_python = {
    .is_runtime = is_python,
    .open = open_python,
    .undo = see,
    .finish = finish,
    .describe = describe,
    .learn = learn,
    .is_stale = is_stale,
    .hint = hint,
    .close = close_python,
};
