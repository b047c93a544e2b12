/* Rules for recording values: which arguments and results of which function.
 *
 * A record does not contain the length of its payload; it follows from the rules, such as
 * "FUNCTION@arg1/s,arg2", that the recorder was given. The launcher and the reader both
 * call cn_uft_values_find(), so they agree about every function.
 *
 *     ok = cn_uft_value_rules_add(&values.requested[0], text, CN_MATCH_REGEX, &err);
 *     cn_uft_value_rules_sort(&values.requested[0]);
 *     cn_uft_values_find(&values, &function, false, &parser, &specs);
 *
 * The caller owns the texts of the rules, which must outlive them.
 * Threads: immutable once the rules are sorted.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_VALUE_RULES_H
#define CN_FORMATS_UFTRACE_TEXT_VALUE_RULES_H

#include "base/error.h"
#include "base/name_filter.h"
#include "formats/uftrace/text/argspec.h"

struct cn_uft_value_rule;

/* Rules for arguments, or for results. A zeroed one is ready for use. */
struct cn_uft_value_rules {
    struct cn_uft_value_rule *list; /* names first, sorted; then patterns */
    size_t count, capacity, pattern_count;
    size_t size_left;      /* of regular expressions (cn_regex_size) */
    struct cn_arena arena; /* names */
};

/* How to match a pattern: text without special characters is a name. */
enum cn_match cn_uft_match_of(const char *pattern, bool is_glob);

/* Add the rule "FUNCTION@SPECS"; "FUNCTION" alone records what debug information
 * describes. FUNCTION may be mangled; it is a pattern unless `match` is CN_MATCH_NAME. A
 * failure changes nothing. */
CN_CHECK bool cn_uft_value_rules_add(struct cn_uft_value_rules *rules,
                                     struct cn_bytes text, enum cn_match match,
                                     struct cn_error *err);

/* Call this after the last rule was added. */
void cn_uft_value_rules_sort(struct cn_uft_value_rules *rules);

/* Fail at the first word that is neither a spec nor the name of a module. */
CN_CHECK bool cn_uft_specs_check(struct cn_bytes specs, bool is_result,
                                 struct cn_error *err);

/* True if a word of "FUNCTION@WORD,WORD" names a module: it is neither a spec nor an action
 * of a trigger. */
bool cn_uft_is_module(struct cn_bytes word);

/* True if there is a spec; else debug information is used. */
bool cn_uft_has_specs(struct cn_bytes specs);

/* All rules of a recording: [0] for arguments, [1] for results. */
struct cn_uft_values {
    struct cn_uft_value_rules requested[2];
    struct cn_uft_value_rules
        known[2];      /* well-known functions, where debug information is missing */
    bool is_automatic; /* also record the values of functions without a rule */
    bool knows_libcalls_only; /* `known` applies to library calls only */
    bool *matched
        [2]; /* by the order of requested rules: it applied to a function; or NULL */
};

void cn_uft_values_done(struct cn_uft_values *values);

/* What is known about a function. */
struct cn_uft_value_function {
    const char *name;         /* demangled, without parameters */
    const char *module;       /* the name of its file */
    char type;                /* as in NAME.sym */
    struct cn_bytes debug[2]; /* specs from debug information; empty when unknown */
};

/* Add the specs for a function, in the order in which its values are stored. */
void cn_uft_values_find(const struct cn_uft_values *values,
                        const struct cn_uft_value_function *function, bool is_result,
                        const struct cn_uft_spec_parser *parser,
                        struct cn_uft_specs *specs);

#endif
