/* Any bytes as the memory of a process that runs Python: frames are walked, named and merged with
 * a stack, within bounds of memory and time. */

#include <assert.h>
#include <stdlib.h>

#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/runtimes.h"
#include "support/fuzz.h"
#include "support/python_image.h"

enum { BYTES = 1 << 16, ROOM = 2048 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};
    struct cn_memory *memory = calloc(1, sizeof(*memory));
    struct cn_python_place place = cn_image_place();
    struct cn_stored_names names = {0};
    static struct cn_python_frame frames[CN_PYTHON_FRAMES_MAX];
    struct cn_frame_table table;
    uint64_t chain[ROOM] = {CN_IMAGE_EVAL + 8, 1, CN_IMAGE_EVAL + 16, 2};

    assert(memory);
    memory->copy = cn_image_copy;
    memory->arg = &bytes;
    struct cn_python *python = cn_python_open(memory, &place, &names);
    cn_memory_begin(memory, 1, BYTES);
    size_t count = cn_python_walk(python, CN_IMAGE_TID, frames, CN_PYTHON_FRAMES_MAX);
    assert(count <= CN_PYTHON_FRAMES_MAX);
    /* Tasks are looked for after the first frames. */
    (void)cn_language_python.describe(python, &table);
    count = cn_python_walk(python, CN_IMAGE_TID, frames, CN_PYTHON_FRAMES_MAX);
    assert(count <= CN_PYTHON_FRAMES_MAX);
    size_t merged = cn_python_merge(python, frames, count, chain, 4, ROOM, false, false);
    assert(merged >= 4 && merged <= ROOM);
    /* Copies that were made at a sample, of anything. */
    cn_memory_begin_copies(memory, 1, bytes);
    for (size_t i = 0; i < count; i++)
        cn_language_python.learn(python, frames[i].code);
    cn_python_close(python);
    cn_stored_names_done(&names);
    free(memory);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    for (uint16_t version = 0x309; version <= 0x30f; version++) {
        struct cn_text image = cn_image_python(version);

        emit((const uint8_t *)image.chars, image.len);
        cn_text_done(&image);
    }
}
