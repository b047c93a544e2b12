#include "store/write/translate.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/traces/copy.h"

/* Words of all dictionaries that are cached; a dictionary with more is alone. */
enum { KNOWN_MAX = 1 << 20 };

void cn_translation_forget(struct cn_translation *translation)
{
    for (size_t i = 0; i < translation->source_count; i++)
        free(translation->sources[i].known);
    translation->source_count = translation->next_source = 0;
    translation->known_count = 0;
    translation->to_born_ns = 0;
}

void cn_translation_done(struct cn_translation *translation)
{
    cn_translation_forget(translation);
    cn_trace_done(&translation->trace);
}

/* A word that is not in the dictionary is lost. */
static uint32_t word_of(struct cn_translated *source, struct cn_words *to, uint32_t word)
{
    uint32_t *known;

    if (word == 0 || word > source->from->count)
        return 0;
    known = &source->known[word];
    if (*known == 0)
        *known = cn_words_copy(to, source->from, word);
    return *known;
}

static uint32_t new_text_of(struct cn_translated *source, struct cn_words *to,
                            uint32_t word, enum cn_word_kind kind)
{
    enum cn_word_kind is = cn_word_kind(source->from, word);

    if (word == 0 || is == CN_WORD_LOST)
        return 0;
    if (is == kind)
        return word_of(source, to, word);
    return cn_words_add(to, kind, cn_word_bytes(source->from, word));
}

/* A text gets the kind of its use here, whatever its kind in the other dictionary. Most are known. */
static inline uint32_t text_of(struct cn_translated *source, struct cn_words *to,
                               uint32_t word, enum cn_word_kind kind)
{
    bool is_known = word < source->known_count && source->known[word] != 0 &&
                    cn_word_kind(source->from, word) == kind;

    return is_known ? source->known[word] : new_text_of(source, to, word, kind);
}

static void translate_value(struct cn_translated *source, struct cn_words *to,
                            struct cn_trace_value *value)
{
    if (value->kind != CN_VALUE_WORD)
        return;
    value->word =
        text_of(source, to, value->word,
                cn_word_kind(source->from, value->word) == CN_WORD_BYTES ? CN_WORD_BYTES
                                                                         : CN_WORD_TEXT);
}

static void translate_span(struct cn_translated *source, struct cn_words *to,
                           struct cn_trace_span *span)
{
    span->type = text_of(source, to, span->type, CN_WORD_KEYWORD);
    span->service = text_of(source, to, span->service, CN_WORD_KEYWORD);
    span->trace_state = text_of(source, to, span->trace_state, CN_WORD_TEXT);
    span->status_message = text_of(source, to, span->status_message, CN_WORD_TEXT);
    span->resource = word_of(source, to, span->resource);
    span->scope = word_of(source, to, span->scope);
}

/* The place of a dictionary, which may be that of another one. */
static struct cn_translated *find_source(struct cn_translation *translation,
                                         const struct cn_words *from)
{
    for (size_t i = 0; i < translation->source_count; i++)
        if (translation->sources[i].from == from)
            return &translation->sources[i];
    if (translation->source_count < CN_TRANSLATED_MAX) {
        translation->sources[translation->source_count] = (struct cn_translated){0};
        return &translation->sources[translation->source_count++];
    }
    translation->next_source = (translation->next_source + 1) % CN_TRANSLATED_MAX;
    return &translation->sources[translation->next_source];
}

/* What is known of a dictionary, with room for all of its words. */
static struct cn_translated *source_of(struct cn_translation *translation,
                                       const struct cn_words *from)
{
    struct cn_translated *source = find_source(translation, from);
    size_t needed = (size_t)from->count + 1;
    size_t others = translation->known_count - source->known_count;

    if (others > 0 && others + needed > KNOWN_MAX) {
        cn_translation_forget(translation);
        source = find_source(translation, from);
    }
    bool is_same = source->from == from && source->from_born_ns == from->born_ns;
    size_t old = source->known_count;
    CN_GROW_TO(source->known, needed, source->known_count);
    translation->known_count += source->known_count - old;
    old = is_same ? old : 0;
    memset(source->known + old, 0, (source->known_count - old) * sizeof(*source->known));
    source->from = from;
    source->from_born_ns = from->born_ns;
    return source;
}

const struct cn_trace *cn_translate(struct cn_translation *translation,
                                    const struct cn_trace *trace, struct cn_words *to)
{
    struct cn_trace *out = &translation->trace;

    if (translation->to != to ||
        (translation->to_born_ns != 0 && translation->to_born_ns != to->born_ns))
        cn_translation_forget(translation);
    translation->to = to;
    struct cn_translated *source = source_of(translation, trace->words);
    cn_trace_copy(out, trace);
    out->words = to;
    for (uint32_t i = 0; i < out->node_count; i++) {
        out->nodes[i].method = word_of(source, to, out->nodes[i].method);
        out->nodes[i].exception = word_of(source, to, out->nodes[i].exception);
    }
    for (uint32_t i = 0; i < out->attribute_count; i++) {
        out->attributes[i].key =
            text_of(source, to, out->attributes[i].key, CN_WORD_KEYWORD);
        translate_value(source, to, &out->attributes[i].value);
    }
    for (uint32_t i = 0; i < out->value_count; i++)
        translate_value(source, to, &out->values[i]);
    for (uint32_t i = 0; i < out->span_count; i++)
        translate_span(source, to, &out->spans[i]);
    for (uint32_t i = 0; i < out->event_count; i++)
        out->events[i].name = text_of(source, to, out->events[i].name, CN_WORD_TEXT);
    for (uint32_t i = 0; i < out->link_count; i++)
        out->links[i].trace_state =
            text_of(source, to, out->links[i].trace_state, CN_WORD_TEXT);
    translation->to_born_ns = to->born_ns;
    return out;
}
