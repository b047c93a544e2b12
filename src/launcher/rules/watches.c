#include "launcher/rules/watches.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/elf/file.h"
#include "model/calls/trigger.h"

bool cn_watches_add(struct cn_watches *watches, const char *text, struct cn_error *err)
{
    if (strcmp(text, "cpu") == 0) {
        watches->has_cpu = true;
        return true;
    }
    if (strncmp(text, "var:", 4) != 0 || !text[4])
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not cpu or var:NAME", text);
    if (watches->variable_count == CN_REC_WATCH_MAX)
        return cn_fail(err, CN_ERR_USAGE, "'%s': at most %d variables", text,
                       CN_REC_WATCH_MAX);
    watches->variables[watches->variable_count++] = text + 4;
    return true;
}

/* The signal "SIGUSR1", "USR1", "RTMIN+2" or "12"; 0 when there is none. */
static int signal_named(const char *name)
{
    const char *abbreviation = strncmp(name, "SIG", 3) == 0 ? name + 3 : name;
    bool is_real_time = strncmp(abbreviation, "RTMIN", 5) == 0;
    const char *digits =
        is_real_time ? abbreviation + 5 + (abbreviation[5] == '+') : name;
    char *end;
    unsigned long number = strtoul(digits, &end, 10);

    if (is_real_time && (!abbreviation[5] || (*digits && !*end)))
        number += (unsigned long)SIGRTMIN;
    else if (*digits < '0' || *digits > '9' || *end)
        number = 0;
    for (int i = 1; i < CN_REC_SIGNAL_COUNT && number == 0; i++) {
        const char *known = sigabbrev_np(i);

        if (known && strcmp(known, abbreviation) == 0)
            number = (unsigned long)i;
    }
    return number < CN_REC_SIGNAL_COUNT ? (int)number : 0;
}

bool cn_watches_add_signal(struct cn_watches *watches, const char *text,
                           struct cn_error *err)
{
    static const uint32_t known = CN_ACT_ON | CN_ACT_OFF | CN_ACT_FINISH;
    struct cn_call_trigger trigger;
    bool ok = cn_call_trigger_parse(&trigger, text, err);
    int number = ok ? signal_named(trigger.pattern) : 0;
    bool is_plain = ok && trigger.actions != 0 && !(trigger.actions & ~known) &&
                    !*trigger.module && trigger.condition.argument == 0;

    if (ok && (number == 0 || number == SIGKILL || number == SIGSTOP))
        ok = cn_fail(err, CN_ERR_USAGE,
                     number == 0 ? "'%s': no such signal; expected one such as "
                                   "SIGUSR1@finish"
                                 : "'%s': no program can catch this signal",
                     text);
    else if (ok && !is_plain)
        ok = cn_fail(err, CN_ERR_USAGE,
                     "'%s': the actions of a signal are trace_on, trace_off and finish",
                     text);
    if (ok)
        watches->signals[number] |=
            (uint8_t)((trigger.actions & CN_ACT_ON ? CN_REC_SIGNAL_ON : 0) |
                      (trigger.actions & CN_ACT_OFF ? CN_REC_SIGNAL_OFF : 0) |
                      (trigger.actions & CN_ACT_FINISH ? CN_REC_SIGNAL_FINISH : 0));
    cn_call_trigger_done(&trigger);
    return ok;
}

static bool store_variable(const struct cn_elf_file *elf, const char *name,
                           const char *program, struct cn_rec_watch *out,
                           struct cn_error *err)
{
    for (size_t i = 0; i < elf->symbol_count; i++) {
        const struct cn_elf_symbol *symbol = &elf->symbols[i];

        if (!strchr("DdvVBb", symbol->kind) || strcmp(symbol->name, name) != 0)
            continue;
        if (symbol->size != 1 && symbol->size != 2 && symbol->size != 4 &&
            symbol->size != 8)
            return cn_fail(err, CN_ERR_USAGE,
                           "--watch: variable '%s' has %llu bytes; 1, 2, 4 or 8 can be "
                           "watched",
                           name, (unsigned long long)symbol->size);
        *out = (struct cn_rec_watch){symbol->address, (uint32_t)symbol->size};
        return true;
    }
    return cn_fail(err, CN_ERR_USAGE,
                   "--watch: %s has no global variable '%s'; nm lists them", program,
                   name);
}

bool cn_watches_store(const struct cn_watches *watches, const char *program,
                      struct cn_rec_shared *head, struct cn_error *err)
{
    struct cn_elf_file elf = {0};
    bool ok = true;

    head->watches_cpu = watches->has_cpu;
    for (int i = 0; i < CN_REC_SIGNAL_COUNT; i++) {
        head->signals[i] = watches->signals[i];
        head->has_signals |= watches->signals[i] != 0;
    }
    if (watches->variable_count == 0)
        return true;
    ok = cn_elf_file_open(&elf, program, true, err);
    for (uint32_t i = 0; i < watches->variable_count && ok; i++)
        ok = store_variable(&elf, watches->variables[i], program, &head->watches[i], err);
    head->watch_count = watches->variable_count;
    cn_elf_file_close(&elf);
    return ok;
}
