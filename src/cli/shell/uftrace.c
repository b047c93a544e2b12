#include "cli/shell/uftrace.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/list.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "launcher/code/prologue.h"
#include "script/script.h"

#if defined(__x86_64__)
#define PROCESSOR "x86_64"
#elif defined(__aarch64__)
#define PROCESSOR "aarch64"
#else
#define PROCESSOR "unknown"
#endif

#define DEFAULT_DATA "uftrace.data"

enum { OPTION_FILE_MAX = 1 << 20, OPTION_FILE_DEPTH = 8 };

static const char *const names[] = {
    "live", "record", "replay", "report", "graph",
    "dump", "info",   "script", "recv",   "tui",
};
enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

/* What an option of uftrace is called here, and its value, for the commands that have it; the
 * value given decides between several. A value of NULL is the one given. */
static const struct {
    const char *name, *given, *option, *value;
} meanings[] = {
    {"chrome", NULL, "format", "chrome"},
    {"flame-graph", NULL, "format", "flame-graph"},
    {"graphviz", NULL, "format", "graphviz"},
    {"mermaid", NULL, "format", "mermaid"},
    {"disable", NULL, "trace", "off"},
    {"nop", NULL, "trace", "off"},
    {"debug", NULL, "hex", NULL}, /* of dump */
    {"verbose", NULL, "hex", NULL},
    {"debug", NULL, "verbose", NULL},
    {"usage", NULL, "help", NULL},
    {"max-stack", NULL, "depth", NULL},
    {"clock", "mono", "clock", "counter"},
    {"Event", NULL, "event", NULL},
    {"format", "normal", "format", "text"},
};
enum { MEANING_COUNT = sizeof(meanings) / sizeof(meanings[0]) };

struct given {
    const struct cn_option *option;
    const char *value; /* NULL for a flag */
};

struct uftrace_parser {
    struct cn_arena *memory;
    struct cn_option *options;        /* of all commands */
    const struct cn_command *command; /* cn_cmd_uftrace until an operand names one */
    struct given *given;
    size_t given_count, given_capacity;
    const char **operands;
    size_t operand_count, operand_capacity;
    unsigned files; /* of options that were read */
};

bool cn_uftrace_is_name(const char *program)
{
    const char *name = cn_path_name(program);

    return strcmp(name, "cairn-uftrace") == 0 || strcmp(name, "uftrace") == 0;
}

static const struct cn_command *find_command(const char *name)
{
    size_t i = 0;

    while (cn_commands[i] && strcmp(cn_commands[i]->name, name) != 0)
        i++;
    return cn_commands[i];
}

/* Add the options of a command that no command before it has. Values are checked later, for
 * the command that is run. */
static void add_known(struct uftrace_parser *parser, const struct cn_option *from,
                      size_t *count, size_t *capacity)
{
    for (; from->name; from++) {
        struct cn_command before = {.options = parser->options};
        struct cn_option option = *from;

        if (cn_command_find_option(&before, from->name))
            continue;
        if (option.value && cn_placeholder_kind(option.value) == CN_PLACEHOLDER_CHOICE)
            option.value = "VALUE";
        CN_GROW_TO(parser->options, *count + 2, *capacity);
        parser->options[(*count)++] = option;
        parser->options[*count] = (struct cn_option){0};
    }
}

static void add_all_known(struct uftrace_parser *parser)
{
    size_t count = 0, capacity = 0;

    add_known(parser, cn_cmd_uftrace.options, &count, &capacity);
    for (size_t i = 0; i < NAME_COUNT; i++)
        add_known(parser, find_command(names[i])->options, &count, &capacity);
}

static bool parse_arguments(struct uftrace_parser *parser, size_t count,
                            const char *const *arguments, struct cn_error *err);

/* Parse the arguments in a file. */
static bool parse_file(struct uftrace_parser *parser, const char *path,
                       struct cn_error *err)
{
    struct cn_file file = {0};
    const char **arguments = NULL;
    size_t count = 0, capacity = 0;
    char *text, *save = NULL;

