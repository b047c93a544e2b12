#include "launcher/agent_rules.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "launcher/rules.h"
#include "record/shared.h"

enum { FILTERS = CN_REC_RULE_ONLY | CN_REC_RULE_NOT };

/* The actions that a name of `clear=` means; 0: unknown. */
static uint32_t actions_of(const char *name, size_t len)
{
    static const struct {
        const char *name;
        uint32_t actions;
    } names[] = {
        {"filter", FILTERS},
        {"notrace", FILTERS},
        {"depth", CN_REC_RULE_DEPTH},
        {"time", CN_REC_RULE_TIME},
        {"hide", CN_REC_RULE_HIDE},
        {"finish", CN_REC_RULE_FINISH},
        {"callsite", CN_REC_RULE_SITE},
        {"trace", CN_REC_RULE_ON | CN_REC_RULE_OFF},
        {"trace_on", CN_REC_RULE_ON},
        {"trace_off", CN_REC_RULE_OFF},
        {"read", CN_REC_RULE_READ_STATM | CN_REC_RULE_READ_FAULTS},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i].name) == len && memcmp(names[i].name, name, len) == 0)
            return names[i].actions;
    return 0;
}

/* "clear" or "clear=depth+time": what it removes; 0 for another action. */
static bool parse_clear(const char *action, size_t len, uint32_t *out,
                        struct cn_error *err)
{
    *out = 0;
    if (len < 5 || memcmp(action, "clear", 5) != 0 || (len > 5 && action[5] != '='))
        return true;
    if (len == 5)
        *out = UINT32_MAX & ~(uint32_t)(CN_REC_RULE_PATCH | CN_REC_RULE_UNPATCH);
    for (size_t at = 6; at < len;) {
        size_t name_len = 0;
        uint32_t actions;

        while (at + name_len < len && action[at + name_len] != '+')
            name_len++;
        actions = actions_of(action + at, name_len);
        if (!actions)
            return cn_fail(err, CN_ERR_USAGE, "'%.*s': unknown action '%.*s'", (int)len,
                           action, (int)name_len, action + at);
        *out |= actions;
        at += name_len + 1;
    }
    return true;
}

/* "FUNC@ACTION,ACTION": remove what is to be removed, and add the other actions. */
static bool add_trigger(struct cn_rules *rules, const char *text, struct cn_error *err)
{
    const char *at = strchr(text, '@');
    struct cn_text others = {0};
    uint32_t cleared = 0;
    char *pattern = cn_strdup(text);
    bool ok = true;

    if (at)
        pattern[at - text] = '\0';
    for (const char *action = at ? at + 1 : NULL; action && ok;) {
        size_t len = strcspn(action, ",");
        uint32_t actions;

        ok = parse_clear(action, len, &actions, err);
        cleared |= actions;
        if (actions == 0)
            cn_text_printf(&others, "%s%.*s", others.len > 0 ? "," : "", (int)len,
                           action);
        action = action[len] ? action + len + 1 : NULL;
    }
    if (ok && cleared)
        ok = cn_rules_add_clear(rules, pattern, cleared, err);
    if (ok && (others.len > 0 || !cleared)) {
        struct cn_text whole = {0};

        cn_text_printf(&whole, "%s%s%s", pattern, at ? "@" : "", cn_text_str(&others));
        ok = cn_rules_add_trigger(rules, cn_text_str(&whole), err);
        cn_text_done(&whole);
    }
    cn_text_done(&others);
    free(pattern);
    return ok;
}

static bool add_filter(struct cn_rules *rules, char *text, struct cn_error *err)
{
    static const char clear[] = "@clear";
    bool is_not = text[0] == '!';
    size_t len = strlen(text);

    if (len > sizeof(clear) - 1 && strcmp(text + len - (sizeof(clear) - 1), clear) == 0) {
        text[len - (sizeof(clear) - 1)] = '\0';
        return cn_rules_add_clear(rules, text + is_not, FILTERS, err);
    }
    return cn_rules_add(rules, text + is_not, is_not ? CN_REC_RULE_NOT : CN_REC_RULE_ONLY,
                        err);
}

bool cn_agent_rules_add(struct cn_rules *rules, const char *text, bool are_triggers,
                        struct cn_error *err)
{
    char *words = cn_strdup(text), *rest = words, *word;
    bool ok = true;

    while (ok && (word = strsep(&rest, ";")))
        if (*word)
            ok = are_triggers ? add_trigger(rules, word, err)
                              : add_filter(rules, word, err);
    free(words);
    return ok;
}
