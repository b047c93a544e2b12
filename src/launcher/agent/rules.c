#include "launcher/agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "launcher/agent/format.h"
#include "launcher/rules/rules.h"
#include "model/calls/trigger.h"
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
        {"caller", CN_REC_RULE_CALLER},
        {"depth", CN_REC_RULE_DEPTH},
        {"time", CN_REC_RULE_TIME},
        {"size", CN_REC_RULE_SIZE},
        {"hide", CN_REC_RULE_HIDE},
        {"finish", CN_REC_RULE_FINISH},
        {"callsite", CN_REC_RULE_SITE},
        {"trace", CN_REC_RULE_ON | CN_REC_RULE_OFF | CN_REC_RULE_TRACE},
        {"trace_on", CN_REC_RULE_ON},
        {"trace_off", CN_REC_RULE_OFF},
        {"read", CN_REC_RULES_READ},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i].name) == len && memcmp(names[i].name, name, len) == 0)
            return names[i].actions;
    return 0;
}

/* "clear" removes `all`, "clear=depth+time" these actions; 0 for another word. */
static bool parse_clear(const char *word, uint32_t all, uint32_t *out,
                        struct cn_error *err)
{
    *out = 0;
    if (strcmp(word, "clear") == 0)
        *out = all;
    if (strncmp(word, "clear=", 6) != 0)
        return true;
    for (const char *name = word + 6; name;) {
        size_t len = strcspn(name, "+");
        uint32_t actions = actions_of(name, len);

        if (!actions)
            return cn_fail(err, CN_ERR_USAGE, "'%s': unknown action '%.*s'", word,
                           (int)len, name);
        *out |= actions;
        name = name[len] ? name + len + 1 : NULL;
    }
    return true;
}

/* Separate what is removed from the other words of "FUNC@WORD,WORD". */
static bool split(char *text, uint32_t all, struct cn_text *others, uint32_t *cleared,
                  struct cn_error *err)
{
    char *rest = strchr(text, '@'), *word;
    char sign = '@';
    uint32_t actions;

    *cleared = 0;
    if (rest)
        *rest++ = '\0';
    cn_text_str_add(others, text);
    while ((word = strsep(&rest, ","))) {
        if (!parse_clear(word, all, &actions, err))
            return false;
        *cleared |= actions;
        if (actions)
            continue;
        cn_text_printf(others, "%c%s", sign, word);
        sign = ',';
    }
    return true;
}

/* `option`: as typed; `actions`: what a filter does. */
static bool add(struct cn_rules *rules, char *text, const char *option, uint32_t actions,
                uint32_t all, struct cn_error *err)
{
    const uint32_t fixed =
        CN_ACT_VALUES | CN_ACT_AUTO_ARGS | CN_ACT_BACKTRACE | CN_ACT_COLOR;
    struct cn_call_trigger trigger = {0};
    struct cn_text others = {0};
    uint32_t cleared;
    bool ok = split(text, all, &others, &cleared, err);
    const char *rest = cn_text_str(&others);

    ok = ok && cn_call_trigger_parse(&trigger, rest, err);
    if (ok && (trigger.actions & fixed))
        ok =
            cn_fail(err, CN_ERR_USAGE,
                    "'%s': values, counters of the processor and actions of views cannot "
                    "be changed while a program runs",
                    rest);
    if (ok && cleared)
        ok = cn_rules_add_clear(rules, option, &trigger, rest, cleared, err);
    if (ok && !cleared && actions == 0 && trigger.actions == 0)
        ok = cn_fail(err, CN_ERR_USAGE, "'%s': unknown action '%s'; known are %s, clear",
                     rest, trigger.module, cn_call_trigger_actions);
    if (ok && (trigger.actions || !cleared))
        ok = cn_rules_add(rules, option, &trigger, rest, cleared ? 0 : actions, err);
    cn_call_trigger_done(&trigger);
    cn_text_done(&others);
    return ok;
}

bool cn_agent_rules_add(struct cn_rules *rules, const char *text, uint32_t option,
                        struct cn_error *err)
{
    char *words = cn_strdup(text), *rest = words, *word;
    bool ok = true;

    while (ok && (word = strsep(&rest, ";"))) {
        if (!*word)
            continue;
        if (option == CN_AGENT_TRIGGER)
            ok = add(rules, word, "trigger", 0,
                     UINT32_MAX & ~(uint32_t)(CN_REC_RULE_PATCH | CN_REC_RULE_UNPATCH |
                                              CN_REC_RULE_VALUES | CN_REC_RULE_SIZED),
                     err);
        else if (option == CN_AGENT_CALLER)
            ok = add(rules, word, "caller-filter", CN_REC_RULE_CALLER, CN_REC_RULE_CALLER,
                     err);
        else if (*word == '!')
            ok = add(rules, word + 1, "notrace", CN_REC_RULE_NOT, FILTERS, err);
        else
            ok = add(rules, word, "filter", CN_REC_RULE_ONLY, FILTERS, err);
    }
    free(words);
    return ok;
}
