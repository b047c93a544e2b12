#include "cli/shell/kinds.h"

#include "base/text.h"
#include "cli/shell/args.h"
#include "cli/shell/command.h"
#include "model/format.h"

/* By bit of enum cn_data_kind. */
static const struct {
    const char *many, *one;
} kinds_of_data[] = {
    {"recordings", "a recording"},
    {"stores", "a store"},
    {"databases", "a database"},
    {"measurements", "a directory of measurements"},
    {"samples", "a file of samples"},
    {"recorded programs", "a recorded program"},
    {"sampled programs", "a sampled program"},
};
enum { KINDS = sizeof(kinds_of_data) / sizeof(*kinds_of_data) };

void cn_kinds_add(struct cn_text *text, unsigned scope)
{
    for (unsigned i = 0, left = scope; i < KINDS; i++) {
        if (!(scope & 1U << i))
            continue;
        left &= ~(1U << i);
        cn_text_printf(text, "%s%s", kinds_of_data[i].many,
                       !left               ? ""
                       : left & (left - 1) ? ", "
                                           : " and ");
    }
}

void cn_option_help_add(struct cn_text *text, const struct cn_command *command,
                        const struct cn_option *option)
{
    unsigned scope = cn_option_scope(command, option);

    cn_kinds_add(text, scope);
    cn_text_printf(text, "%s%s", scope ? ": " : "", option->help);
}

unsigned cn_kind_of(const struct cn_format *format)
{
    bool has_calls = format->open_recording || format->open_traces;

    return format->is_measured                       ? CN_FOR_MEASUREMENTS
           : format->open_traces && !format->is_file ? CN_FOR_STORES
           : has_calls                               ? CN_FOR_RECORDINGS
           : format->is_file                         ? CN_FOR_SAMPLES
                                                     : CN_FOR_DATABASES;
}

bool cn_kinds_fail(const char *option, unsigned scope, const char *subject, unsigned kind,
                   struct cn_error *err)
{
    struct cn_text text = {0};
    unsigned i = 0;

    while (!(kind & 1U << i))
        i++;
    cn_kinds_add(&text, scope);
    (void)cn_fail(err, CN_ERR_USAGE, "--%s is for %s; %s is %s", option,
                  cn_text_str(&text), subject, kinds_of_data[i].one);
    cn_text_done(&text);
    return false;
}

bool cn_kinds_check(const struct cn_args *args, unsigned kinds, const char *subject,
                    struct cn_error *err)
{
    for (size_t i = 0; i < args->given_count; i++) {
        const struct cn_option *option = args->given[i];
        unsigned scope = cn_option_scope(args->command, option);

        if (scope && !(scope & kinds))
            return cn_kinds_fail(option->name, scope, subject, kinds, err);
    }
    return true;
}
