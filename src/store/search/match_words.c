#include "store/search/match_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "store/search/query.h"
#include "store/segment/index.h"

enum { NO = 1, YES = 2 };

void cn_word_match_init(struct cn_word_match *match, const struct cn_store_index *index,
                        const struct cn_query_term *term, enum cn_word_aspect aspect)
{
    *match = (struct cn_word_match){
        .index = index,
        .term = term,
        .aspect = aspect,
        .word_count = cn_store_index_word_count(index),
    };
    match->known = cn_alloc((size_t)match->word_count + 1, 1);
}

void cn_word_match_done(struct cn_word_match *match)
{
    free(match->known);
    cn_text_done(&match->text);
    *match = (struct cn_word_match){0};
}

static bool compare(struct cn_word_match *match, uint32_t word, bool *is_match,
                    struct cn_error *err)
{
    const struct cn_store_index *index = match->index;
    struct cn_bytes text;

    if (match->aspect == CN_WORD_AS_TEXT) {
        if (!cn_store_index_text(index, word, &text, err))
            return false;
        *is_match = cn_query_text_matches(match->term, text);
        return true;
    }
    if (match->aspect == CN_WORD_AS_CLASS) {
        const struct cn_words *words = cn_segment_words(index->segment);

        /* The parts of a method are in the bytes of its word. */
        if (!cn_store_index_text(index, word, &text, err))
            return false;
        if (cn_word_kind(words, word) == CN_WORD_METHOD)
            word = cn_word_part(words, word, 0);
    }
    cn_text_clear(&match->text);
    if (!cn_store_index_print(index, word, &match->text, err))
        return false;
    text = (struct cn_bytes){(const uint8_t *)cn_text_str(&match->text), match->text.len};
    *is_match = match->aspect == CN_WORD_AS_METHOD_TEXT
                    ? cn_query_text_matches(match->term, text)
                    : cn_query_name_matches(match->term, text);
    return true;
}

bool cn_word_match_new(struct cn_word_match *match, uint32_t word, bool *is_match,
                       struct cn_error *err)
{
    /* The word was lost. */
    if (word > match->word_count) {
        *is_match = false;
        return true;
    }
    if (!compare(match, word, is_match, err))
        return false;
    match->known[word] = *is_match ? YES : NO;
    return true;
}

static bool ends_before(const void *words, uint64_t word, uint64_t off)
{
    return cn_words_end(words, (uint32_t)word) <= off;
}

/* The word that the byte at `off` belongs to, searched from `word` on. */
static uint32_t word_at(const struct cn_words *words, uint64_t off, uint32_t word)
{
    uint32_t step = 1;

    /* Matches are often close to each other: gallop, then bisect. */
    while (words->count - word > step && cn_words_end(words, word + step) <= off) {
        word += step;
        step *= 2;
    }
    return (uint32_t)cn_search(word,
                               words->count - word > step ? word + step : words->count,
                               ends_before, words, off);
}

/* Set `off` to the next occurrence of the text; skip windows that cannot contain it. */
static bool find_next(const struct cn_word_match *match, struct cn_bytes arena,
                      uint64_t *off, struct cn_error *err)
{
    const struct cn_text_file *file = cn_segment_text(match->index->segment);
    struct cn_bytes needle = match->term->text, rest, part;

    while (*off < arena.len) {
        uint64_t window = *off / CN_TEXT_WINDOW_LEN;
        uint64_t end = file ? (window + 1) * CN_TEXT_WINDOW_LEN : arena.len, len;

        if (file && !cn_text_file_may_have(file, needle, window)) {
            *off = end;
            continue;
        }
        if (!cn_bytes_from(arena, *off, &rest))
            return true;
        /* A match may end in the next window. */
        len = end - *off + needle.len - 1;
        part = (struct cn_bytes){rest.ptr, len < rest.len ? (size_t)len : rest.len};
        if (file && !cn_block_file_check(&file->data, part, err))
            return false;
        const uint8_t *at = memmem(part.ptr, part.len, needle.ptr, needle.len);
        if (at) {
            *off += (uint64_t)(at - part.ptr);
            return true;
        }
        *off = end;
    }
    return true;
}

static bool scan(struct cn_word_match *match, struct cn_error *err)
{
    const struct cn_words *words = cn_segment_words(match->index->segment);
    struct cn_bytes arena = cn_words_arena(words).bytes;
    uint32_t word = 1;

    memset(match->known, NO, (size_t)words->count + 1);
    for (uint64_t off = 0;;) {
        if (!find_next(match, arena, &off, err))
            return false;
        if (off >= arena.len)
            return true;
        word = word_at(words, off, word);
        if (off + match->term->text.len <= cn_words_end(words, word) &&
            cn_store_index_is_text(match->index, word)) {
            match->known[word] = YES;
            off = cn_words_end(words, word);
        } else {
            off++;
        }
    }
}

bool cn_word_match_all(struct cn_word_match *match, uint32_t *count, struct cn_error *err)
{
    uint32_t word_count = match->word_count, first = 0;
    bool is_match;

    if (match->term->op == CN_QUERY_CONTAINS && match->term->text.len > 0) {
        if (!scan(match, err))
            return false;
        first = cn_segment_words(match->index->segment)->count + 1;
    }
    for (uint32_t word = first; word <= word_count; word++) {
        if (!cn_store_index_is_text(match->index, word))
            match->known[word] = NO;
        else if (!cn_word_match(match, word, &is_match, err))
            return false;
    }
    *count = 0;
    for (uint32_t word = 0; word <= word_count; word++)
        *count += match->known[word] == YES;
    return true;
}