    if (parser->files++ == OPTION_FILE_DEPTH)
        return cn_fail(err, CN_ERR_USAGE, "--opt-file: more than %d files",
                       OPTION_FILE_DEPTH);
    if (!cn_file_open(&file, path, err))
        return cn_fail_in(err, "--opt-file");
    if (file.bytes.len > OPTION_FILE_MAX) {
        cn_file_close(&file);
        return cn_fail(err, CN_ERR_USAGE, "--opt-file: %s is larger than %d bytes", path,
                       OPTION_FILE_MAX);
    }
    text = cn_arena_copy(parser->memory, (const char *)file.bytes.ptr, file.bytes.len);
    cn_file_close(&file);
    for (char *row = strtok_r(text, "\n", &save); row;
         row = strtok_r(NULL, "\n", &save)) {
        char *in_row = NULL;

        if (row[strspn(row, " \t")] == '#')
            continue;
        for (char *word = strtok_r(row, " \t\r", &in_row); word;
             word = strtok_r(NULL, " \t\r", &in_row)) {
            CN_PUSH(arguments, count, capacity, word);
        }
    }
    bool ok = parse_arguments(parser, count, arguments, err);
    free(arguments);
    return ok;
}

/* True if what follows the first operand belongs to the program, or to the script. */
static bool runs_program(const struct cn_command *command)
{
    return command->program != NULL;
}

static bool is_command(const char *word)
{
    return cn_list_has(names, NAME_COUNT, word);
}

static bool add_given(struct uftrace_parser *parser, const struct cn_option *option,
                      const char *value, struct cn_error *err)
{
    if (strcmp(option->name, "opt-file") == 0)
        return parse_file(parser, value, err);
    CN_PUSH(parser->given, parser->given_count, parser->given_capacity,
            (struct given){option, value});
    return true;
}

/* The first operand names the command, or it is a program for live. Options of each command
 * may stand before it. */
static bool add_operands(struct uftrace_parser *parser, size_t count,
                         const char *const *arguments, struct cn_error *err)
{
    if (count > 0 && parser->command == &cn_cmd_uftrace) {
        parser->command = find_command(is_command(arguments[0]) ? arguments[0] : "live");
        if (is_command(arguments[0]))
            return parse_arguments(parser, count - 1, arguments + 1, err);
    }
    for (size_t i = 0; i < count; i++)
        CN_PUSH(parser->operands, parser->operand_count, parser->operand_capacity,
                arguments[i]);
    return true;
}

static bool parse_arguments(struct uftrace_parser *parser, size_t count,
                            const char *const *arguments, struct cn_error *err)
{
    bool is_known = parser->command != &cn_cmd_uftrace;
    struct cn_command all = {
        .name = cn_cmd_uftrace.name,
        .operand_max = CN_OPERANDS_MAX,
        .options = parser->options,
        .program = is_known ? parser->command->program : "",
    };
    struct cn_args args;
    bool ok = true;

    if (!cn_args_parse(&args, &all, count, arguments, err))
        return false;
    for (size_t i = 0; i < args.given_count && ok; i++)
        ok = add_given(parser, args.given[args.places[i]], args.values[args.places[i]],
                       err);
    ok = ok && add_operands(parser, args.operand_count, args.operands, err);
    cn_args_done(&args);
    return ok;
}

static bool is_given(const struct uftrace_parser *parser, const char *name)
{
    for (size_t i = 0; i < parser->given_count; i++)
        if (strcmp(parser->given[i].option->name, name) == 0)
            return true;
    return false;
}

/* Give an option to the command, if it has it. */
static bool add(struct cn_args *args, const char *name, const char *value,
                struct cn_error *err)
{
    const struct cn_option *option = cn_command_find_option(args->command, name);

    return !option || !option->value != !value || cn_args_add(args, option, value, err);
}

/* Give what uftrace means by an option, if the command has that. */
static bool add_meaning(struct cn_args *args, const struct given *given,
                        struct cn_error *err)
{
    const char *name = given->option->name;

    for (size_t i = 0; i < MEANING_COUNT; i++) {
        const struct cn_option *option =
            cn_command_find_option(args->command, meanings[i].option);
        const char *value = meanings[i].value;

        if (strcmp(meanings[i].name, name) != 0 || !option ||
            (meanings[i].given &&
             (!given->value || strcmp(meanings[i].given, given->value) != 0)))
            continue;
        return (value && !cn_choice_has(option->value, value)) ||
               add(args, option->name, value ? value : given->value, err);
    }
    return add(args, name, given->value, err);
}

/* A program of the current folder is found without "./", before those of PATH. */
static const char *find_program(struct cn_arena *memory, const char *name)
{
    struct stat st;

    return !strchr(name, '/') && stat(name, &st) == 0 && S_ISREG(st.st_mode) &&
                   access(name, X_OK) == 0
               ? cn_arena_printf(memory, "./%s", name)
               : name;
}

/* Operands: of graph a function, of script its arguments. The other views only use the folder
 * of a recording. */
