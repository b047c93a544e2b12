/* Scripts of users in Python or Lua, with the callbacks of uftrace: uftrace_begin(ctx),
 * uftrace_entry(ctx), uftrace_exit(ctx), uftrace_event(ctx), uftrace_end().
 *
 *     cn_script_open("count.py", words, count, &script, err)
 *     cn_script_call(script, CN_SCRIPT_ENTRY, fields, count, err)  ...
 *     cn_script_close(script);
 *
 * The interpreter is a library that cn_script_open() loads; it stays loaded. The file name
 * decides: ".py" is Python 3, ".lua" is Lua 5.1 (LuaJIT). A script that fails, whatever
 * it does, makes the call fail with "FILE:LINE: ..."; a script that has failed is only
 * closed.
 * Threads: one thread at a time, and one Python script in a process.
 */
#ifndef CN_SCRIPT_SCRIPT_H
#define CN_SCRIPT_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_text;

enum cn_script_hook {
    CN_SCRIPT_BEGIN,
    CN_SCRIPT_ENTRY,
    CN_SCRIPT_EXIT,
    CN_SCRIPT_EVENT,
    CN_SCRIPT_END, /* without a context */
    CN_SCRIPT_HOOKS,
};

enum cn_script_kind {
    CN_SCRIPT_BOOL,
    CN_SCRIPT_SIGNED,
    CN_SCRIPT_UNSIGNED,
    CN_SCRIPT_FLOAT,
    CN_SCRIPT_TEXT, /* bytes that are not UTF-8 appear as \xHH in Python */
    CN_SCRIPT_LIST, /* of values that are not lists: a tuple in Python */
};

/* A value for the script; texts and lists are borrowed during a call. */
struct cn_script_value {
    enum cn_script_kind kind;
    union {
        bool is_true;
        int64_t number;
        uint64_t natural;
        double real;
        struct {
            const char *chars;
            size_t len;
        } text;
        struct {
            const struct cn_script_value *values;
            size_t count;
        } list;
    };
};

/* One entry of a context: ctx["name"]. */
struct cn_script_field {
    const char *key;
    struct cn_script_value value;
};

struct cn_script_value cn_script_text(const char *str);

struct cn_script;

/* Load the interpreter and run the file, which defines the callbacks. `words` are in
 * sys.argv (in Lua: arg) after the file's name. */
CN_CHECK bool cn_script_open(const char *path, const char *const *words,
                             size_t word_count, struct cn_script **out,
                             struct cn_error *err);
void cn_script_close(struct cn_script *script); /* NULL is fine */

/* True if the script defines the callback. */
bool cn_script_has(const struct cn_script *script, enum cn_script_hook hook);

/* Call it; does nothing if it is not defined, or after the script called exit(0).
 * CN_SCRIPT_END also writes what the script printed. */
CN_CHECK bool cn_script_call(struct cn_script *script, enum cn_script_hook hook,
                             const struct cn_script_field *fields, size_t count,
                             struct cn_error *err);

/* The patterns of UFTRACE_FUNCS, NULL if it is not defined. Borrowed. */
const char *const *cn_script_patterns(const struct cn_script *script, size_t *count);

/* The words after "uftrace-option:" in comments of the file, for recording; release them
 * with cn_script_options_done(). */
struct cn_script_options {
    char **words;
    size_t count, capacity;
};
CN_CHECK bool cn_script_options_read(struct cn_script_options *options, const char *path,
                                     struct cn_error *err);
void cn_script_options_done(struct cn_script_options *options);

/* Append "python3 " and "luajit " where their libraries can be loaded. */
void cn_script_features_print(struct cn_text *out);

#endif
