#include "sampler/languages/python_tasks.h"

#include <string.h>

#include "base/bytes/record.h"
#include "base/text.h"
#include "sampler/languages/python_code.h"

/* Objects of builds with the global lock: a head of 16 bytes. */
enum {
    DICT_KEYS = 32,
    MODULE_DICT = 16,
    OLD_KEYS_SIZE = 8, /* of the keys of a dict, to 3.10 */
    OLD_KEYS_COUNT = 32,
    OLD_KEYS_INDICES = 40,
    KEYS_INDEX_LOG2 = 9, /* from 3.11 on */
    KEYS_KIND = 10,
    KEYS_COUNT = 24,
    KEYS_INDICES = 32,
    KIND_ANY = 0,  /* entries are hash, key, value */
    KIND_TEXT = 1, /* key, value */
    ENTRIES_MAX = 1 << 16,
    INTERPRETERS_MAX = 16,
    NAME_MAX_LEN = 128,
    SMALL_INDICES = 8, /* bytes, of a dict of up to 5 entries */
    READS_OF_TASK = 6,
    WORDS_OF_TASK = 5,
    CHARS_READ = 8, /* at the begin and the end of a name */
};

/* Where the entries of a dict are. */
struct dict_entries {
    uint64_t at, count;
    uint32_t len, key, value; /* of an entry, and in it */
};

static bool find_entries(struct cn_memory *memory, const struct cn_python_layout *layout,
                         uint64_t dict, struct dict_entries *out)
{
    uint64_t keys, size;
    uint8_t log2, kind;

    *out = (struct dict_entries){.len = 24, .key = 8, .value = 16};
    if (!cn_memory_u64(memory, dict + DICT_KEYS, &keys))
        return false;
    if (layout->version < 0x30b) {
        if (!cn_memory_u64(memory, keys + OLD_KEYS_SIZE, &size) ||
            !cn_memory_u64(memory, keys + OLD_KEYS_COUNT, &out->count))
            return false;
        uint64_t width = size <= UINT8_MAX ? 1 : size <= UINT16_MAX ? 2 : 4;
        if (size > ENTRIES_MAX * 2)
            return false;
        out->at = keys + OLD_KEYS_INDICES + size * width;
    } else {
        if (!cn_memory_u8(memory, keys + KEYS_INDEX_LOG2, &log2) ||
            !cn_memory_u8(memory, keys + KEYS_KIND, &kind) ||
            !cn_memory_u64(memory, keys + KEYS_COUNT, &out->count) || kind > KIND_TEXT ||
            log2 > 24)
            return false;
        if (kind == KIND_TEXT)
            *out = (struct dict_entries){
                .count = out->count, .len = 16, .key = 0, .value = 8};
        out->at = keys + KEYS_INDICES + (UINT64_C(1) << log2);
    }
    return out->count <= ENTRIES_MAX;
}

/* The value of a key among the entries from `*first` on; 0 if there is none. Leaves where the
 * search ended in `*first`. */
static uint64_t find_value(struct cn_memory *memory,
                           const struct cn_python_layout *layout,
                           const struct dict_entries *entries, uint64_t *first,
                           const char *key)
{
    for (; *first < entries->count; (*first)++) {
        uint64_t at = entries->at + *first * entries->len, text, value;

        if (!cn_memory_u64(memory, at + entries->key, &text) ||
            !cn_memory_u64(memory, at + entries->value, &value))
            return 0;
        if (text != 0 && cn_python_text_is(memory, layout, text, key))
            return value;
    }
    return 0;
}

static bool find_running(struct cn_python_tasks *tasks, struct cn_memory *memory,
                         const struct cn_python_layout *layout, uint64_t interpreter)
{
    uint64_t modules, module, dict, first = 0;
    struct dict_entries entries;

    if (!cn_memory_u64(memory, interpreter + layout->interpreter_modules, &modules) ||
        !find_entries(memory, layout, modules, &entries))
        return false;
    if (tasks->modules != modules || tasks->searched > entries.count)
        tasks->searched = 0;
    tasks->modules = modules;
    module = find_value(memory, layout, &entries, &tasks->searched, "_asyncio");
    /* A module that is being imported is looked at again. */
    if (module == 0 || !cn_memory_u64(memory, module + MODULE_DICT, &dict) ||
        !find_entries(memory, layout, dict, &entries))
        return false;
    tasks->running = find_value(memory, layout, &entries, &first, "_current_tasks");
    return tasks->running != 0;
}

bool cn_python_tasks_find(struct cn_python_tasks *tasks, struct cn_memory *memory,
                          const struct cn_python_layout *layout, uint64_t runtime)
{
    uint64_t interpreter;

    if (tasks->running != 0)
        return true;
    if (layout->task_coroutine == 0 ||
        !cn_memory_u64(memory, runtime + layout->runtime_interpreters, &interpreter))
        return false;
    /* That of the main program is the last one. */
    for (size_t i = 0; i < INTERPRETERS_MAX; i++) {
        uint64_t next;

        if (!cn_memory_u64(memory, interpreter + layout->interpreter_next, &next))
            return false;
        if (next == 0)
            return find_running(tasks, memory, layout, interpreter);
        interpreter = next;
    }
    return false;
}

