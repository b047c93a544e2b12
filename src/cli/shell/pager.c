#include "cli/shell/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

enum { WORDS_MAX = 16 };

const char *cn_pager_command(void)
{
    const char *command = getenv("CAIRN_PAGER");

    if (!command)
        command = getenv("PAGER");
    if (!command)
        command = "less";
    command += strspn(command, " \t");
    return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* Split a command line at blanks. False if it needs a shell. */
static bool split_words(char *line, char *words[WORDS_MAX + 1])
{
    size_t count = 0;
    char *rest = line, *word;

    if (line[strcspn(line, "|&;<>()$`\\\"'*?[#~%")])
        return false;
    while ((word = strtok_r(rest, " \t", &rest))) {
        if (count == WORDS_MAX)
            return false;
        words[count++] = word;
    }
    words[count] = NULL;
    return true;
}

/* The pager's process id; 0 if it cannot be started. */
static pid_t spawn(const char *command, int input)
{
    char shell[] = "sh", run_text[] = "-c";
    char *line = cn_strdup(command), *whole = cn_strdup(command);
    char *words[WORDS_MAX + 1] = {shell, run_text, whole, NULL};
    char *split[WORDS_MAX + 1];
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    int failed = posix_spawn_file_actions_init(&actions);

    if (!failed) {
        char **argv = split_words(line, split) ? split : words;

        failed = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        if (!failed)
            failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    free(line);
    free(whole);
    return failed ? 0 : pid;
}

void cn_pager_begin(struct cn_pager *pager)
{
    const char *command = cn_pager_command();
    int ends[2];

    if (pager->pid != 0 || !command || fflush(stdout) != 0 || pipe2(ends, O_CLOEXEC) != 0)
        return;
    /* F: quit if all fits on the screen; R: pass colours; X: do not clear the screen. */
    (void)setenv("LESS", "FRX", 0);
    pager->pid = spawn(command, ends[0]);
    if (pager->pid != 0 && dup2(ends[1], STDOUT_FILENO) >= 0) {
        /* Ctrl-C is for the pager. When it ends, SIGPIPE ends us. */
        (void)signal(SIGINT, SIG_IGN);
        (void)signal(SIGQUIT, SIG_IGN);
    }
    (void)close(ends[0]);
    (void)close(ends[1]);
}

void cn_pager_end(struct cn_pager *pager)
{
    if (pager->pid == 0)
        return;
    (void)fclose(stdout);
    while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    pager->pid = 0;
}
