#include "cli/shell/uftrace.h"

#include <elf.h>
#include <limits.h>
#include <stdint.h>
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

#define DEFAULT_DATA "--data=uftrace.data"

enum { OPTION_FILE_MAX = 1 << 20, OPTION_FILE_DEPTH = 8 };

static const char *const names[] = {
    "live", "record", "replay", "report", "graph",
    "dump", "info",   "script", "recv",   "tui",
};
enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

/* What an option of uftrace is called here, for the commands that have it; the value of
 * the option decides between several. */
static const struct {
    const char *name, *value, *word;
} meanings[] = {
    {"chrome", NULL, "--format=chrome"},
    {"flame-graph", NULL, "--format=flame-graph"},
    {"graphviz", NULL, "--format=graphviz"},
    {"mermaid", NULL, "--format=mermaid"},
    {"disable", NULL, "--trace=off"},
    {"debug", NULL, "--verbose"},
    {"usage", NULL, "--help"},
    {"max-stack", NULL, "--depth"},
    {"clock", "mono", "--clock=counter"},
    {"Event", NULL, "--event"},
    {"format", "normal", "--format=text"},
    {"color", "yes", "--color=always"},
    {"color", "true", "--color=always"},
    {"color", "1", "--color=always"},
    {"color", "on", "--color=always"},
    {"color", "no", "--color=never"},
    {"color", "false", "--color=never"},
    {"color", "0", "--color=never"},
    {"color", "off", "--color=never"},
};

struct given {
    const struct cn_option *option;
    const char *value; /* NULL for a flag */
};

struct parser {
    struct cn_uftrace_line *line;
    const char **words; /* grows where a file of options is read */
    size_t word_count, word_capacity, next;
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

/* Command `i` of uftrace that cairn has, after the options that only uftrace has; NULL after
 * the last. */
static const struct cn_command *command_at(size_t i)
{
    if (i-- == 0)
        return &cn_cmd_uftrace;
    for (size_t n = 0; n < NAME_COUNT; n++)
        for (size_t c = 0; cn_commands[c]; c++)
            if (strcmp(cn_commands[c]->name, names[n]) == 0 && i-- == 0)
                return cn_commands[c];
    return NULL;
}

static const struct cn_option *find_in(const struct cn_command *command, const char *name)
{
    const struct cn_option *option;
    size_t i = 0;

    while ((option = cn_command_option(command, i)) && strcmp(option->name, name) != 0)
        i++;
    return option;
}

/* The option of any command with this name, or the only one that begins with it. */
static bool find_long(const char *name, const struct cn_option **out,
                      struct cn_error *err)
{
    const struct cn_command *command;
    const struct cn_option *option, *prefixed = NULL;

