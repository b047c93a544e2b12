#include "script/script.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "script/engine.h"

static const struct cn_script_engine *const engines[] = {&cn_script_python,
                                                         &cn_script_lua};

const char *const cn_script_hook_names[CN_SCRIPT_HOOKS] = {
    "uftrace_begin", "uftrace_entry", "uftrace_exit", "uftrace_event", "uftrace_end"};

struct cn_script_value cn_script_text(const char *str)
{
    return (struct cn_script_value){.kind = CN_SCRIPT_TEXT, .text = {str, strlen(str)}};
}

bool cn_script_load(const char *variable, const char *const *names, const char *package,
                    const struct cn_library_symbol *symbols, size_t count,
                    struct cn_error *err)
{
    const char *chosen = getenv(variable);
    const char *const only[] = {chosen, NULL};
    void *library = NULL;

    /* RTLD_GLOBAL: modules of Python look up its functions globally. */
    for (const char *const *name = chosen ? only : names; *name && !library; name++)
        library = dlopen(*name, RTLD_NOW | RTLD_GLOBAL);
    if (!library && chosen)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: %s", variable, dlerror());
    if (!library)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "no %s in this system; install the package %s", names[0], package);
    const char *missing = cn_library_find(library, symbols, count);
    return !missing ||
           cn_fail(err, CN_ERR_NOT_FOUND, "%s has no %s; set %s to another one",
                   chosen ? chosen : names[0], missing, variable);
}

void cn_script_features_print(struct cn_text *out)
{
    for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
        struct cn_error ignored = {0};

        if (engines[i]->load(&ignored))
            cn_text_printf(out, "%s ", engines[i]->feature);
    }
}

void cn_script_add_pattern(struct cn_script *script, const char *chars, size_t len)
{
    CN_PUSH(script->patterns, script->pattern_count, script->pattern_capacity,
            cn_arena_copy(&script->arena, chars, len));
}

bool cn_script_open(const char *path, const char *const *words, size_t word_count,
                    struct cn_script **out, struct cn_error *err)
{
    const struct cn_script_engine *engine = NULL;
    struct cn_file file = {0};

    for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
        if (cn_ends_with(path, engines[i]->suffix))
            engine = engines[i];
    if (!engine)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s: unknown kind of script; expected .py (Python) or .lua (Lua)",
                       path);
    if (!cn_file_open(&file, path, err)) /* before an interpreter is loaded */
        return false;
    cn_file_close(&file);
    struct cn_script *script = cn_alloc(1, sizeof(*script));
    script->engine = engine;
    script->path = cn_arena_strdup(&script->arena, path);
    if (!engine->open(script, words, word_count, err)) {
        cn_script_close(script);
        return false;
    }
    *out = script;
    return true;
}

void cn_script_close(struct cn_script *script)
{
    if (!script)
        return;
    script->engine->close(script);
    free(script->patterns);
    cn_arena_done(&script->arena);
    free(script);
}

bool cn_script_has(const struct cn_script *script, enum cn_script_hook hook)
{
    return script->has[hook] && !script->is_ended;
}

bool cn_script_call(struct cn_script *script, enum cn_script_hook hook,
                    const struct cn_script_field *fields, size_t count,
                    struct cn_error *err)
{
    if (!cn_script_has(script, hook) && hook != CN_SCRIPT_END)
        return true;
    return script->engine->call(script, hook, fields, count, err);
}

const char *const *cn_script_patterns(const struct cn_script *script, size_t *count)
{
    static const char *const none[] = {NULL};

    *count = script->pattern_count;
    if (!script->has_patterns)
        return NULL;
    return script->patterns ? script->patterns : none;
}
