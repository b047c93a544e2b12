#include "analyze/lens/lens.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lens/code.h"
#include "base/alloc.h"
#include "base/list.h"
#include "base/path.h"
#include "base/text.h"

static const char *const actions[CN_LENS_ACTIONS] = {
    [CN_LENS_HIDE] = "hide", [CN_LENS_COLLAPSE] = "collapse", [CN_LENS_FOCUS] = "focus",
    [CN_LENS_DROP] = "drop", [CN_LENS_PRUNE] = "prune",
};

const char *cn_lens_action_name(unsigned action)
{
    return actions[action];
}

/* Subjects that are written before a colon. */
static const struct {
    const char *prefix;
    enum cn_lens_subject subject;
} prefixes[] = {
    {"language:", CN_LENS_OF_LANGUAGE}, {"module:", CN_LENS_OF_MODULE},
    {"file:", CN_LENS_OF_FILE},         {"function:", CN_LENS_OF_FUNCTION},
    {"library:", CN_LENS_OF_LIBRARY},
};

/* Subjects of `collapse` that are words. */
static const struct {
    const char *word;
    enum cn_lens_subject subject;
} words[] = {
    {"recursion", CN_LENS_OF_RECURSION},
    {"modules", CN_LENS_OF_MODULES},
    {"languages", CN_LENS_OF_LANGUAGES},
};

static bool fail_language(const char *text, struct cn_error *err)
{
    struct cn_text names = {0};

    for (unsigned i = 0; i < CN_CODE_LANGUAGES; i++)
        cn_text_printf(&names, "%s%s", i > 0 ? ", " : "", cn_code_language_name(i));
    (void)cn_fail(err, CN_ERR_USAGE, "no language '%.40s'; there are: %s", text,
                  cn_text_str(&names));
    cn_text_done(&names);
    return false;
}

/* Find out what the text is about; *rest is the pattern. */
static bool find_subject(struct cn_lens_rule *rule, const char *text, const char **rest,
                         struct cn_error *err)
{
    unsigned kind = cn_code_kind_find(text);

    *rest = text;
    if (kind < CN_CODE_KINDS) {
        rule->subject = CN_LENS_OF_KIND;
        rule->number = kind;
        return true;
    }
    for (size_t i = 0; rule->action == CN_LENS_COLLAPSE && i < CN_COUNT_OF(words); i++)
        if (strcmp(text, words[i].word) == 0) {
            rule->subject = words[i].subject;
            return true;
        }
    rule->subject =
        rule->action == CN_LENS_COLLAPSE ? CN_LENS_OF_LIBRARY : CN_LENS_OF_FUNCTION;
    for (size_t i = 0; i < CN_COUNT_OF(prefixes); i++) {
        size_t len = strlen(prefixes[i].prefix);

        if (strncmp(text, prefixes[i].prefix, len) != 0)
            continue;
        rule->subject = prefixes[i].subject;
        *rest = text + len;
    }
    if (rule->subject != CN_LENS_OF_LANGUAGE)
        return true;
    rule->number = cn_code_language_find(*rest);
    return rule->number < CN_CODE_LANGUAGES || fail_language(*rest, err);
}

/* "=NAME" is the name itself. Labels of inlined calls say so. */
static bool add_pattern(struct cn_lens_rule *rule, const char *pattern,
                        enum cn_match match, struct cn_error *err)
{
    static const char inlined[] = " (inlined)";
    struct cn_text name = {0};
    bool ok;

    rule->has_parts = match == CN_MATCH_GLOB && pattern[0] != '=';
    if (pattern[0] != '=')
        return cn_name_filter_add(&rule->names, pattern, match, err);
    cn_text_str_add(&name, pattern + 1);
    if (cn_ends_with(cn_text_str(&name), inlined))
        name.chars[name.len - strlen(inlined)] = '\0';
    ok = cn_name_filter_add(&rule->names, cn_text_str(&name), CN_MATCH_NAME, err);
    cn_text_done(&name);
    return ok;
}