    for (size_t c = 0; (command = command_at(c)); c++) {
        if ((*out = find_in(command, name)))
            return true;
    }
    for (size_t c = 0; (command = command_at(c)); c++) {
        for (size_t i = 0; (option = cn_command_option(command, i)); i++) {
            if (!*name || strncmp(option->name, name, strlen(name)) != 0)
                continue;
            if (prefixed && strcmp(prefixed->name, option->name) != 0)
                return cn_fail(err, CN_ERR_USAGE, "option --%s is ambiguous: --%s, --%s",
                               name, prefixed->name, option->name);
            prefixed = option;
        }
    }
    *out = prefixed;
    return prefixed || cn_fail(err, CN_ERR_USAGE, "unknown option --%s", name);
}

static bool find_letter(char letter, const struct cn_option **out, struct cn_error *err)
{
    const struct cn_command *command;

    for (size_t c = 0; (command = command_at(c)); c++)
        for (size_t i = 0; (*out = cn_command_option(command, i)); i++)
            if ((*out)->letter == letter)
                return true;
    return cn_fail(err, CN_ERR_USAGE, "unknown option -%c", letter);
}

/* Insert the words of a file at the next word. */
static bool read_option_file(struct parser *parser, const char *path,
                             struct cn_error *err)
{
    struct cn_file file = {0};
    size_t rest_len = parser->word_count - parser->next, count = 0;
    const char **rest;
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
    text = cn_arena_copy(&parser->line->memory, (const char *)file.bytes.ptr,
                         file.bytes.len);
    cn_file_close(&file);
    rest = cn_alloc(rest_len, sizeof(*rest));
    if (rest_len > 0)
        memcpy(rest, parser->words + parser->next, rest_len * sizeof(*rest));
    parser->word_count = parser->next;
    for (char *row = strtok_r(text, "\n", &save); row;
         row = strtok_r(NULL, "\n", &save)) {
        char *in_row = NULL;

        if (row[strspn(row, " \t")] == '#')
            continue;
        for (char *word = strtok_r(row, " \t\r", &in_row); word;
             word = strtok_r(NULL, " \t\r", &in_row), count++) {
            CN_PUSH(parser->words, parser->word_count, parser->word_capacity, word);
        }
    }
    CN_GROW_TO(parser->words, parser->word_count + rest_len, parser->word_capacity);
    if (rest_len > 0)
        memcpy(parser->words + parser->word_count, rest, rest_len * sizeof(*rest));
    parser->word_count += rest_len;
    free(rest);
    return true;
}

/* `value` is attached to the option, or NULL: then it is the next word. */
static bool add_given(struct parser *parser, const struct cn_option *option,
                      const char *value, struct cn_error *err)
{
    if (option->value && !value) {
        if (parser->next == parser->word_count)
            return cn_fail(err, CN_ERR_USAGE, "option --%s needs a value: %s",
                           option->name, option->value);
        value = parser->words[parser->next++];
    }
    if (strcmp(option->name, "opt-file") == 0)
        return read_option_file(parser, value, err);
    CN_PUSH(parser->given, parser->given_count, parser->given_capacity,
            (struct given){option, value});
    return true;
}

static bool parse_long(struct parser *parser, const char *word, struct cn_error *err)
{
    const char *equals = strchr(word, '=');
    const char *name =
        equals ? cn_arena_copy(&parser->line->memory, word, (size_t)(equals - word))
               : word;
    const struct cn_option *option;

    if (!find_long(name, &option, err))
        return false;
    if (equals && !option->value)
        return cn_fail(err, CN_ERR_USAGE, "option --%s takes no value, got '%s'",
                       option->name, equals + 1);
    return add_given(parser, option, equals ? equals + 1 : NULL, err);
}

static bool parse_letters(struct parser *parser, const char *letters,
                          struct cn_error *err)
{
    for (; *letters; letters++) {
        const struct cn_option *option;

        if (!find_letter(*letters, &option, err))
            return false;
        if (option->value)
            return add_given(parser, option, letters[1] ? letters + 1 : NULL, err);
        if (!add_given(parser, option, NULL, err))
            return false;
    }
    return true;
}

/* True if what follows the first operand belongs to the program, or to the script. */
static bool runs_program(const struct cn_command *command)
{
    return strcmp(command->name, "live") == 0 || strcmp(command->name, "record") == 0 ||
           strcmp(command->name, "script") == 0;
}

/* The command that the first operand names: `live` if it is a program. */
static bool choose_command(struct parser *parser, const char *word, bool *is_name,
                           struct cn_error *err)
{
    *is_name = false;
    for (size_t i = 0; i < NAME_COUNT; i++)
        *is_name |= strcmp(names[i], word) == 0;
    return cn_command_choose(cn_commands, *is_name ? word : "live",
                             &parser->line->command, err);
}

static void add_operand(struct parser *parser, const char *word)
{
    CN_PUSH(parser->operands, parser->operand_count, parser->operand_capacity, word);
}

static bool parse_words(struct parser *parser, struct cn_error *err)
{
    const struct cn_command **command = &parser->line->command;
    bool options_ended = false, is_name;

    while (parser->next < parser->word_count) {
        const char *word = parser->words[parser->next++];

        if (!options_ended && strcmp(word, "--") == 0) {
            options_ended = true;
        } else if (!options_ended && word[0] == '-' && word[1] != '\0') {
            if (!(word[1] == '-' ? parse_long(parser, word + 2, err)
                                 : parse_letters(parser, word + 1, err)))
                return false;
        } else if (*command == &cn_cmd_uftrace) {
            if (!choose_command(parser, word, &is_name, err))
                return false;
            if (!is_name)
                add_operand(parser, word);
            options_ended |= !is_name;
        } else {
            add_operand(parser, word);
            options_ended |= runs_program(parser->line->command);
        }
    }
    return true;
}

static void add_word(struct cn_uftrace_line *line, const char *word, size_t *capacity)
{
    CN_PUSH(line->words, line->word_count, *capacity, word);
}

static bool is_given(const struct parser *parser, const char *name)
{
    for (size_t i = 0; i < parser->given_count; i++)
        if (strcmp(parser->given[i].option->name, name) == 0)
            return true;
    return false;
}

/* Options of cairn script that only matter with --record. */
static bool is_for_recording(const char *name)
{
    static const char *const list[] = {"argument",     "retval", "auto-args",
                                       "nest-libcall", "patch",  "unpatch"};

    return cn_list_has(list, CN_COUNT_OF(list), name);
}

/* The word that gives this option to the command; NULL if the command does not have it. */
static const char *word_of(const struct parser *parser, const struct given *given)
{
    struct cn_uftrace_line *line = parser->line;
    const char *name = given->option->name;
    const struct cn_option *option;
    bool is_view_of_script =
        strcmp(line->command->name, "script") == 0 && !is_given(parser, "record");

    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
        const char *value = meanings[i].value, *word = meanings[i].word + 2;

        if (strcmp(meanings[i].name, name) != 0 ||
            (value && (!given->value || strcmp(value, given->value) != 0)))
            continue;
        name = cn_arena_copy(&line->memory, word, strcspn(word, "="));
        return !find_in(line->command, name) ? NULL
               : given->option->value && !value
                   ? cn_arena_printf(&line->memory, "%s=%s", meanings[i].word,
                                     given->value)
                   : meanings[i].word;
    }
    option = find_in(line->command, name);
    if (is_view_of_script && is_for_recording(name))
        return NULL;
    if (!option || !option->value != !given->value) /* another option of this name */
        return NULL;
    return given->value ? cn_arena_printf(&line->memory, "--%s=%s", name, given->value)
                        : cn_arena_printf(&line->memory, "--%s", name);
}

