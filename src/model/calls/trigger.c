#include "model/calls/trigger.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/duration.h"

enum { DEPTH_MAX = UINT16_MAX };

const char cn_call_trigger_actions[] =
    "filter, notrace, hide, depth=N, time=TIME, size=N, trace, trace_on, trace_off, "
    "backtrace, color=NAME, if:argN>N, argN, retval, auto-args, read=proc/statm, "
    "read=page-fault, read=pmu-cycle, read=pmu-cache, read=pmu-branch, callsite, recover "
    "and finish";

static bool parse_condition(const char *text, struct cn_call_condition *out,
                            struct cn_error *err)
{
    static const struct {
        const char *sign;
        enum cn_compare compare;
    } signs[] = {
        {"==", CN_COMPARE_EQUAL},      {"!=", CN_COMPARE_UNEQUAL},
        {"<=", CN_COMPARE_LESS_EQUAL}, {">=", CN_COMPARE_MORE_EQUAL},
        {"<", CN_COMPARE_LESS},        {">", CN_COMPARE_MORE},
        {"=", CN_COMPARE_EQUAL},       {"&", CN_COMPARE_BITS},
    };
    char *end;

    if (strncmp(text, "arg", 3) != 0)
        return cn_fail(err, CN_ERR_USAGE, "condition '%s' does not start with argN",
                       text);
    unsigned long argument = strtoul(text + 3, &end, 10);
    if (end == text + 3 || argument == 0 || argument > UINT8_MAX)
        return cn_fail(err, CN_ERR_USAGE, "condition '%s': no such argument", text);
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        size_t len = strlen(signs[i].sign);
        char *rest;

        if (strncmp(end, signs[i].sign, len) != 0)
            continue;
        out->argument = (uint8_t)argument;
        out->compare = signs[i].compare;
        out->value = strtoll(end + len, &rest, 0);
        if (rest == end + len || rest[strspn(rest, " ")])
            return cn_fail(err, CN_ERR_USAGE, "condition '%s': no number", text);
        return true;
    }
    return cn_fail(err, CN_ERR_USAGE, "condition '%s': expected one of == != < <= > >= &",
                   text);
}

static bool parse_depth(const char *text, uint16_t *out, struct cn_error *err)
{
    char *end;
    unsigned long depth = strtoul(text, &end, 10);

    if (end == text || *end || depth > DEPTH_MAX)
        return cn_fail(err, CN_ERR_USAGE, "depth '%s' is not a number up to %d", text,
                       DEPTH_MAX);
    *out = (uint16_t)depth;
    return true;
}

static bool parse_size(const char *text, uint32_t *out, struct cn_error *err)
{
    char *end;
    unsigned long size = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end || size > UINT32_MAX)
        return cn_fail(err, CN_ERR_USAGE, "size '%s' is not a number of bytes", text);
    *out = (uint32_t)size;
    return true;
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static uint32_t action_named(const char *name)
{
    static const struct {
        const char *name;
        uint32_t action;
    } known[] = {
        {"filter", CN_ACT_ONLY},
        {"notrace", CN_ACT_NOT},
        {"hide", CN_ACT_HIDE},
        {"trace", CN_ACT_TRACE},
        {"trace_on", CN_ACT_ON},
        {"trace-on", CN_ACT_ON},
        {"traceon", CN_ACT_ON},
        {"trace_off", CN_ACT_OFF},
        {"trace-off", CN_ACT_OFF},
        {"traceoff", CN_ACT_OFF},
        {"backtrace", CN_ACT_BACKTRACE},
        {"finish", CN_ACT_FINISH},
        {"callsite", CN_ACT_SITE},
        {"recover", CN_ACT_RECOVER},
        {"auto-args", CN_ACT_AUTO_ARGS},
        {"read=proc/statm", CN_ACT_READ_STATM},
        {"read=page-fault", CN_ACT_READ_FAULTS},
        {"read=pmu-cycle", CN_ACT_READ_CYCLES},
        {"read=pmu-cache", CN_ACT_READ_CACHE},
        {"read=pmu-branch", CN_ACT_READ_BRANCHES},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(name, known[i].name) == 0)
            return known[i].action;
    }
    return 0;
}

