#include "cli/shell/args.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/shell/command.h"

struct args_parser {
    struct cn_args args;
    const char *const *arguments;
    size_t argument_count, next; /* index of the next one */
};

/* Fail because `name` is the prefix of several options. */
static bool fail_ambiguous(const struct cn_command *command, const char *name,
                           struct cn_error *err)
{
    struct cn_text list = {0};
    const struct cn_option *option;

    for (size_t i = 0; (option = cn_command_option(command, i)); i++) {
        if (strncmp(option->name, name, strlen(name)) == 0)
            cn_text_printf(&list, "%s--%s", list.len ? ", " : "", option->name);
    }
    (void)cn_fail(err, CN_ERR_USAGE, "option --%s is ambiguous: %s", name,
                  cn_text_str(&list));
    cn_text_done(&list);
    return false;
}

static bool find_long(const struct cn_command *command, const char *name,
                      const struct cn_option **out, struct cn_error *err)
{
    struct cn_suggestion near = {.typed = name};
    const struct cn_option *option, *prefixed = NULL;
    size_t prefixed_count = 0;

    for (size_t i = 0; (option = cn_command_option(command, i)); i++) {
        if (strcmp(option->name, name) == 0) {
            *out = option;
            return true;
        }
        if (*name && strncmp(option->name, name, strlen(name)) == 0) {
            prefixed = option;
            prefixed_count++;
        }
        cn_suggestion_offer(&near, option->name);
    }
    if (prefixed_count > 1)
        return fail_ambiguous(command, name, err);
    if (!prefixed)
        return near.best
                   ? cn_fail(err, CN_ERR_USAGE, "unknown option --%s, did you mean --%s?",
                             name, near.best)
                   : cn_fail(err, CN_ERR_USAGE, "unknown option --%s", name);
    *out = prefixed;
    return true;
}

/* Append "text, json or csv", or a placeholder unchanged. */
static void list_choices(struct cn_text *text, const char *value)
{
    const char *choice;
    size_t len, next_len;

    if (cn_placeholder_kind(value) != CN_PLACEHOLDER_CHOICE) {
        cn_text_str_add(text, value);
        return;
    }
    for (size_t i = 0; (choice = cn_choice_at(value, i, &len)); i++) {
        bool is_last = !cn_choice_at(value, i + 1, &next_len);

        if (i > 0)
            cn_text_str_add(text, is_last ? " or " : ", ");
        cn_text_add(text, choice, len);
    }
}

static bool fail_choice(const char *placeholder, const char *value, struct cn_error *err)
{
    struct cn_text choices = {0};

    list_choices(&choices, placeholder);
    (void)cn_fail(err, CN_ERR_USAGE, "'%s' is not one of %s", value,
                  cn_text_str(&choices));
    cn_text_done(&choices);
    return false;
}

/* Insert after the last value of the same option. */
static void insert_given(struct cn_args *args, const struct cn_option *option,
                         const char *value)
{
    size_t at = args->given_count;

    for (size_t i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i]->name, option->name) == 0)
            at = i + 1;
    for (size_t i = 0; i < args->given_count; i++)
        args->places[i] += args->places[i] >= at;
    args->places[args->given_count] = at;
    for (size_t i = args->given_count++; i > at; i--) {
        args->given[i] = args->given[i - 1];
        args->values[i] = args->values[i - 1];
    }
    args->given[at] = option;
    args->values[at] = value;
}

bool cn_args_add(struct cn_args *args, const struct cn_option *option, const char *value,
                 struct cn_error *err)
{
    if (value && !cn_choice_has(option->value, value) &&
        !(option->also && cn_choice_has(option->also, value))) {
        (void)fail_choice(option->value, value, err);
        return cn_fail_in(err, "--%s", option->name);
    }
    insert_given(args, option, value);
    return true;
}

void cn_args_add_operand(struct cn_args *args, const char *word)
{
    args->operands[args->operand_count++] = word;
}

/* `value` is attached to the option (--name=value, -xvalue), or NULL: then it is the next
 * word. */
static bool add_valued(struct args_parser *parser, const struct cn_option *option,
                       const char *value, struct cn_error *err)
{
    struct cn_text choices = {0};

    if (!value && parser->next < parser->argument_count)
        value = parser->arguments[parser->next++];
    if (!value) {
        list_choices(&choices, option->value);
        (void)cn_fail(err, CN_ERR_USAGE, "option --%s needs a value: %s", option->name,
                      cn_text_str(&choices));
        cn_text_done(&choices);
        return false;
    }
    return cn_args_add(&parser->args, option, value, err);
}

static bool parse_long(struct args_parser *parser, const char *word, struct cn_error *err)
{
    const char *equals = strchr(word, '=');
    const struct cn_option *option;
    char *name = cn_strdup(word);

    if (equals)
        name[equals - word] = '\0';
    bool found = find_long(parser->args.command, name, &option, err);
    free(name);
    if (!found)
        return false;
    if (option->value)
        return add_valued(parser, option, equals ? equals + 1 : NULL, err);
    if (equals)
        return cn_fail(err, CN_ERR_USAGE, "option --%s takes no value, got '%s'",
                       option->name, equals + 1);
    return cn_args_add(&parser->args, option, NULL, err);
}