static bool use_operands(const struct uftrace_parser *parser, struct cn_args *args,
                         struct cn_error *err)
{
    bool is_graph = strcmp(args->command->name, "graph") == 0;
    bool is_script = strcmp(args->command->name, "script") == 0;
    bool runs = runs_program(args->command), has_data = cn_args_has(args, "data");
    bool has_program = runs && (!is_script || cn_args_has(args, "record"));

    for (size_t i = 0; i < parser->operand_count; i++) {
        const char *word = parser->operands[i];

        if (runs) {
            cn_args_add_operand(
                args, i == 0 && has_program ? find_program(parser->memory, word) : word);
        } else if (is_graph) {
            cn_args_add_operand(args, word);
        } else if (!has_data && cn_path_is_folder(word)) {
            if (!add(args, "data", word, err))
                return false;
            has_data = true;
        }
    }
    return has_data || (runs && !is_script) || strcmp(args->command->name, "recv") == 0 ||
           add(args, "data", DEFAULT_DATA, err);
}

/* Events of tasks are recorded and shown without being asked for; views show all others that
 * were recorded, unless --no-event. */
static bool asks_event(const struct uftrace_parser *parser)
{
    bool is_view = !runs_program(parser->command);

    for (size_t i = 0; i < parser->given_count; i++)
        if (strcmp(parser->given[i].option->name, "event") == 0 &&
            (is_view || strncmp(parser->given[i].value, "linux:", strlen("linux:")) == 0))
            return true;
    return false;
}

/* The last value of an option that limits the depth; ULONG_MAX without one. */
static unsigned long depth_of(const struct uftrace_parser *parser, const char *name)
{
    unsigned long depth = ULONG_MAX;

    for (size_t i = 0; i < parser->given_count; i++)
        if (strcmp(parser->given[i].option->name, name) == 0)
            depth = strtoul(parser->given[i].value, NULL, 10);
    return depth;
}

/* True if an option has an effect: cairn script records only with --record, and of two limits
 * of the depth of what is recorded the smaller one counts. */
static bool is_used(const struct uftrace_parser *parser, const struct given *given)
{
    const struct cn_option *own =
        cn_command_find_option(parser->command, given->option->name);
    bool is_stack_limit = runs_program(parser->command) &&
                          depth_of(parser, "max-stack") < depth_of(parser, "depth");

    if (own && cn_option_scope(parser->command, own) == CN_FOR_RECORDED &&
        strcmp(parser->command->name, "script") == 0 && !is_given(parser, "record"))
        return false;
    return strcmp(given->option->name, is_stack_limit ? "depth" : "max-stack") != 0 &&
           !(asks_event(parser) && strcmp(given->option->name, "no-event") == 0);
}

/* The options given, and the defaults of uftrace. */
static bool use_options(const struct uftrace_parser *parser, struct cn_args *args,
                        struct cn_error *err)
{
    bool is_live = strcmp(args->command->name, "live") == 0;
    bool is_record = strcmp(args->command->name, "record") == 0;
    bool is_view = !is_live && !is_record && !is_given(parser, "record");

    for (size_t i = 0; i < parser->given_count; i++)
        if (is_used(parser, &parser->given[i]) &&
            !add_meaning(args, &parser->given[i], err))
            return false;
    if ((is_record || (is_live && is_given(parser, "record"))) &&
        !cn_args_has(args, "data") && !add(args, "data", DEFAULT_DATA, err))
        return false;
    return (!is_live || add(args, "replay", NULL, err)) &&
           (!is_record || add(args, "calls", NULL, err)) &&
           (is_view ||
            (add(args, "no-throw", NULL, err) && add(args, "bare-jumps", NULL, err))) &&
           add(args, "raw", NULL, err);
}

bool cn_uftrace_parse(struct cn_uftrace_line *line, size_t argument_count,
                      const char *const *arguments, struct cn_error *err)
{
    enum { DEFAULTS = 8 };
    struct uftrace_parser parser = {.memory = &line->memory, .command = &cn_cmd_uftrace};
    bool ok;

    *line = (struct cn_uftrace_line){0};
    add_all_known(&parser);
    ok = parse_arguments(&parser, argument_count, arguments, err);
    if (parser.command == &cn_cmd_uftrace && parser.given_count > 0 &&
        !is_given(&parser, "help") && !is_given(&parser, "usage"))
        parser.command = find_command("live");
    if (is_given(&parser, "version")) {
        parser.command = &cn_cmd_uftrace;
        parser.operand_count = 0;
    }
    cn_args_begin(&line->args, parser.command, parser.given_count + DEFAULTS,
                  parser.operand_count);
    ok = ok && use_options(&parser, &line->args, err) &&
         use_operands(&parser, &line->args, err) && cn_args_check(&line->args, err);
    free(parser.options);
    free(parser.given);
    free(parser.operands);
    return ok;
}

