#include "store/write/translate.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

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

/* A text gets the kind of its use here, whatever its kind in the other dictionary. */
static uint32_t text_of(struct cn_translation *translation, uint32_t word,
                        enum cn_word_kind kind)
{
    enum cn_word_kind is = cn_word_kind(translation->from, word);

    if (word == 0 || is == CN_WORD_LOST)
        return 0;
    if (is == kind)
        return word_of(translation, word);
    return cn_words_add(translation->to, kind, cn_word_bytes(translation->from, word));
}

static void copy_arrays(struct cn_trace *to, const struct cn_trace *from)
{
    struct cn_trace old = *to;

    *to = *from;
    to->nodes = cn_realloc(old.nodes, from->node_count, sizeof(*to->nodes));
    to->attributes =
        cn_realloc(old.attributes, from->attribute_count, sizeof(*to->attributes));
    to->values = cn_realloc(old.values, from->value_count, sizeof(*to->values));
    to->spans = cn_realloc(old.spans, from->span_count, sizeof(*to->spans));
    if (from->node_count)
        memcpy(to->nodes, from->nodes, from->node_count * sizeof(*to->nodes));
    if (from->attribute_count)
        memcpy(to->attributes, from->attributes,
               from->attribute_count * sizeof(*to->attributes));
    if (from->value_count)
        memcpy(to->values, from->values, from->value_count * sizeof(*to->values));
    if (from->span_count)
        memcpy(to->spans, from->spans, from->span_count * sizeof(*to->spans));
    to->node_capacity = from->node_count;
    to->attribute_capacity = from->attribute_count;
    to->value_capacity = from->value_count;
    to->span_capacity = from->span_count;
}

static void translate_value(struct cn_translation *translation,
                            struct cn_trace_value *value)
{
    if (value->kind == CN_VALUE_WORD)
        value->word = text_of(translation, value->word, CN_WORD_TEXT);
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
    copy_arrays(out, trace);
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
    for (uint32_t i = 0; i < out->span_count; i++) {
        out->spans[i].type = text_of(translation, out->spans[i].type, CN_WORD_KEYWORD);
        out->spans[i].service =
            text_of(translation, out->spans[i].service, CN_WORD_KEYWORD);
    }
    translation->to_born_ns = to->born_ns;
    return out;
}
