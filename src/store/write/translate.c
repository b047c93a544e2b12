#include "store/write/translate.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/traces/copy.h"

void cn_translation_forget(struct cn_translation *translation)
{
    free(translation->known);
    translation->known = NULL;
    translation->known_count = 0;
    translation->from = NULL;
    translation->to_born_ns = 0;
}

void cn_translation_done(struct cn_translation *translation)
{
    cn_translation_forget(translation);
    cn_trace_done(&translation->trace);
}

/* A word that is not in the dictionary is lost. */
static uint32_t word_of(struct cn_translation *translation, uint32_t word)
{
    uint32_t *known;

    if (word == 0 || word > translation->from->count)
        return 0;
    known = &translation->known[word];
    if (*known == 0)
        *known = cn_words_copy(translation->to, translation->from, word);
    return *known;
}

static uint32_t new_text_of(struct cn_translation *translation, uint32_t word,
                            enum cn_word_kind kind)
{
    enum cn_word_kind is = cn_word_kind(translation->from, word);

    if (word == 0 || is == CN_WORD_LOST)
        return 0;
    if (is == kind)
        return word_of(translation, word);
    return cn_words_add(translation->to, kind, cn_word_bytes(translation->from, word));
}

/* A text gets the kind of its use here, whatever its kind in the other dictionary. Most are known. */
static inline uint32_t text_of(struct cn_translation *translation, uint32_t word,
                               enum cn_word_kind kind)
{
    bool is_known = word < translation->known_count && translation->known[word] != 0 &&
                    cn_word_kind(translation->from, word) == kind;

    return is_known ? translation->known[word] : new_text_of(translation, word, kind);
}

static void translate_value(struct cn_translation *translation,
                            struct cn_trace_value *value)
{
    if (value->kind != CN_VALUE_WORD)
        return;
    value->word = text_of(translation, value->word,
                          cn_word_kind(translation->from, value->word) == CN_WORD_BYTES
                              ? CN_WORD_BYTES
                              : CN_WORD_TEXT);
}

static void translate_span(struct cn_translation *translation, struct cn_trace_span *span)
{
    span->type = text_of(translation, span->type, CN_WORD_KEYWORD);
    span->service = text_of(translation, span->service, CN_WORD_KEYWORD);
    span->trace_state = text_of(translation, span->trace_state, CN_WORD_TEXT);
    span->status_message = text_of(translation, span->status_message, CN_WORD_TEXT);
    span->resource = word_of(translation, span->resource);
    span->scope = word_of(translation, span->scope);
}

const struct cn_trace *cn_translate(struct cn_translation *translation,
                                    const struct cn_trace *trace, struct cn_words *to)
{
    struct cn_trace *out = &translation->trace;

    if (translation->from != trace->words || translation->to != to ||
        translation->from_born_ns != trace->words->born_ns ||
        (translation->to_born_ns != 0 && translation->to_born_ns != to->born_ns))
        cn_translation_forget(translation);
    translation->from = trace->words;
    translation->to = to;
    translation->from_born_ns = trace->words->born_ns;
    size_t old = translation->known_count;
    CN_GROW_TO(translation->known, (size_t)trace->words->count + 1,
               translation->known_count);
    memset(translation->known + old, 0,
           (translation->known_count - old) * sizeof(*translation->known));
    cn_trace_copy(out, trace);
    out->words = to;
    for (uint32_t i = 0; i < out->node_count; i++) {
        out->nodes[i].method = word_of(translation, out->nodes[i].method);
        out->nodes[i].exception = word_of(translation, out->nodes[i].exception);
    }
    for (uint32_t i = 0; i < out->attribute_count; i++) {
        out->attributes[i].key =
            text_of(translation, out->attributes[i].key, CN_WORD_KEYWORD);
        translate_value(translation, &out->attributes[i].value);
    }
    for (uint32_t i = 0; i < out->value_count; i++)
        translate_value(translation, &out->values[i]);
    for (uint32_t i = 0; i < out->span_count; i++)
        translate_span(translation, &out->spans[i]);
    for (uint32_t i = 0; i < out->event_count; i++)
        out->events[i].name = text_of(translation, out->events[i].name, CN_WORD_TEXT);
    for (uint32_t i = 0; i < out->link_count; i++)
        out->links[i].trace_state =
            text_of(translation, out->links[i].trace_state, CN_WORD_TEXT);
    translation->to_born_ns = to->born_ns;
    return out;
}
