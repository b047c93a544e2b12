#include <string.h>

#include "base/bytes/record.h"
#include "sampler/languages/python.h"

static const struct cn_python_layout layouts[] = {
    {
        .version = 0x309,
        .lines = CN_PYTHON_LNOTAB,
        .entry = CN_PYTHON_ENTRY_EACH,
        .runtime_interpreters = 32,
        .interpreter_modules = 856,
        .interpreter_threads = 8,
        .thread_next = 8,
        .thread_interpreter = 16,
        .thread_frame = 24,
        .thread_id = 176,
        .frame_previous = 24,
        .frame_code = 32,
        .frame_instruction = 104,
        .frame_generator = 96,
        .task_coroutine = 152,
        .task_name = 160,
        .code_first_line = 40,
        .code_file = 104,
        .code_name = 112,
        .code_lines = 120,
        .code_bytes = 48,
        .object_type = 8,
        .text_len = 16,
        .text_state = 32,
        .text_ascii = 48,
        .text_other = 72,
        .text_kind = 2,
        .bytes_len = 16,
        .bytes_data = 32,
    },
    {
        .version = 0x30a,
        .lines = CN_PYTHON_LINES,
        .entry = CN_PYTHON_ENTRY_EACH,
        .runtime_interpreters = 32,
        .interpreter_modules = 856,
        .interpreter_threads = 8,
        .thread_next = 8,
        .thread_interpreter = 16,
        .thread_frame = 24,
        .thread_id = 176,
        .frame_previous = 24,
        .frame_code = 32,
        .frame_instruction = 96,
        .frame_generator = 88,
        .task_coroutine = 160,
        .task_name = 168,
        .code_first_line = 40,
        .code_file = 104,
        .code_name = 112,
        .code_lines = 120,
        .code_bytes = 48,
        .object_type = 8,
        .text_len = 16,
        .text_state = 32,
        .text_ascii = 48,
        .text_other = 72,
        .text_kind = 2,
        .bytes_len = 16,
        .bytes_data = 32,
    },
    {
        .version = 0x30b,
        .lines = CN_PYTHON_LOCATIONS,
        .entry = CN_PYTHON_ENTRY_FLAG,
        .has_cframe = true,
        .runtime_interpreters = 40,
        .interpreter_modules = 888,
        .interpreter_threads = 16,
        .thread_next = 8,
        .thread_interpreter = 16,
        .thread_frame = 56,
        .thread_id = 152,
        .thread_native_id = 160,
        .cframe_frame = 8,
        .frame_previous = 48,
        .frame_code = 32,
        .frame_instruction = 56,
        .frame_entry = 68,
        .generator_frame = 80,
        .task_coroutine = 136,
        .task_name = 144,
        .code_first_line = 72,
        .code_file = 112,
        .code_name = 128,
        .code_lines = 136,
        .code_instructions = 184,
        .object_type = 8,
        .text_len = 16,
        .text_state = 32,
        .text_ascii = 48,
        .text_other = 72,
        .text_kind = 2,
        .bytes_len = 16,
        .bytes_data = 32,
    },
    {
        .version = 0x30c,
        .lines = CN_PYTHON_LOCATIONS,
        .entry = CN_PYTHON_ENTRY_SHIM,
        .has_cframe = true,
        .runtime_interpreters = 40,
        .interpreter_modules = 944,
        .interpreter_threads = 72,
        .thread_next = 8,
        .thread_interpreter = 16,
        .thread_frame = 56,
        .thread_id = 136,
        .thread_native_id = 144,
        .frame_previous = 8,
        .frame_code = 0,
        .frame_instruction = 56,
        .frame_entry = 70,
        .generator_frame = 72,
        .task_coroutine = 136,
        .task_name = 144,
        .code_first_line = 68,
        .code_file = 112,
        .code_name = 128,
        .code_lines = 136,
        .code_instructions = 192,
        .object_type = 8,
        .text_len = 16,
        .text_state = 32,
        .text_ascii = 40,
        .text_other = 56,
        .text_kind = 2,
        .bytes_len = 16,
        .bytes_data = 32,
    },
};

const struct cn_python_layout *cn_python_layout_find(uint16_t version)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].version == version)
            return &layouts[i];
    return NULL;
}

/* What is read of _Py_DebugOffsets, whose words are more in each version. */
enum {
    VERSION,
    FREE_THREADED,
    RUNTIME_INTERPRETERS,
    INTERPRETER_NEXT,
    INTERPRETER_THREADS,
    INTERPRETER_MODULES,
    THREAD_NEXT,
    THREAD_INTERPRETER,
    THREAD_FRAME,
    THREAD_ID,
    THREAD_NATIVE_ID,
    FRAME_PREVIOUS,
    FRAME_CODE,
    FRAME_INSTRUCTION,
    FRAME_OWNER,
    CODE_FILE,
    CODE_QUALNAME,
    CODE_LINES,
    CODE_FIRST_LINE,
    CODE_INSTRUCTIONS,
    OBJECT_TYPE,
    BYTES_LEN,
    BYTES_DATA,
    TEXT_STATE,
    TEXT_LEN,
    TEXT_ASCII,
    NUMBER_COUNT,
    WORDS_MAX = 112,
    OFFSET_MAX = 1 << 20,
};

