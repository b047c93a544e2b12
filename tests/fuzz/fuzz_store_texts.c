/* Any sections with sound checksums as the dictionary of a sealed store and as its index, the first
 * two bytes say how long the former is: every word can be read, and is found if the index is used
 * or not. */

#include <assert.h>

#include "store/index/text_file.h"
#include "support/fuzz.h"
#include "support/fuzz_blocks.h"
#include "support/scratch.h"

enum { LEN_LEN = 2, WORDS_MAX = 50 };

static void count_word(void *arg, uint32_t word)
{
    const struct cn_text_file *file = arg;

    assert(word > 0 && word <= file->words.count);
}

static void look(struct cn_text_file *file)
{
    struct cn_text text = {0};
    struct cn_error err = {0};
    uint64_t windows =
        (file->words.arena_len + CN_TEXT_WINDOW_LEN - 1) / CN_TEXT_WINDOW_LEN;

    (void)!cn_text_file_check_all(file, &err);
    for (uint32_t id = 1; id <= file->words.count && id <= WORDS_MAX; id++) {
        struct cn_bytes word = cn_word_bytes(&file->words, id);

        if (!cn_text_file_check(file, id, &err))
            continue;
        cn_words_print(&file->words, id, &text);
        (void)!cn_text_file_find(file, word, count_word, file, &err);
        for (uint64_t i = 0; i < windows; i++)
            (void)cn_text_file_may_have(file, word, i);
    }
    cn_text_done(&text);
}

static void write_wrapped(const char *name, struct cn_bytes bytes, uint64_t magic)
{
    struct cn_text file = {0};

    cn_fuzz_blocks_wrap(bytes, magic, CN_TEXT_FILE_VERSION, &file);
    cn_scratch_write(name, file.chars, file.len);
    cn_text_done(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes index = {data, len}, head, words;
    struct cn_text_file file = {0};
    struct cn_error err = {0};
    struct cn_scratch *scratch;

    if (!cn_bytes_take(&index, LEN_LEN, &head) ||
        !cn_bytes_take(&index, cn_u16_get(head.ptr), &words))
        return 0;
    scratch = cn_scratch_enter();
    write_wrapped(CN_TEXT_FILE_NAME, words, CN_TEXT_FILE_MAGIC);
    write_wrapped(CN_TEXT_INDEX_NAME, index, CN_TEXT_INDEX_MAGIC);
    if (cn_text_file_open(&file, NULL, ".", &err)) {
        look(&file);
        cn_text_file_close(&file);
    } else {
        assert(err.text[0] != '\0');
    }
    cn_scratch_leave(scratch);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    /* Two words, "abc" and "de"; an index of three slots, which both are in. */
    static const uint8_t words[] = {'a', 'b', 'c', 'd', 'e', 0, 0, 0, 3,
                                    0,   0,   0,   5,   0,   0, 0, 1, 1};
    static const uint8_t slots[] = {1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0};
    enum { HEADER_LEN = cn_block_file_header_size };
    struct cn_text seed = {0};
    uint8_t len[LEN_LEN] = {0};

    cn_text_add(&seed, (const char *)len, sizeof(len));
    cn_text_char(&seed, 3);
    cn_fuzz_blocks_place(&seed, 1, HEADER_LEN, 5);
    cn_fuzz_blocks_place(&seed, 2, HEADER_LEN + 8, 8);
    cn_fuzz_blocks_place(&seed, 3, HEADER_LEN + 16, 2);
    cn_text_add(&seed, (const char *)words, sizeof(words));
    cn_u16_put((uint8_t *)seed.chars, (uint16_t)(seed.len - sizeof(len)));
    cn_text_char(&seed, 2);
    cn_fuzz_blocks_place(&seed, 1, HEADER_LEN, sizeof(slots));
    cn_fuzz_blocks_place(&seed, 2, HEADER_LEN, 0);
    cn_text_add(&seed, (const char *)slots, sizeof(slots));
    emit((const uint8_t *)seed.chars, seed.len);
    cn_text_done(&seed);
}
