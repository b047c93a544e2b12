#include "sampler/languages/languages.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "sampler/languages/runtimes.h"

static const struct cn_language_runtime *const runtimes[] = {
    &cn_language_go,
    &cn_language_java,
    &cn_language_python,
    &cn_language_javascript,
    &cn_language_perl,
    &cn_language_php,
    &cn_language_ruby,
    &cn_language_pcre,
    &cn_language_erlang,
    &cn_language_unsupported,
    NULL,
};

/* A run-time of a process. */
struct language {
    const struct cn_language_runtime *runtime;
    void *state;
    struct cn_language_mapping mapping;
    char *path; /* of the mapping */
};

struct cn_languages {
    struct cn_memory *memory;
    struct cn_stored_names *names;
    struct language *list;
    size_t count, capacity;
};

static struct cn_languages *languages_new(struct cn_memory *memory,
                                          struct cn_stored_names *names)
{
    struct cn_languages *languages = cn_alloc(1, sizeof(*languages));

    languages->memory = memory;
    languages->names = names;
    return languages;
}

static void add(struct cn_languages **languages,
                const struct cn_language_runtime *runtime,
                const struct cn_language_mapping *mapping, struct cn_memory *memory,
                struct cn_stored_names *names)
{
    void *state = runtime->open(memory, mapping, names);

    if (!state)
        return;
    if (!*languages)
        *languages = languages_new(memory, names);
    struct language language = {runtime, state, *mapping, cn_strdup(mapping->path)};
    language.mapping.path = language.path;
    CN_PUSH((*languages)->list, (*languages)->count, (*languages)->capacity, language);
}

bool cn_languages_is_interpreter(const char *path)
{
    static const struct cn_language_runtime *const interpreters[] = {
        &cn_language_python, &cn_language_ruby, &cn_language_php, &cn_language_perl};

    for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++)
        if (interpreters[i]->is_runtime(path))
            return true;
    return false;
}

void cn_languages_map(struct cn_languages **languages,
                      const struct cn_language_mapping *mapping, struct cn_memory *memory,
                      struct cn_stored_names *names)
{
    for (size_t i = 0; runtimes[i]; i++) {
        bool is_known = false;

        if (!runtimes[i]->is_runtime(mapping->path))
            continue;
        /* A file may have several mappings with code, and they may be reported twice. */
        for (size_t k = 0; *languages && k < (*languages)->count; k++)
            is_known |= (*languages)->list[k].runtime == runtimes[i];
        if (!is_known)
            add(languages, runtimes[i], mapping, memory, names);
    }
}

struct cn_languages *cn_languages_copy(const struct cn_languages *languages)
{
    if (!languages)
        return NULL;
    struct cn_languages *copy = NULL;
    for (size_t i = 0; i < languages->count; i++)
        add(&copy, languages->list[i].runtime, &languages->list[i].mapping,
            languages->memory, languages->names);
    return copy;
}

void cn_languages_free(struct cn_languages *languages)
{
    if (!languages)
        return;
    for (size_t i = 0; i < languages->count; i++) {
        languages->list[i].runtime->close(languages->list[i].state);
        free(languages->list[i].path);
    }
    free(languages->list);
    free(languages);
}

bool cn_languages_describe(const struct cn_languages *languages,
                           struct cn_frame_table *out, bool *has_table)
{
    bool is_enough = true, has_frames = false;

    *has_table = false;
    for (size_t i = 0; i < languages->count; i++) {
        const struct language *language = &languages->list[i];
        enum cn_language_table table = CN_LANGUAGE_LATER;

        if (language->runtime->has_code_only)
            continue;
        if (language->runtime->describe && !has_frames)
            table = language->runtime->describe(language->state, out);
        has_frames |= table == CN_LANGUAGE_TABLE;
        *has_table |= has_frames || table == CN_LANGUAGE_TABLE_BESIDE_COPIES;
        is_enough &= table == CN_LANGUAGE_TABLE || table == CN_LANGUAGE_NO_TABLE;
    }
    return is_enough;
}

void cn_languages_learn(struct cn_languages *languages, uint64_t object)
{
    for (size_t i = 0; i < languages->count; i++)
        if (languages->list[i].runtime->learn)
            languages->list[i].runtime->learn(languages->list[i].state, object);
}

bool cn_languages_is_stale(const struct cn_languages *languages)
{
    for (size_t i = 0; i < languages->count; i++)
        if (languages->list[i].runtime->is_stale &&
            languages->list[i].runtime->is_stale(languages->list[i].state))
            return true;
    return false;
}

void cn_languages_hint(const struct cn_languages *languages, struct cn_names *hints)
{
    for (size_t i = 0; languages && i < languages->count; i++) {
        const struct language *language = &languages->list[i];
        char *hint =
            language->runtime->hint ? language->runtime->hint(language->state) : NULL;

        if (hint)
            (void)cn_names_add(hints, hint);
        free(hint);
    }
}

bool cn_languages_undo(void *arg, struct cn_unwind_step *step)
{
    struct cn_languages *languages = arg;

    for (size_t i = 0; i < languages->count; i++)
        if (languages->list[i].runtime->undo &&
            languages->list[i].runtime->undo(languages->list[i].state, step))
            return true;
    return false;
}

size_t cn_languages_finish(struct cn_languages *languages,
                           const struct cn_language_sample *sample, uint64_t *chain,
                           size_t count, size_t most)
{
    for (size_t i = 0; i < languages->count; i++)
        if (languages->list[i].runtime->finish)
            count = languages->list[i].runtime->finish(languages->list[i].state, sample,
                                                       chain, count, most);
    return count;
}

bool cn_language_stack(const struct cn_unwind_step *step, uint64_t address, uint64_t *out)
{
    struct cn_bytes word;

    if (address < step->stack_begin ||
        !cn_bytes_slice(step->stack, address - step->stack_begin, sizeof(*out), &word))
        return false;
    *out = cn_u64_get(word.ptr);
    return true;
}
