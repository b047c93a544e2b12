/* What an interpreter does for script.c: run a file, call what it defines.
 * Threads: one thread at a time.
 */
#ifndef CN_SCRIPT_ENGINE_H
#define CN_SCRIPT_ENGINE_H

#include "base/arena.h"
#include "base/host/library.h"
#include "script/script.h"

struct cn_script {
    const struct cn_script_engine *engine;
    const char *path;
    void *state; /* of the engine */
    bool has[CN_SCRIPT_HOOKS];
    bool is_ended; /* the script called exit(0) */
    bool has_patterns;
    const char **patterns;
    size_t pattern_count, pattern_capacity;
    struct cn_arena arena; /* of the path and the patterns */
};

struct cn_script_engine {
    const char *suffix;
    const char *feature;                /* as uftrace --version lists it */
    bool (*load)(struct cn_error *err); /* the library */
    /* Load the library, run the file, set `has` and add the patterns. */
    bool (*open)(struct cn_script *script, const char *const *words, size_t word_count,
                 struct cn_error *err);
    bool (*call)(struct cn_script *script, enum cn_script_hook hook,
                 const struct cn_script_field *fields, size_t count,
                 struct cn_error *err);
    void (*close)(struct cn_script *script); /* also after a failed open */
};

extern const struct cn_script_engine cn_script_python, cn_script_lua;

extern const char *const cn_script_hook_names[CN_SCRIPT_HOOKS];

enum { CN_SCRIPT_PATTERNS_MAX = 10000 };
void cn_script_add_pattern(struct cn_script *script, const char *chars, size_t len);

/* Load the library that the environment variable names, or the first of `names` that
 * exists, and look up the symbols. `package` is what to install if there is none. */
CN_CHECK bool cn_script_load(const char *variable, const char *const *names,
                             const char *package, const struct cn_library_symbol *symbols,
                             size_t count, struct cn_error *err);

#endif