void cn_python_tasks_describe(const struct cn_python_tasks *tasks,
                              const struct cn_python_layout *layout,
                              struct cn_frame_table *table)
{
    bool is_old = layout->version < 0x30b;
    int32_t entries = (is_old ? OLD_KEYS_INDICES : KEYS_INDICES) + SMALL_INDICES;
    struct cn_frame_read *reads = table->head_reads;

    if (tasks->running == 0)
        return;
    table->other = tasks->running;
    table->head_read_count = 1 + CN_PYTHON_TASK_WORDS;
    table->head_len = CN_PYTHON_TASK_WORDS;
    *reads++ = (struct cn_frame_read){
        .from = CN_FRAME_OTHER, .to = CN_FRAME_NOWHERE, .off = DICT_KEYS};
    for (uint8_t i = 0; i < CN_PYTHON_TASKS_MAX; i++) {
        uint8_t task = (uint8_t)(CN_FRAME_FOUND + 1 + READS_OF_TASK * i);
        uint8_t name = task + 2, len = task + 3, to = WORDS_OF_TASK * i;
        int32_t chars = (int32_t)layout->text_ascii;
        const struct cn_frame_read of_task[READS_OF_TASK] = {
            {CN_FRAME_FOUND, to, 0, entries + 24 * i + 16},
            {task, to + 1, 0, (int32_t)layout->task_coroutine},
            {task, CN_FRAME_NOWHERE, 0, (int32_t)layout->task_name},
            {name, to + 2, 0, (int32_t)layout->text_len},
            {name, to + 3, 0, chars},
            {name, to + 4, len, chars - 8},
        };

        memcpy(reads, of_task, sizeof(of_task));
        reads += READS_OF_TASK;
    }
}

/* What is read of a name that is shorter lies around it. */
static struct cn_python_task task_of(uint64_t coroutine,
                                     const uint64_t words[WORDS_OF_TASK])
{
    struct cn_python_task task = {words[0], coroutine, words[2], words[3], words[4]};

    if (task.len <= CHARS_READ)
        task.last = 0;
    if (task.len < CHARS_READ)
        task.first &= (UINT64_C(1) << 8 * task.len) - 1;
    return task;
}

bool cn_python_tasks_match(const uint64_t words[CN_PYTHON_TASK_WORDS], uint64_t coroutine,
                           struct cn_python_task *out)
{
    /* To 3.10, frames that are of no coroutine have none. */
    for (size_t i = 0; coroutine != 0 && i < CN_PYTHON_TASK_WORDS; i += WORDS_OF_TASK)
        if (words[i] != 0 && words[i + 1] == coroutine) {
            *out = task_of(coroutine, words + i);
            return true;
        }
    return false;
}

/* "Task-12", which the interpreter makes. */
static bool is_number(const char *name)
{
    static const char before[] = "Task-";

    return strncmp(name, before, strlen(before)) == 0 &&
           name[strlen(before) + strspn(name + strlen(before), "0123456789")] == '\0';
}

/* The name, if the characters that were read at the sample are all. Other objects, as numbers and
 * texts in other alphabets, have zeros there. */
static bool add_short_name(const struct cn_python_task *task, struct cn_text *out)
{
    uint8_t chars[2 * CHARS_READ];
    size_t len = task->len <= sizeof(chars) ? task->len : 0;

    cn_u64_put(chars, task->first);
    if (len > CHARS_READ)
        cn_u64_put(chars + len - CHARS_READ, task->last);
    for (size_t i = 0; i < len; i++)
        if (chars[i] < ' ' || chars[i] > '~')
            return false;
    cn_text_add(out, (const char *)chars, len);
    return len > 0;
}

/* The name, if it is still the one that it was at the sample. */
static bool add_name(struct cn_memory *memory, const struct cn_python_layout *layout,
                     const struct cn_python_task *task, struct cn_text *out)
{
    uint64_t words[WORDS_OF_TASK] = {0}, name;

    if (!cn_memory_u64(memory, task->at + layout->task_coroutine, &words[1]) ||
        !cn_memory_u64(memory, task->at + layout->task_name, &name) ||
        !cn_memory_u64(memory, name + layout->text_len, &words[2]) ||
        !cn_memory_u64(memory, name + layout->text_ascii, &words[3]) ||
        !cn_memory_u64(memory, name + words[2] + layout->text_ascii - CHARS_READ,
                       &words[4]))
        return false;
    words[0] = task->at;
    struct cn_python_task now = task_of(words[1], words);
    return memcmp(&now, task, sizeof(now)) == 0 &&
           cn_python_text_read(memory, layout, name, NAME_MAX_LEN, out);
}

bool cn_python_task_name(struct cn_memory *memory, const struct cn_python_layout *layout,
                         const struct cn_python_task *task, struct cn_text *out)
{
    size_t before = out->len;

    if (!add_short_name(task, out) && !add_name(memory, layout, task, out))
        return false;
    if (out->len > before && !is_number(out->chars + before))
        return true;
    out->len = before;
    return false;
}
