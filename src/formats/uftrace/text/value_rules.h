/* Which arguments and results are recorded of which function.
 *
 * A record does not say how long its payload is: that follows from the rules that the
 * recorder was given, "FUNCTION@arg1/s,arg2". The launcher and the reader both ask
 * cn_uft_values_find(), so that they agree about every function.
 *
 *     cn_uft_value_rules_add(&values.asked[is_result], text, CN_MATCH_REGEX, err)
 *     cn_uft_value_rules_sort(&values.asked[is_result]);
 *     cn_uft_values_find(&values, &function, is_result, &parser, &specs);
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

/* Rules about arguments or about results. A zeroed one is ready for use. */
struct cn_uft_value_rules {
    struct cn_uft_value_rule *list; /* names first, sorted; then patterns */
    size_t count, capacity, pattern_count;
    uint64_t repeats_left; /* of regular expressions */
    struct cn_arena arena; /* names */
};

/* How a pattern matches: text without special characters is a name. */
enum cn_match cn_uft_match_of(const char *pattern, bool is_glob);

/* Add "FUNCTION@SPECS"; "FUNCTION" alone means what debug information says. FUNCTION may
 * be mangled, and a pattern unless `match` is CN_MATCH_NAME. A failure changes nothing. */
CN_CHECK bool cn_uft_value_rules_add(struct cn_uft_value_rules *rules,
                                     struct cn_bytes text, enum cn_match match,
                                     struct cn_error *err);

/* Call this after the last rule was added. */
void cn_uft_value_rules_sort(struct cn_uft_value_rules *rules);

/* Fail at the first word of SPECS that is neither a spec nor the name of a module. */
CN_CHECK bool cn_uft_specs_check(struct cn_bytes specs, bool is_result,
                                 struct cn_error *err);

/* All rules of a recording: [0] about arguments, [1] about results. */
struct cn_uft_values {
    struct cn_uft_value_rules asked[2];
    struct cn_uft_value_rules
        known[2];             /* well-known functions, without debug information */
    bool is_automatic;        /* functions that no rule names are recorded as well */
    bool knows_libcalls_only; /* `known` is about calls of libraries, not functions */
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