bool cn_call_trigger_is_action(const char *word)
{
    return action_named(word) != 0;
}

static bool is_spec(const char *word)
{
    const char *number = begins_with(word, "fparg") ? word + 5
                         : begins_with(word, "arg") ? word + 3
                                                    : "";

    return (*number >= '0' && *number <= '9') || strcmp(word, "retval") == 0 ||
           begins_with(word, "retval/");
}

static bool parse_module(struct cn_call_trigger *trigger, const char *word,
                         struct cn_error *err)
{
    if (!*word || strpbrk(word, "=:"))
        return cn_fail(err, CN_ERR_USAGE, "unknown action '%s'; known are %s", word,
                       cn_call_trigger_actions);
    if (*trigger->module)
        return cn_fail(err, CN_ERR_USAGE,
                       "neither '%s' nor '%s' is an action, and only one can be a "
                       "module; actions are %s",
                       trigger->module, word, cn_call_trigger_actions);
    free(trigger->module);
    trigger->module = cn_strdup(word);
    return true;
}

static bool parse_word(struct cn_call_trigger *trigger, const char *word,
                       struct cn_error *err)
{
    uint32_t action = action_named(word);

    if (action) {
        trigger->actions |= action;
    } else if (begins_with(word, "depth=")) {
        trigger->actions |= CN_ACT_DEPTH;
        return parse_depth(word + 6, &trigger->depth, err);
    } else if (begins_with(word, "time=")) {
        trigger->actions |= CN_ACT_TIME;
        return cn_duration_parse(word + 5, CN_BARE_NS, &trigger->time_ns, err);
    } else if (begins_with(word, "size=")) {
        trigger->actions |= CN_ACT_SIZE;
        return parse_size(word + 5, &trigger->size_min, err);
    } else if (begins_with(word, "color=")) {
        trigger->actions |= CN_ACT_COLOR;
        free(trigger->color);
        trigger->color = cn_strdup(word + 6);
    } else if (begins_with(word, "if:")) {
        return parse_condition(word + 3, &trigger->condition, err);
    } else if (is_spec(word)) {
        struct cn_text *values = &trigger->values[word[0] == 'r'];

        trigger->actions |= CN_ACT_VALUES;
        cn_text_printf(values, "%s%s", values->len > 0 ? "," : "", word);
    } else {
        return parse_module(trigger, word, err);
    }
    return true;
}

bool cn_call_trigger_parse(struct cn_call_trigger *trigger, const char *text,
                           struct cn_error *err)
{
    char *at, *save = NULL;

    *trigger = (struct cn_call_trigger){.pattern = cn_strdup(text)};
    trigger->module = cn_strdup("");
    at = strchr(trigger->pattern, '@');
    if (!at)
        return true;
    *at = '\0';
    if (at == trigger->pattern)
        return cn_fail(err, CN_ERR_USAGE, "'%s': no function before the '@'", text);
    for (char *word = strtok_r(at + 1, ",", &save); word;
         word = strtok_r(NULL, ",", &save)) {
        if (!parse_word(trigger, word, err))
            return cn_fail_in(err, "'%s'", text);
    }
    return true;
}

void cn_call_trigger_done(struct cn_call_trigger *trigger)
{
    free(trigger->pattern);
    free(trigger->module);
    free(trigger->color);
    cn_text_done(&trigger->values[0]);
    cn_text_done(&trigger->values[1]);
    *trigger = (struct cn_call_trigger){0};
}

bool cn_call_module_matches(const char *wanted, const char *module, char type)
{
    if (!*wanted)
        return true;
    if (strcasecmp(wanted, "plt") == 0)
        return type == 'P';
    if (strcmp(wanted, "kernel") == 0)
        return type == 'K';
    return begins_with(module, wanted);
}
