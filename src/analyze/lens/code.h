/* Whose code a function is, and its language.
 *
 * Both are derived here and nowhere else, from what every format has: the name of the function, the
 * path of its module and the path of its source file. Functions are of the program that was run
 * unless their module or their source is below a folder of the system, or belongs to a package, an
 * interpreter or the kernel. Patterns replace that rule: only what they match is the user's.
 *
 *     cn_codes_build(&codes, db, NULL, err)
 *     code = cn_codes_of(&codes, &context);
 *     cn_codes_done(&codes);
 *
 * What a call path is for follows from its functions, the outermost first: once one of the user is on it,
 * the program; else what a run-time does for itself, such as collecting garbage (code_work.c).
 *
 * Names of languages, kinds and reasons are constants; those of libraries live as long as the table.
 * Threads: immutable after it was built.
 */
#ifndef CN_ANALYZE_LENS_CODE_H
#define CN_ANALYZE_LENS_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "model/contexts/context.h"

struct cn_database;
struct cn_name_filter;

enum cn_code_language {
    CN_CODE_UNKNOWN,
    CN_CODE_C,
    CN_CODE_CPP,
    CN_CODE_RUST,
    CN_CODE_GO,
    CN_CODE_FORTRAN,
    CN_CODE_ASSEMBLY,
    CN_CODE_PYTHON,
    CN_CODE_JAVA,
    CN_CODE_JAVASCRIPT,
    CN_CODE_RUBY,
    CN_CODE_PHP,
    CN_CODE_PERL,
    CN_CODE_ERLANG,
    CN_CODE_KERNEL,
};
enum { CN_CODE_LANGUAGES = CN_CODE_KERNEL + 1 };

enum cn_code_kind {
    CN_CODE_MINE,
    CN_CODE_LIBRARY,
    CN_CODE_RUNTIME, /* interpreters, virtual machines, the run-time of Go */
    CN_CODE_OF_KERNEL,
    CN_CODE_STARTUP, /* what calls main() and the functions of threads */
};
enum { CN_CODE_KINDS = CN_CODE_STARTUP + 1 };

/* What a call path is for. Those from CN_WORK_START on are not changed by functions below, except by one
 * of the user; of those before them the last one counts. */
enum cn_code_work {
    CN_WORK_UNKNOWN,
    CN_WORK_KERNEL,
    CN_WORK_LIBRARY,
    CN_WORK_RUNTIME, /* none of the next three */
    CN_WORK_START,   /* of programs and run-times, and their end */
    CN_WORK_COMPILER,
    CN_WORK_COLLECTOR,
    CN_WORK_PROGRAM,
};
enum { CN_CODE_WORKS = CN_WORK_PROGRAM + 1 };

/* "program", "garbage collection". */
const char *cn_code_work_name(unsigned work);

/* Of a path: that of the path without its last function, and what this function says. */
uint8_t cn_code_work_below(uint8_t above, uint8_t work);

/* "c++", "python"; "unknown". */
const char *cn_code_language_name(unsigned language);

/* "mine", "library", "runtime", "kernel", "startup". */
const char *cn_code_kind_name(unsigned kind);

/* The kind of a name; CN_CODE_KINDS if there is none. The same for languages. */
unsigned cn_code_kind_find(const char *name);
unsigned cn_code_language_find(const char *name);

struct cn_code_class {
    uint8_t language; /* enum cn_code_language */
    uint8_t kind;     /* enum cn_code_kind */
    uint8_t reason;   /* for cn_code_reason() */
    uint8_t work;     /* enum cn_code_work: what the function says of paths through it */
    uint32_t library; /* index into the names of libraries */
};

/* Why it is of its kind: "module below /usr". */
const char *cn_code_reason(const struct cn_code_class *code);

struct cn_codes {
    struct cn_code_class *of_function;
    struct cn_code_class *of_module; /* functions that are not known */
    size_t function_count, module_count;
    /* What to call consecutive functions of it: "libz.so.1", "numpy", "net/http". */
    struct cn_names libraries;
};

/* `mine`: patterns of modules, sources or functions that are the user's; NULL or empty: the rule
 * above. On failure nothing is left to release. */
CN_CHECK bool cn_codes_build(struct cn_codes *out, struct cn_database *db,
                             const struct cn_name_filter *mine, struct cn_error *err);
void cn_codes_done(struct cn_codes *codes);

/* The code of a context, or of a function and a module, CN_NONE if unknown: all unknown is code of
 * the user in no known language. */
const struct cn_code_class *cn_codes_of(const struct cn_codes *codes,
                                        const struct cn_context *context);
const struct cn_code_class *cn_codes_find(const struct cn_codes *codes, uint32_t function,
                                          uint32_t module);

#endif
