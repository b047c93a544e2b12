#include "store/segment/text_log.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/varint.h"
#include "base/files/crc32c.h"
#include "store/segment/log_format.h"

enum { CHECKED_LEN = cn_text_batch_size - sizeof(uint32_t) };

void cn_text_log_header(struct cn_text *text)
{
    struct cn_store_log_header head = {.magic = CN_TEXT_LOG_MAGIC,
                                       .version = CN_STORE_LOG_VERSION};
    uint8_t bytes[cn_store_log_header_size];

    cn_store_log_header_encode(&head, bytes);
    cn_u32_put(bytes + 12, cn_crc32c((struct cn_bytes){bytes, 12}));
    cn_text_add(text, (const char *)bytes, sizeof(bytes));
}

void cn_text_log_gather(const struct cn_words *words, uint32_t first,
                        struct cn_text *plain)
{
    size_t room = words->arena_len - cn_words_end(words, first - 1) +
                  (size_t)(words->count - first + 1) * (1 + CN_VARINT_LEN_MAX);
    uint8_t *begin = (uint8_t *)cn_text_room(plain, room), *at = begin;

    for (uint32_t id = first; id <= words->count; id++) {
        struct cn_bytes word = cn_word_bytes(words, id);

        *at++ = (uint8_t)cn_word_kind(words, id);
        at += cn_varint_put(at, word.len);
        if (word.len)
            memcpy(at, word.ptr, word.len);
        at += word.len;
    }
    cn_text_advance(plain, (size_t)(at - begin));
}

static void finish_batch(uint8_t *batch, struct cn_text_batch *head)
{
    struct cn_bytes stored = {batch + cn_text_batch_size, head->stored_len};

    cn_text_batch_encode(head, batch);
    uint32_t crc = cn_crc32c((struct cn_bytes){batch, CHECKED_LEN});
    cn_u32_put(batch + CHECKED_LEN, cn_crc32c_add(crc, stored));
}

bool cn_text_log_encode(struct cn_bytes plain, uint32_t first, uint32_t count,
                        struct cn_compressor *compressor, struct cn_text *text,
                        struct cn_error *err)
{
    struct cn_text_batch head = {
        .magic = CN_TEXT_BATCH_MAGIC,
        .first_word = first,
        .word_count = count,
    };
    size_t stored_len, room;

    if (plain.len > CN_TEXT_BATCH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "new words have %zu bytes, the limit is %d",
                       plain.len, CN_TEXT_BATCH_MAX);
    room = cn_text_batch_size + plain.len + cn_compressor_bound(compressor, plain.len);
    uint8_t *batch = (uint8_t *)cn_text_room(text, room);
    if (!cn_compress(compressor, plain, batch + cn_text_batch_size, &stored_len, err))
        return false;
    if (stored_len >= plain.len) {
        memcpy(batch + cn_text_batch_size, plain.ptr, plain.len);
        stored_len = plain.len;
    }
    head.plain_len = (uint32_t)plain.len;
    head.stored_len = (uint32_t)stored_len;
    finish_batch(batch, &head);
    cn_text_advance(text, cn_text_batch_size + stored_len);
    return true;
}

static bool is_sound(struct cn_bytes log, uint64_t off, struct cn_text_batch *head,
                     struct cn_bytes *stored)
{
    struct cn_bytes rest;

    if (!cn_bytes_from(log, off, &rest) || !cn_text_batch_decode(rest, head) ||
        head->magic != CN_TEXT_BATCH_MAGIC || head->plain_len > CN_TEXT_BATCH_MAX ||
        head->stored_len > head->plain_len ||
        !cn_bytes_slice(rest, cn_text_batch_size, head->stored_len, stored))
        return false;
    uint32_t crc = cn_crc32c((struct cn_bytes){rest.ptr, CHECKED_LEN});
    return cn_crc32c_add(crc, *stored) == head->checksum && head->first_word != 0 &&
           head->word_count != 0 && head->word_count <= head->plain_len;
}

static bool add_words(struct cn_words *words, struct cn_bytes plain,
                      const struct cn_text_batch *head)
{
    for (uint32_t i = 0; i < head->word_count; i++) {
        struct cn_bytes kind, word;
        uint64_t len;

        if (!cn_bytes_take(&plain, 1, &kind) || !cn_varint_take(&plain, &len) ||
            len > plain.len || !cn_bytes_take(&plain, (size_t)len, &word))
            return false;
        cn_words_append(words, (enum cn_word_kind)kind.ptr[0], word);
    }
    return plain.len == 0;
}

