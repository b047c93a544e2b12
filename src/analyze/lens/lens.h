/* A lens: what views leave out, merge or look at, chosen by rules on functions.
 *
 *     hide      functions are not shown; their self cost is that of the nearest shown caller
 *     collapse  consecutive functions of a library are one; of recursion, calls of a function above
 *     focus     only paths through a function
 *     drop      no paths through a function: what they cost is removed
 *     prune     nothing below a function; what it calls is part of its self cost
 *
 * The subject of a rule is a kind of code (code.h), "language:python", "module:libz*",
 * "file:*.pyx", "function:fib*", "=NAME", a name as it is, or else a pattern of names. A pattern of
 * `collapse` is one of libraries, and "recursion", "modules" and "languages" are subjects: all functions,
 * by library or module, or by language. Rules of the same action add up,
 * those of `focus` must all hold. database.h applies a lens.
 *
 * A lens owns its texts; a zeroed one has no rules.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_LENS_LENS_H
#define CN_ANALYZE_LENS_LENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/name_filter.h"

struct cn_text;

enum cn_lens_action {
    CN_LENS_HIDE,
    CN_LENS_COLLAPSE,
    CN_LENS_FOCUS,
    CN_LENS_DROP,
    CN_LENS_PRUNE,
};
enum {
    CN_LENS_ACTIONS = CN_LENS_PRUNE + 1,
    CN_LENS_RULE_MAX = 32,
    CN_LENS_TEXT_MAX = 4096
};

/* "hide", "focus", ...: names of options and parameters. */
const char *cn_lens_action_name(unsigned action);

enum cn_lens_subject {
    CN_LENS_OF_KIND,
    CN_LENS_OF_LANGUAGE,
    CN_LENS_OF_FUNCTION,
    CN_LENS_OF_MODULE,
    CN_LENS_OF_FILE,
    CN_LENS_OF_LIBRARY,
    CN_LENS_OF_RECURSION,
    CN_LENS_OF_MODULES,
    CN_LENS_OF_LANGUAGES,
};

struct cn_lens_rule {
    enum cn_lens_action action;
    enum cn_lens_subject subject;
    unsigned number; /* the kind or language */
    char *text;      /* as it was given */
    bool
        has_parts; /* parts of a name may match: "insert" of "std::set<int>::insert(int)" */
    struct cn_name_filter names;
};

struct cn_lens {
    struct cn_lens_rule rules[CN_LENS_RULE_MAX];
    size_t count;
    struct cn_name_filter mine; /* what is one's own code; empty: the rule of code.h */
    char *mine_texts[CN_LENS_RULE_MAX];
    /* The database is written: statistics over threads that a lens does not know are not declared. */
    bool is_written;
};

/* Add a rule; a list of kinds, "kernel,runtime", is several. CN_ERR_USAGE names what is wrong with
 * the text. */
CN_CHECK bool cn_lens_add(struct cn_lens *lens, enum cn_lens_action action,
                          const char *text, enum cn_match match, struct cn_error *err);

/* Hide everything that is not one's own code. */
CN_CHECK bool cn_lens_add_my_code(struct cn_lens *lens, struct cn_error *err);

/* True if all of that is hidden; and no longer hide it. */
bool cn_lens_has_my_code(const struct cn_lens *lens);
void cn_lens_remove_my_code(struct cn_lens *lens);

void cn_lens_remove(struct cn_lens *lens, size_t rule);

/* Append the rules for people: "my code, focus solve". */
void cn_lens_describe(const struct cn_lens *lens, struct cn_text *text);

/* Add a pattern of modules, sources or functions that are one's own code. */
CN_CHECK bool cn_lens_add_mine(struct cn_lens *lens, const char *pattern,
                               enum cn_match match, struct cn_error *err);

/* Append all of it as text, the same for the same lens: "hide=kernel\nfocus=fib\n". */
void cn_lens_print(const struct cn_lens *lens, struct cn_text *text);

/* What a rule says about a function; strings are "" where unknown. */
struct cn_lens_function {
    const char *name, *module, *file, *library;
    unsigned kind, language;
};
bool cn_lens_rule_matches(const struct cn_lens_rule *rule,
                          const struct cn_lens_function *function);

void cn_lens_done(struct cn_lens *lens);

#endif