/* A program of the current folder is found without "./", before those of PATH. */
static const char *find_program(struct cn_uftrace_line *line, const char *name)
{
    struct stat st;

    return !strchr(name, '/') && stat(name, &st) == 0 && S_ISREG(st.st_mode) &&
                   access(name, X_OK) == 0
               ? cn_arena_printf(&line->memory, "./%s", name)
               : name;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Operands: of graph a function, of script its arguments. The other views only use the folder
 * of a recording. */
static void add_operands(const struct parser *parser, size_t *capacity)
{
    struct cn_uftrace_line *line = parser->line;
    bool is_graph = strcmp(line->command->name, "graph") == 0;
    bool runs = runs_program(line->command), has_data = is_given(parser, "data");
    bool is_script = strcmp(line->command->name, "script") == 0;
    bool has_program = runs && (!is_script || is_given(parser, "record"));

    if (is_script && !has_data)
        add_word(line, DEFAULT_DATA, capacity);
    if (runs)
        add_word(line, "--", capacity);
    for (size_t i = 0; i < parser->operand_count; i++) {
        const char *word = parser->operands[i];

        if (runs) {
            add_word(line, i == 0 && has_program ? find_program(line, word) : word,
                     capacity);
        } else if (!is_graph && !has_data && is_folder(word)) {
            add_word(line, cn_arena_printf(&line->memory, "--data=%s", word), capacity);
            has_data = true;
        } else if (is_graph) {
            add_word(line, word, capacity);
        }
    }
    if (!runs && !has_data && strcmp(line->command->name, "recv") != 0 &&
        find_in(line->command, "data"))
        add_word(line, DEFAULT_DATA, capacity);
}

/* Events of tasks are recorded and shown without being asked for; views show all others that
 * were recorded, unless --no-event. */
static bool asks_event(const struct parser *parser)
{
    bool is_view = !runs_program(parser->line->command);

    for (size_t i = 0; i < parser->given_count; i++)
        if (strcmp(parser->given[i].option->name, "event") == 0 &&
            (is_view || strncmp(parser->given[i].value, "linux:", strlen("linux:")) == 0))
            return true;
    return false;
}

/* The last value of an option that limits the depth; ULONG_MAX without one. */
static unsigned long depth_of(const struct parser *parser, const char *name)
{
    unsigned long depth = ULONG_MAX;

    for (size_t i = 0; i < parser->given_count; i++)
        if (strcmp(parser->given[i].option->name, name) == 0)
            depth = strtoul(parser->given[i].value, NULL, 10);
    return depth;
}

static void add_options(const struct parser *parser, size_t *capacity)
{
    struct cn_uftrace_line *line = parser->line;
    bool is_live = strcmp(line->command->name, "live") == 0;
    bool is_record = strcmp(line->command->name, "record") == 0 ||
                     (is_live && is_given(parser, "record"));
    bool has_events = asks_event(parser);
    /* Both limit the depth of what is recorded: the smaller one counts. */
    bool is_stack_limit = runs_program(line->command) &&
                          depth_of(parser, "max-stack") < depth_of(parser, "depth");

    for (size_t i = 0; i < parser->given_count; i++) {
        const char *name = parser->given[i].option->name;
        const char *word = word_of(parser, &parser->given[i]);

        if (word && !(has_events && strcmp(name, "no-event") == 0) &&
            strcmp(name, is_stack_limit ? "depth" : "max-stack") != 0)
            add_word(line, word, capacity);
    }
    if (is_record && !is_given(parser, "data"))
        add_word(line, DEFAULT_DATA, capacity);
    if (is_live)
        add_word(line, "--replay", capacity);
    else if (is_record)
        add_word(line, "--calls", capacity);
    if (find_in(line->command, "no-throw"))
        add_word(line, "--no-throw", capacity);
    if (find_in(line->command, "bare-jumps"))
        add_word(line, "--bare-jumps", capacity);
    if (find_in(line->command, "raw"))
        add_word(line, "--raw", capacity);
}

bool cn_uftrace_translate(struct cn_uftrace_line *line, size_t word_count,
                          const char *const *words, struct cn_error *err)
{
    struct parser parser = {.line = line, .word_count = word_count};
    size_t capacity = 0;
    bool ok;

    *line = (struct cn_uftrace_line){.command = &cn_cmd_uftrace};
    parser.words =
        cn_grow_to(NULL, word_count + 1, &parser.word_capacity, sizeof(*parser.words));
    if (word_count > 0)
        memcpy(parser.words, words, word_count * sizeof(*words));
    ok = parse_words(&parser, err);
    if (ok && is_given(&parser, "version")) {
        line->command = &cn_cmd_uftrace;
        parser.operand_count = 0;
    }
    if (ok) {
        add_options(&parser, &capacity);
        add_operands(&parser, &capacity);
    }
    free(parser.words);
    free(parser.given);
    free(parser.operands);
    return ok;
}

void cn_uftrace_done(struct cn_uftrace_line *line)
{
    free(line->words);
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
    {.name = "version", .letter = 'V', .help = "print the version and the features"},
    {.name = "usage", .help = "the same as --help"},
    {.name = "opt-file",
     .value = "FILE",
     .help = "insert the words of FILE; a line that begins with # is a comment"},
    {.name = "record", .help = "live: do not remove the recording"},
    {.name = "chrome", .help = "dump: --format=chrome"},
    {.name = "flame-graph", .help = "dump: --format=flame-graph"},
    {.name = "graphviz", .help = "dump: --format=graphviz"},
    {.name = "mermaid", .help = "dump: --format=mermaid"},
    {.name = "disable", .help = "record, live: --trace=off"},
    {.name = "debug", .help = "the same as --verbose"},
    {.name = "debug-domain", .value = "DOMAIN,...", .help = "no effect"},
    {.name = "estimate-return",
     .letter = 'e',
     .help = "no effect: returns are recorded where the stack allows it"},
    {.name = "num-thread",
     .value = "N",
     .help = "no effect: one process writes the records of all threads"},
    {.name = "max-stack",
     .value = "N",
     .help = "record, live: --depth; of both, the smaller one counts"},
    {.name = "libmcount-path",
     .value = "DIR",
     .help = "no effect: the recorder is installed with cairn"},
    {.name = "libmcount-single",
     .help = "no effect: one recorder serves programs with one and with many threads"},
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
    .section = CN_SECTION_RECORDING,
    .operands = "[COMMAND] [OPTION]... [PROGRAM [ARGUMENT]...]",
    .operand_max = CN_OPERANDS_MAX,
    .summary = "do the same with the command line of uftrace",
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
