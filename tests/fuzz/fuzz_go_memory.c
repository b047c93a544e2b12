/* Any bytes as the memory of a process that runs Go: the words of a goroutine are read, and what created it is named,
 * within bounds of memory and time. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/record.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/go.h"
#include "sampler/languages/memory.h"
#include "support/fuzz.h"
#include "support/tiny_go.h"

enum {
    MEMORY = 0x20000000, /* where the bytes are */
    BYTES = 1 << 16,
    ROOM = 8,
    GOEXIT = CN_TEST_GO_CODE + 0x40,
};

static bool copy(void *arg, uint64_t address, void *out, size_t len)
{
    const struct cn_bytes *bytes = arg;
    struct cn_bytes found;

    if (address < MEMORY || !cn_bytes_slice(*bytes, address - MEMORY, len, &found))
        return false;
    memcpy(out, found.ptr, len);
    return true;
}

static void look(struct cn_go *go, struct cn_memory *memory, uint64_t state)
{
    static struct cn_frame_walk walk;
    uint64_t chain[ROOM] = {CN_TEST_GO_CODE + 8, GOEXIT + 1};
    struct cn_frame_table table;

    if (cn_go_describe(go, &table) != CN_LANGUAGE_TABLE)
        return;
    cn_memory_begin(memory, 1, BYTES);
    walk = (struct cn_frame_walk){.memory = memory};
    (void)cn_frame_walk_from(&walk, &table, state);
    assert(walk.found.word_count <= CN_FRAME_WORDS_MAX);
    struct cn_language_sample sample = {.is_whole = true,
                                        .found = &walk.found,
                                        .words = walk.words,
                                        .has_goroutines = true};
    size_t count = cn_go_finish(go, &sample, chain, 2, ROOM);
    assert(count >= 2 && count <= ROOM);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};
    struct cn_memory *memory = calloc(1, sizeof(*memory));

    assert(memory);
    memory->copy = copy;
    memory->arg = &bytes;
    for (unsigned minor = 18; minor <= 25; minor += 7) {
        struct cn_text program = cn_test_go(CN_UNWIND_X86_64, minor > 18);
        struct cn_stored_names names = {0};
        struct cn_go_place place = {.minor = minor, .outermost = {GOEXIT, GOEXIT + 16}};
        struct cn_file file = {0};
        struct cn_go_table table;

        assert(cn_go_table_open(
            &table, (struct cn_bytes){(const uint8_t *)program.chars, program.len}));
        struct cn_go *go = cn_go_open(&place, &file, &table, &names);
        look(go, memory, MEMORY);
        look(go, memory, len >= 8 ? cn_u64_get(data + len - 8) : 0);
        cn_go_close(go);
        cn_stored_names_done(&names);
        cn_text_done(&program);
    }
    free(memory);
    return 0;
}

/* A goroutine that runs main.main, of thread M, and was created by it: each points to the next. */
void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    enum { G = 0, M = 0x400, CREATED_BY = CN_TEST_GO_CODE + 0x10 };
    const unsigned minors[] = {18, 25};
    uint8_t bytes[0x800];

    for (size_t i = 0; i < 2; i++) {
        const struct cn_go_layout *layout = cn_go_layout_find(minors[i]);

        memset(bytes, 0, sizeof(bytes));
        cn_u64_put(bytes + G + 48, MEMORY + M);
        cn_u64_put(bytes + M + layout->curg, MEMORY + G);
        cn_u64_put(bytes + G + layout->id, 18);
        cn_u64_put(bytes + G + layout->creator, CREATED_BY);
        cn_u64_put(bytes + sizeof(bytes) - 8, MEMORY);
        emit(bytes, sizeof(bytes));
    }
}