static bool parse_letters(struct args_parser *parser, const char *letters,
                          struct cn_error *err)
{
    for (; *letters; letters++) {
        const struct cn_option *option;
        size_t i = 0;

        while ((option = cn_command_option(parser->args.command, i)) &&
               option->letter != *letters)
            i++;
        if (!option)
            return cn_fail(err, CN_ERR_USAGE, "unknown option -%c", *letters);
        if (option->value)
            return add_valued(parser, option, letters[1] ? letters + 1 : NULL, err);
        insert_given(&parser->args, option, NULL);
    }
    return true;
}

/* True if the next operand is a program, whose options are its own. With "--" further on, it
 * is data: the programs follow. */
static bool begins_program(const struct args_parser *parser)
{
    const char *program = parser->args.command->program;

    if (!program || !*program)
        return program != NULL;
    for (size_t i = parser->next; i < parser->argument_count; i++)
        if (strcmp(parser->arguments[i], "--") == 0)
            return false;
    return cn_args_has(&parser->args, program);
}

static bool parse_arguments(struct args_parser *parser, struct cn_error *err)
{
    bool options_ended = false;

    while (parser->next < parser->argument_count) {
        const char *word = parser->arguments[parser->next++];

        if (options_ended || word[0] != '-' || word[1] == '\0') {
            cn_args_add_operand(&parser->args, word);
            options_ended = options_ended || begins_program(parser);
        } else if (strcmp(word, "--") == 0) {
            options_ended = true;
            parser->args.separator = parser->args.operand_count;
        } else if (word[1] == '-') {
            if (!parse_long(parser, word + 2, err))
                return false;
        } else if (!parse_letters(parser, word + 1, err)) {
            return false;
        }
    }
    return true;
}

/* Say what is missing, with the first example of the command. */
static bool fail_missing(const struct cn_args *args, struct cn_error *err)
{
    const struct cn_command *command = args->command;
    struct cn_text text = {0};

    if (args->operand_count == 0)
        cn_text_str_add(&text, "missing operand");
    else
        cn_text_printf(&text, "too few operands, %zu", args->operand_count);
    cn_text_printf(&text, ": expected %s", command->operands);
    if (command->examples)
        cn_text_printf(&text, "; for example: %s", command->examples[0].command);
    (void)cn_fail(err, CN_ERR_USAGE, "%s", cn_text_str(&text));
    cn_text_done(&text);
    return false;
}

bool cn_args_check(const struct cn_args *args, struct cn_error *err)
{
    const struct cn_command *command = args->command;
    const char *expected = command->operands ? command->operands : "no operand";

    if (cn_args_has(args, "help"))
        return true;
    if (args->operand_count < command->operand_min)
        return fail_missing(args, err);
    if (args->operand_count > command->operand_max)
        return cn_fail(err, CN_ERR_USAGE, "unexpected operand '%s': expected %s",
                       args->operands[command->operand_max], expected);
    for (size_t i = 0; i < args->operand_count; i++) {
        const char *placeholder = cn_operand_at(command->operands, i);

        if (placeholder && !cn_choice_has(placeholder, args->operands[i]))
            return fail_choice(placeholder, args->operands[i], err);
    }
    return true;
}

/* After arguments that are wrong: true if one of those before "--" asks for help. */
static bool asks_help(const char *const *arguments, size_t count)
{
    for (size_t i = 0; i < count && strcmp(arguments[i], "--") != 0; i++)
        if (strcmp(arguments[i], "-h") == 0 || strcmp(arguments[i], "--help") == 0)
            return true;
    return false;
}

void cn_args_begin(struct cn_args *args, const struct cn_command *command,
                   size_t option_max, size_t operand_max)
{
    *args = (struct cn_args){
        .command = command,
        .given = cn_alloc(option_max, sizeof(*args->given)),
        .values = cn_alloc(option_max, sizeof(*args->values)),
        .places = cn_alloc(option_max, sizeof(*args->places)),
        .operands = cn_alloc(operand_max, sizeof(*args->operands)),
        .separator = SIZE_MAX,
    };
}

bool cn_args_parse(struct cn_args *args, const struct cn_command *command,
                   size_t argument_count, const char *const *arguments,
                   struct cn_error *err)
{
    struct args_parser parser = {.arguments = arguments,
                                 .argument_count = argument_count};
    size_t letter_count = 1; /* every letter is at most one option */

    for (size_t i = 0; i < argument_count; i++)
        letter_count += strlen(arguments[i]);
    cn_args_begin(&parser.args, command, letter_count, argument_count);
    if (parse_arguments(&parser, err) && cn_args_check(&parser.args, err)) {
        *args = parser.args;
        return true;
    }
    cn_args_done(&parser.args);
    if (!asks_help(arguments, argument_count))
        return false;
    cn_args_begin(args, command, 1, 0);
    insert_given(args, cn_command_find_option(command, "help"), NULL);
    return true;
}