void cn_uftrace_done(struct cn_uftrace_line *line)
{
    cn_args_done(&line->args);
    cn_arena_done(&line->memory);
}

static void add_features(struct cn_text *text)
{
#if defined(__aarch64__)
    unsigned machine = EM_AARCH64;
#else
    unsigned machine = EM_X86_64;
#endif

    cn_text_str_add(text, "dwarf ");
    cn_script_features_print(text);
#ifdef CN_HAS_NCURSES
    cn_text_str_add(text, "tui ");
#endif
    cn_text_str_add(text, "perf sched ");
    if (cn_prologue_is_known(machine))
        cn_text_str_add(text, "dynamic ");
}

/* Without a command: the version, or the help. */
static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_text text = {0};

    (void)err;
    if (cn_args_has(args, "version")) {
        cn_text_str_add(&text, "cairn v" CN_VERSION " ( " PROCESSOR " ");
        add_features(&text);
        cn_text_str_add(&text, ")\n");
    } else {
        cn_cli_add_help(args, args->command, &text);
    }
    cn_cli_print(args, &text);
    cn_text_done(&text);
    return true;
}

static const struct cn_option options[] = {
    CN_OPTION("version", 'V', NULL, "print the version and the features"),
    CN_OPTION("usage", 0, NULL, "the same as --help"),
    CN_OPTION("opt-file", 0, "FILE",
              "insert the words of FILE; a line that begins with # is a comment"),
    CN_OPTION("record", 0, NULL, "live: do not remove the recording"),
    CN_OPTION("chrome", 0, NULL, "dump: --format=chrome"),
    CN_OPTION("flame-graph", 0, NULL, "dump: --format=flame-graph"),
    CN_OPTION("graphviz", 0, NULL, "dump: --format=graphviz"),
    CN_OPTION("mermaid", 0, NULL, "dump: --format=mermaid"),
    CN_OPTION("disable", 0, NULL, "record, live: --trace=off"),
    CN_OPTION("nop", 0, NULL, "record, live: run the program, record nothing"),
    CN_OPTION("kernel-skip-out", 0, NULL,
              "no effect: kernel functions outside of the program need --kernel-full"),
    CN_OPTION("debug", 0, NULL, "the same as --verbose"),
    CN_OPTION("debug-domain", 0, "DOMAIN,...", "no effect"),
    CN_OPTION("estimate-return", 'e', NULL,
              "no effect: returns are recorded where the stack allows it"),
    CN_OPTION("num-thread", 0, "N",
              "no effect: one process writes the records of all threads"),
    CN_OPTION("max-stack", 0, "N",
              "record, live: --depth; of both, the smaller one counts"),
    CN_OPTION("libmcount-path", 0, "DIR",
              "no effect: the recorder is installed with cairn"),
    CN_OPTION("libmcount-single", 0, NULL,
              "no effect: one recorder serves programs with one and with many threads"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn-uftrace a.out", "run a program of this folder and show its calls"},
    {"cairn-uftrace record -F main a.out", "record into uftrace.data"},
    {"cairn-uftrace replay --tid 1234 -D 3", "show what was recorded"},
    {0},
};

const struct cn_command cn_cmd_uftrace = {
    .name = "uftrace",
    .operands = "[COMMAND] [OPTION]... [PROGRAM [ARGUMENT]...]",
    .operand_max = CN_OPERANDS_MAX,
    .summary = "run cairn with the command line of uftrace",
    .description =
        "Runs cairn with the command line and the defaults of uftrace. cairn-uftrace is "
        "the same program under another name; so is libexec/cairn/uftrace below the "
        "installation prefix: put that folder into PATH before others to run cairn "
        "wherever uftrace was run.\n\n"
        "COMMAND is record, live, replay, report, graph, dump, info, script, recv or "
        "tui, "
        "and live if it is missing. The recording is uftrace.data, live shows the calls, "
        "report and graph "
        "show recorded times, a program of the current folder is found without ./, and a "
        "failure ends with status 1. Every option of these commands is accepted with "
        "each; it has no effect with a command that does not have it. The options below "
        "are those that only uftrace has.",
    .examples = examples,
    .options = options,
    .run = run,
};