/* The word of each number. */
static const struct {
    uint16_t version;
    uint8_t words[NUMBER_COUNT];
} described[] = {
    {0x30d, {1,  2,  5,  8,  9,  11, 21, 22, 23, 24, 25, 29, 30,
             31, 33, 35, 37, 38, 39, 43, 45, 65, 66, 68, 69, 70}},
    {0x30e, {1,  2,  5,  8,  9,  12, 24, 25, 26, 27, 28, 32, 33,
             34, 36, 40, 42, 43, 44, 48, 51, 75, 76, 78, 79, 80}},
    {0x30f, {1,  2,  5,  8,  9,  12, 24, 25, 26, 30, 31, 40, 41,
             42, 44, 48, 50, 51, 52, 56, 59, 87, 88, 90, 91, 92}},
};

static bool layout_decode(struct cn_python_layout *out, const uint64_t *numbers)
{
    for (size_t i = RUNTIME_INTERPRETERS; i < NUMBER_COUNT; i++)
        if (numbers[i] > OFFSET_MAX)
            return false;
    bool is_free = numbers[FREE_THREADED] == 1;
    uint16_t version = (uint16_t)(numbers[VERSION] >> 16);
    *out = (struct cn_python_layout){
        .version = version,
        .lines = CN_PYTHON_LOCATIONS,
        .entry = CN_PYTHON_ENTRY_SHIM,
        .is_free_threaded = is_free,
        .runtime_interpreters = (uint32_t)numbers[RUNTIME_INTERPRETERS],
        .interpreter_next = (uint32_t)numbers[INTERPRETER_NEXT],
        .interpreter_threads = (uint32_t)numbers[INTERPRETER_THREADS],
        .interpreter_modules = (uint32_t)numbers[INTERPRETER_MODULES],
        .thread_next = (uint32_t)numbers[THREAD_NEXT],
        .thread_interpreter = (uint32_t)numbers[THREAD_INTERPRETER],
        .thread_frame = (uint32_t)numbers[THREAD_FRAME],
        .thread_id = (uint32_t)numbers[THREAD_ID],
        .thread_native_id = (uint32_t)numbers[THREAD_NATIVE_ID],
        .frame_previous = (uint32_t)numbers[FRAME_PREVIOUS],
        .frame_code = (uint32_t)numbers[FRAME_CODE],
        .frame_instruction = (uint32_t)numbers[FRAME_INSTRUCTION],
        .frame_entry = (uint32_t)numbers[FRAME_OWNER],
        .code_first_line = (uint32_t)numbers[CODE_FIRST_LINE],
        .code_file = (uint32_t)numbers[CODE_FILE],
        .code_name = (uint32_t)numbers[CODE_QUALNAME],
        .code_lines = (uint32_t)numbers[CODE_LINES],
        .code_instructions = (uint32_t)numbers[CODE_INSTRUCTIONS],
        .object_type = (uint32_t)numbers[OBJECT_TYPE],
        .text_len = (uint32_t)numbers[TEXT_LEN],
        .text_state = (uint32_t)numbers[TEXT_STATE],
        .text_ascii = (uint32_t)numbers[TEXT_ASCII],
        .text_other = (uint32_t)numbers[TEXT_ASCII] + 16,
        .text_kind = is_free && version >= 0x30e ? 8 : 2,
        .bytes_len = (uint32_t)numbers[BYTES_LEN],
        .bytes_data = (uint32_t)numbers[BYTES_DATA],
    };
    /* Not described; a task is believed only if all of it fits. Later ones keep them elsewhere. */
    if (version == 0x30d && !is_free) {
        out->generator_frame = 72;
        out->task_coroutine = 120;
        out->task_name = 128;
    }
    return true;
}

bool cn_python_layout_read(struct cn_python_layout *out, struct cn_memory *memory,
                           uint64_t runtime)
{
    uint8_t bytes[8 * WORDS_MAX];
    uint64_t numbers[NUMBER_COUNT];

    if (!cn_memory_read(memory, runtime, bytes, sizeof(bytes)) ||
        memcmp(bytes, "xdebugpy", 8) != 0)
        return false;
    uint64_t version = cn_u64_get(bytes + 8) >> 16;
    for (size_t i = 0; i < sizeof(described) / sizeof(described[0]); i++) {
        if (described[i].version != version)
            continue;
        for (size_t k = 0; k < NUMBER_COUNT; k++)
            numbers[k] = cn_u64_get(bytes + 8 * (size_t)described[i].words[k]);
        return layout_decode(out, numbers);
    }
    return false;
}