static void insert_all(struct cn_args *out, const struct cn_args *from)
{
    for (size_t i = 0; i < from->given_count; i++)
        insert_given(out, from->given[from->places[i]], from->values[from->places[i]]);
}

void cn_args_join(struct cn_args *out, const struct cn_args *first,
                  const struct cn_args *then)
{
    cn_args_begin(out, then->command, first->given_count + then->given_count,
                  then->operand_count);
    out->session = then->session;
    out->separator = then->separator;
    insert_all(out, first);
    insert_all(out, then);
    for (size_t i = 0; i < then->operand_count; i++)
        cn_args_add_operand(out, then->operands[i]);
}

void cn_args_done(struct cn_args *args)
{
    free(args->given);
    free(args->values);
    free(args->places);
    free(args->operands);
    *args = (struct cn_args){0};
}

/* Commands share functions that look up options which only some of them have. */
static bool is_known(const struct cn_command *command, const char *name)
{
    for (size_t i = 0; command; i++) {
        if (cn_command_find_option(command, name))
            return true;
        command = cn_command_at(i);
    }
    return false;
}

struct cn_values cn_args_values(const struct cn_args *args, const char *name)
{
    size_t first = 0, count = 0;

    while (first < args->given_count && strcmp(args->given[first]->name, name) != 0)
        first++;
    while (first + count < args->given_count &&
           strcmp(args->given[first + count]->name, name) == 0)
        count++;
    assert(count > 0 || is_known(args->command, name));
    return (struct cn_values){count ? args->values + first : NULL, count};
}

bool cn_args_has(const struct cn_args *args, const char *name)
{
    return cn_args_values(args, name).count > 0;
}

const char *cn_args_value(const struct cn_args *args, const char *name)
{
    struct cn_values values = cn_args_values(args, name);

    return values.count ? values.list[values.count - 1] : NULL;
}

const char *cn_args_at(const struct cn_args *args, size_t i, const char **value)
{
    if (i >= args->given_count)
        return NULL;
    *value = args->values[args->places[i]];
    return args->given[args->places[i]]->name;
}

const struct cn_option *cn_args_find_filter(const struct cn_args *args)
{
    for (size_t i = 0; i < args->given_count; i++)
        if (args->given[i]->is_filter)
            return args->given[i];
    return NULL;
}

bool cn_args_exclusive(const struct cn_args *args, const char *a, const char *b,
                       struct cn_error *err)
{
    return !cn_args_has(args, a) || !cn_args_has(args, b) ||
           cn_fail(err, CN_ERR_USAGE, "--%s and --%s exclude each other", a, b);
}

bool cn_args_misnamed(const struct cn_args *args, const char *name, struct cn_error *err)
{
    if (err->kind == CN_ERR_NOT_FOUND && cn_args_has(args, name))
        err->kind = CN_ERR_USAGE;
    return false;
}

size_t cn_args_count(const struct cn_args *args)
{
    return args->operand_count;
}

const char *cn_args_operand(const struct cn_args *args, size_t i)
{
    assert(i < args->operand_count);
    return args->operands[i];
}

const char *cn_args_find_operand(const struct cn_args *args, size_t i)
{
    return i < args->operand_count ? args->operands[i] : NULL;
}

bool cn_args_u64(const struct cn_args *args, const char *name, uint64_t min, uint64_t max,
                 uint64_t otherwise, uint64_t *out, struct cn_error *err)
{
    const char *value = cn_args_value(args, name);

    if (!value) {
        *out = otherwise;
        return true;
    }
    if (!*value || value[strspn(value, "0123456789")])
        return cn_fail(err, CN_ERR_USAGE, "--%s: '%s' is not a whole number", name,
                       value);
    errno = 0;
    uint64_t number = strtoull(value, NULL, 10);
    if (errno == ERANGE || number < min || number > max) {
        if (max == UINT64_MAX && errno != ERANGE)
            return cn_fail(err, CN_ERR_USAGE, "--%s: %s is less than %" PRIu64, name,
                           value, min);
        return cn_fail(err, CN_ERR_USAGE,
                       "--%s: %s is not between %" PRIu64 " and %" PRIu64, name, value,
                       min, max);
    }
    *out = number;
    return true;
}

bool cn_args_f64(const struct cn_args *args, const char *name, double min, double max,
                 double otherwise, double *out, struct cn_error *err)
{
    const char *value = cn_args_value(args, name);
    char *end;

    if (!value) {
        *out = otherwise;
        return true;
    }
    double number = strtod(value, &end);
    if (end == value || *end || strspn(value, " \t\n\v\f\r") > 0 || isnan(number))
        return cn_fail(err, CN_ERR_USAGE, "--%s: '%s' is not a number", name, value);
    if (number < min || number > max)
        return cn_fail(err, CN_ERR_USAGE, "--%s: %s is not between %g and %g", name,
                       value, min, max);
    *out = number;
    return true;
}