static bool read_batch(struct cn_words *words, const struct cn_text_batch *head,
                       struct cn_bytes stored, struct cn_decompressor *decompressor)
{
    uint32_t before = words->count;
    struct cn_error err;
    uint8_t *plain;
    bool ok;

    if (head->stored_len == head->plain_len)
        ok = add_words(words, stored, head);
    else {
        plain = cn_alloc(head->plain_len, 1);
        ok = cn_decompress(decompressor, CN_COMPRESSION_ZSTD, stored, plain,
                           head->plain_len, &err) &&
             add_words(words, (struct cn_bytes){plain, head->plain_len}, head);
        free(plain);
    }
    if (!ok)
        cn_words_rewind(words, before);
    return ok;
}

static void add_lost(struct cn_words *words, uint32_t until,
                     struct cn_text_log_state *state)
{
    while (words->count < until) {
        cn_words_append(words, CN_WORD_LOST, (struct cn_bytes){0});
        state->lost_count++;
    }
}

/* Where a batch may begin after damage, or the end of the log. */
static uint64_t find_magic(struct cn_bytes log, uint64_t off)
{
    struct cn_bytes rest;
    uint8_t magic[sizeof(uint32_t)];

    cn_u32_put(magic, CN_TEXT_BATCH_MAGIC);
    if (!cn_bytes_from(log, off, &rest) || rest.len == 0)
        return log.len;
    const uint8_t *found = memmem(rest.ptr, rest.len, magic, sizeof(magic));
    return found ? off + (uint64_t)(found - rest.ptr) : log.len;
}

/* A batch that skips more numbers than the log has bytes is damaged. */
static bool is_next(const struct cn_words *words, const struct cn_text_batch *head,
                    struct cn_bytes log)
{
    return head->first_word > words->count && head->first_word - words->count <= log.len;
}

static void read_batches(struct cn_bytes log, struct cn_words *words,
                         struct cn_text_log_state *state,
                         struct cn_decompressor *decompressor)
{
    uint64_t off = cn_store_log_header_size, checked_len = 0, bad_off = 0;
    uint32_t bad_count = 0; /* since the last sound batch */
    struct cn_text_batch head = {0};
    struct cn_bytes stored;

    /* Damaged headers can make long parts of the log be checked again and again: stop when that
     * took more than its length. */
    while (off < log.len && checked_len <= log.len) {
        bool is_good = is_sound(log, off, &head, &stored) && is_next(words, &head, log);

        if (is_good) {
            add_lost(words, head.first_word - 1, state);
            is_good = read_batch(words, &head, stored, decompressor);
        }
        if (is_good) {
            if (bad_count > 0 && state->bad_count == 0)
                state->bad_off = bad_off;
            state->bad_count += bad_count;
            bad_count = 0;
            off += cn_text_batch_size + head.stored_len;
            state->sound_len = off;
            continue;
        }
        checked_len += cn_text_batch_size + head.stored_len;
        if (bad_count++ == 0)
            bad_off = off;
        off = find_magic(log, off + 1);
    }
}

bool cn_text_log_read(struct cn_bytes log, struct cn_words *words,
                      struct cn_text_log_state *state, struct cn_error *err)
{
    struct cn_store_log_header head;
    bool has_header = cn_store_log_header_decode(log, &head) &&
                      head.magic == CN_TEXT_LOG_MAGIC &&
                      cn_crc32c((struct cn_bytes){log.ptr, 12}) == head.checksum;

    if (has_header && head.version != CN_STORE_LOG_VERSION)
        return cn_fail(err, CN_ERR_VERSION,
                       "string log version %u is not supported, only %d", head.version,
                       CN_STORE_LOG_VERSION);
    *state = (struct cn_text_log_state){.sound_len = cn_store_log_header_size,
                                        .is_header_bad = !has_header};
    struct cn_decompressor *decompressor = cn_decompressor_new();
    read_batches(log, words, state, decompressor);
    cn_decompressor_free(decompressor);
    return has_header || words->count > 0 ||
           cn_fail(err, CN_ERR_FORMAT,
                   "not a string log: it does not begin with \"CNTL\"");
}