static bool add_rule(struct cn_lens *lens, enum cn_lens_action action, const char *text,
                     enum cn_match match, struct cn_error *err)
{
    struct cn_lens_rule rule = {.action = action};
    const char *rest;

    if (lens->count == CN_LENS_RULE_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d rules", CN_LENS_RULE_MAX);
    if (!text[0])
        return cn_fail(err, CN_ERR_USAGE, "%s: what is missing", actions[action]);
    if (strlen(text) > CN_LENS_TEXT_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%s: the name has more than %d characters",
                       actions[action], CN_LENS_TEXT_MAX);
    if (!find_subject(&rule, text, &rest, err))
        return false;
    if (rule.subject >= CN_LENS_OF_FUNCTION && rule.subject <= CN_LENS_OF_LIBRARY &&
        !add_pattern(&rule, rest, match, err))
        return cn_fail_in(err, "%s", actions[action]);
    rule.text = cn_strdup(text);
    lens->rules[lens->count++] = rule;
    return true;
}

/* True for "kernel,runtime": nothing but kinds. */
static bool is_list(const char *text)
{
    struct cn_text word = {0};
    bool is_it = strchr(text, ',') != NULL;

    while (is_it && text) {
        size_t len = strcspn(text, ",");

        cn_text_clear(&word);
        cn_text_add(&word, text, len);
        is_it = cn_code_kind_find(cn_text_str(&word)) < CN_CODE_KINDS;
        text = text[len] ? text + len + 1 : NULL;
    }
    cn_text_done(&word);
    return is_it;
}

bool cn_lens_add(struct cn_lens *lens, enum cn_lens_action action, const char *text,
                 enum cn_match match, struct cn_error *err)
{
    struct cn_text word = {0};
    bool ok = true;

