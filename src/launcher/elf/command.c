#include "launcher/elf/command.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"

enum {
    STEPS_MAX = 8,         /* programs that run others */
    TEXT_MAX = 16 << 10,   /* of a script that is searched for `exec` */
    COMMAND_WORDS_MAX = 64 /* of a text */
};

static const char blanks[] = " \t";

static bool is_among(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

const struct cn_command_language *cn_command_language_find(const char *path)
{
    static const struct cn_command_language list[] = {
        {"python", "Python", true},    {"java", "Java", false},
        {"node", "JavaScript", false}, {"ruby", "Ruby", false},
        {"perl", "Perl", false},       {"php", "PHP", false},
        {"erl", "Erlang", false},      {"escript", "Erlang", false},
        {"beam.smp", "Erlang", false},
    };
    static const char *const endings[] = {"", "d", "t", "td", "-dbg", "js", NULL};
    const char *name = cn_path_name(path);

    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        size_t len = strlen(list[i].prefix);

        /* python3.11, php8.2, nodejs: not javac, perldoc or node-gyp. */
        if (strncmp(name, list[i].prefix, len) == 0 &&
            is_among(name + len + strspn(name + len, "0123456789."), endings))
            return &list[i];
    }
    return NULL;
}

/* Programs that run what a later word names. */
static bool is_starter(const char *path)
{
    static const char *const list[] = {
        "env",     "nice",   "nohup", "timeout", "setsid",  "stdbuf", "chrt",
        "taskset", "ionice", "time",  "numactl", "setarch", NULL};

    return is_among(cn_path_name(path), list);
}

static bool is_shell(const char *path)
{
    static const char *const list[] = {"sh", "bash", "dash", "ksh", "zsh", NULL};

    return is_among(cn_path_name(path), list);
}

/* The words of one line for the shell, as far as they can be known without running it. */
struct shell_words {
    char *text;
    const char *list[COMMAND_WORDS_MAX + 1];
};

static void split(struct shell_words *words, const char *text, size_t len)
{
    static const char separators[] = " \t\n;&|()'\"";
    size_t count = 0;
    char *rest, *word;

    free(words->text);
    words->text = rest = cn_alloc(len + 1, 1);
    memcpy(rest, text, len);
    while (count < COMMAND_WORDS_MAX && (word = strsep(&rest, separators)))
        if (*word)
            words->list[count++] = word;
    words->list[count] = NULL;
}

/* The last line of a script that replaces the shell: "exec python3 \"$@\"". */
static bool find_exec(const char *path, struct shell_words *words)
{
    char *text = cn_alloc(TEXT_MAX + 1, 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, text, TEXT_MAX) : -1;
    bool is_found = false;

    if (fd >= 0)
        (void)close(fd);
    for (char *line = text; len > 0 && line;) {
        char *end = strchr(line, '\n');
        const char *at = line + strspn(line, blanks);

        if (strncmp(at, "exec", 4) == 0 && isblank((unsigned char)at[4])) {
            split(words, at + 5, end ? (size_t)(end - at - 5) : strlen(at + 5));
            is_found = words->list[0] != NULL;
        }
        line = end ? end + 1 : NULL;
    }
    free(text);
    return is_found;
}

/* The first word, from this one on, that is a program and no option or variable. */
static const char *const *find_program(const char *const *words)
{
    for (; *words; words++) {
        struct cn_program_file program;
        struct cn_error ignored = {0};

        if (**words == '-' || strchr(*words, '=') ||
            !cn_program_file_open(&program, *words, &ignored))
            continue;
        cn_program_file_close(&program);
        return words;
    }
    return NULL;
}

/* The words that a program runs; NULL: it runs none that are known. Its own are the first
 * ones. */
static const char *const *find_next(const struct cn_program_file *program,
                                    const char *const *words,
                                    struct shell_words *split_to)
{
    if (program->is_script) {
        char path[PATH_MAX], word[NAME_MAX];

        cn_program_first_line(program->path, path, word);
        bool is_env = strcmp(cn_path_name(path), "env") == 0 && word[0];
        const char *runner = is_env ? word : path;

        if (!is_shell(runner))
            split(split_to, runner, strlen(runner));
        else if (cn_command_language_find(words[0]) ||
                 !find_exec(program->path, split_to))
            return NULL;
        return split_to->list[0] ? split_to->list : NULL;
    }
    if (is_starter(program->path))
        return find_program(words + 1);
    if (is_shell(program->path) && words[1] && strcmp(words[1], "-c") == 0 && words[2]) {
        /* The words before stay valid: `words` may be a part of them. */
        struct shell_words text = {0};

        split(&text, words[2], strlen(words[2]));
        free(split_to->text);
        *split_to = text;
        return find_program(split_to->list);
    }
    return NULL;
}

bool cn_command_open(struct cn_program_file *program, const char *const *words,
                     struct cn_error *err)
{
    struct shell_words texts[STEPS_MAX] = {{0}};
    bool ok = cn_program_file_open(program, words[0], err);

    for (size_t i = 0; ok && i < STEPS_MAX; i++) {
        const char *const *next = find_next(program, words, &texts[i]);
        struct cn_program_file inner;
        struct cn_error ignored = {0};

        if (!next || !cn_program_file_open(&inner, next[0], &ignored))
            break;
        cn_program_file_close(program);
        *program = inner;
        words = next;
    }
    for (size_t i = 0; i < STEPS_MAX; i++)
        free(texts[i].text);
    return ok;
}

const struct cn_command_language *cn_command_language_of(const char *const *words)
{
    struct cn_program_file program = {0};
    struct cn_error ignored = {0};
    const struct cn_command_language *found = NULL;

    if (cn_command_open(&program, words, &ignored))
        found = cn_command_language_find(program.path);
    cn_program_file_close(&program);
    return found;
}