    if (!is_list(text))
        return add_rule(lens, action, text, match, err);
    while (ok && text) {
        size_t len = strcspn(text, ",");

        cn_text_clear(&word);
        cn_text_add(&word, text, len);
        ok = add_rule(lens, action, cn_text_str(&word), match, err);
        text = text[len] ? text + len + 1 : NULL;
    }
    cn_text_done(&word);
    return ok;
}

bool cn_lens_add_my_code(struct cn_lens *lens, struct cn_error *err)
{
    return cn_lens_add(lens, CN_LENS_HIDE, "startup,kernel,runtime,library",
                       CN_MATCH_GLOB, err);
}

/* The kind of others' code that a rule hides; CN_CODE_MINE: none. */
static unsigned hidden_kind(const struct cn_lens_rule *rule)
{
    return rule->action == CN_LENS_HIDE && rule->subject == CN_LENS_OF_KIND
               ? rule->number
               : CN_CODE_MINE;
}

bool cn_lens_has_my_code(const struct cn_lens *lens)
{
    unsigned hidden = 0;

    for (size_t i = 0; i < lens->count; i++)
        hidden |= 1U << hidden_kind(&lens->rules[i]);
    return (hidden | 1U << CN_CODE_MINE) == (1U << CN_CODE_KINDS) - 1;
}

static void release_rule(struct cn_lens_rule *rule)
{
    free(rule->text);
    cn_name_filter_done(&rule->names);
}

void cn_lens_remove(struct cn_lens *lens, size_t rule)
{
    release_rule(&lens->rules[rule]);
    lens->count--;
    memmove(&lens->rules[rule], &lens->rules[rule + 1],
            (lens->count - rule) * sizeof(*lens->rules));
}

void cn_lens_remove_my_code(struct cn_lens *lens)
{
    for (size_t i = lens->count; i-- > 0;)
        if (hidden_kind(&lens->rules[i]) != CN_CODE_MINE)
            cn_lens_remove(lens, i);
}

void cn_lens_describe(const struct cn_lens *lens, struct cn_text *text)
{
    bool has_my_code = cn_lens_has_my_code(lens);
    const char *before = "";

    if (has_my_code) {
        cn_text_str_add(text, "my code");
        before = ", ";
    }
    for (size_t i = 0; i < lens->count; i++) {
        const struct cn_lens_rule *rule = &lens->rules[i];

        if (has_my_code && hidden_kind(rule) != CN_CODE_MINE)
            continue;
        cn_text_printf(text, "%s%s %s", before, actions[rule->action],
                       rule->text + (rule->text[0] == '='));
        before = ", ";
    }
}

bool cn_lens_add_mine(struct cn_lens *lens, const char *pattern, enum cn_match match,
                      struct cn_error *err)
{
    if (lens->mine.count == CN_LENS_RULE_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d patterns of one's own code",
                       CN_LENS_RULE_MAX);
    if (!cn_name_filter_add(&lens->mine, pattern, match, err))
        return false;
    lens->mine_texts[lens->mine.count - 1] = cn_strdup(pattern);
    return true;
}

void cn_lens_print(const struct cn_lens *lens, struct cn_text *text)
{
    for (size_t i = 0; i < lens->mine.count; i++)
        cn_text_printf(text, "mine=%s\n", lens->mine_texts[i]);
    for (size_t i = 0; i < lens->count; i++)
        cn_text_printf(text, "%s=%s\n", actions[lens->rules[i].action],
                       lens->rules[i].text);
}

/* The name of a function without the type of its result and its parameters, and its last part. */
static bool matches_part(const struct cn_name_filter *names, const char *name)
{
    struct cn_text part = {0};
    const char *begin = name, *last = NULL;
    int depth = 0;
    size_t len;

    for (len = 0; name[len]; len++) {
        char c = name[len];

        if (c == '(' && depth == 0 && name + len != begin)
            break;
        if (c == '<' || c == '(' || c == '[')
            depth++;
        else if (c == '>' || c == ')' || c == ']')
            depth -= depth > 0;
        else if (depth == 0 && c == ' ')
            begin = name + len + 1;
        else if (depth == 0 && (c == ':' || c == '.' || c == '/'))
            last = name + len + 1;
    }
    cn_text_add(&part, begin, (size_t)(name + len - begin));
    bool is_it = cn_name_filter_matches(names, cn_text_str(&part));
    if (!is_it && last && last > begin)
        is_it = cn_name_filter_matches(names, cn_text_str(&part) + (last - begin));
    cn_text_done(&part);
    return is_it;
}

static bool matches_path(const struct cn_name_filter *names, const char *path)
{
    return path[0] && (cn_name_filter_matches(names, path) ||
                       cn_name_filter_matches(names, cn_path_name(path)));
}

bool cn_lens_rule_matches(const struct cn_lens_rule *rule,
                          const struct cn_lens_function *function)
{
    switch (rule->subject) {
    case CN_LENS_OF_KIND:
        return function->kind == rule->number;
    case CN_LENS_OF_LANGUAGE:
        return function->language == rule->number;
    case CN_LENS_OF_MODULE:
        return matches_path(&rule->names, function->module);
    case CN_LENS_OF_FILE:
        return matches_path(&rule->names, function->file);
    case CN_LENS_OF_LIBRARY:
        return matches_path(&rule->names, function->library) ||
               matches_path(&rule->names, function->module);
    case CN_LENS_OF_FUNCTION:
        return cn_name_filter_matches(&rule->names, function->name) ||
               (rule->has_parts && matches_part(&rule->names, function->name));
    case CN_LENS_OF_MODULES:
    case CN_LENS_OF_LANGUAGES:
        return true;
    case CN_LENS_OF_RECURSION:
        break;
    }
    return false;
}

void cn_lens_done(struct cn_lens *lens)
{
    for (size_t i = 0; i < lens->count; i++)
        release_rule(&lens->rules[i]);
    for (size_t i = 0; i < lens->mine.count; i++)
        free(lens->mine_texts[i]);
    cn_name_filter_done(&lens->mine);
    *lens = (struct cn_lens){0};
}
