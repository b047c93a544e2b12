/* What command lines run in the end: through programs that start others, first lines of scripts,
 * and `exec` of the shell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/elf/command.h"

static char folder[] = "/tmp/cairn-command-XXXXXX";

/* Programs in the folder: links to one that exists, or scripts. */
static const struct {
    const char *name, *text; /* NULL: a program */
} files[] = {
    {"python3.11", NULL},
    {"node", NULL},
    {"java", NULL},
    {"javac", NULL},
    {"env", NULL},
    {"timeout", NULL},
    {"sh", NULL},
    {"work", NULL},
    {"script", "#!/usr/bin/env python3.11\nprint(1)\n"},
    {"ruby", "#!/usr/bin/env sh\nset -e\nexec manager exec \"$program\" \"$@\"\n"},
    {"shim", "#!/bin/sh\nif true; then\n  exec work\nfi\n  exec \"node\" \"$@\"\n"},
    {"late", "#!/bin/sh\n# exec node\necho exec node\n$WHAT \"$@\"\n"},
    {"circle", "#!/bin/sh\nexec circle\n"},
    {"empty", "#!\n"},
    {"erl", "#!/bin/sh\nexec \"$BINDIR/erlexec\" ${1+\"$@\"}\n"},
    {"erlc", NULL},
    {"escript", NULL},
    {"hello.escript", "#!/usr/bin/env escript\nmain(_) -> ok.\n"},
};

static const struct {
    const char *words[8];
    const char *language; /* NULL: none */
} commands[] = {
    {{"python3.11", "x.py"}, "Python"},
    {{"env", "-i", "A=node", "python3.11", "x.py"}, "Python"},
    {{"timeout", "5", "env", "java", "-version"}, "Java"},
    {{"sh", "-c", "cd /; A=1 node x.js | cat"}, "JavaScript"},
    {{"script"}, "Python"},
    {{"ruby"}, "Ruby"},
    {{"env", "ruby"}, "Ruby"},
    {{"shim"}, "JavaScript"},
    {{"late"}, NULL},
    {{"circle"}, NULL},
    {{"empty"}, NULL},
    {{"work", "python3.11"}, NULL},
    {{"javac", "x.java"}, NULL},
    {{"erl", "-noshell"}, "Erlang"},
    {{"hello.escript"}, "Erlang"},
    {{"erlc", "x.erl"}, NULL},
    {{"env"}, NULL},
    {{"sh", "-c"}, NULL},
    {{"sh", "-c", ""}, NULL},
    {{"nothing-of-this-name"}, NULL},
};

static void finds_the_interpreter(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        const struct cn_command_language *found =
            cn_command_language_of(commands[i].words);
        const char *language = found ? found->language : "none";

        if (strcmp(language, commands[i].language ? commands[i].language : "none") != 0)
            fail_msg("%s %s: %s", commands[i].words[0],
                     commands[i].words[1] ? commands[i].words[1] : "", language);
    }
}

static void path_of(char path[static 256], const char *name)
{
    (void)snprintf(path, 256, "%s/%s", folder, name);
}

static int make_files(void **state)
{
    char path[256];

    (void)state;
    if (!mkdtemp(folder) || setenv("PATH", folder, 1) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        path_of(path, files[i].name);
        /* An own file for each name: links would all be one program. */
        FILE *file = fopen(path, "we");

        if (!file)
            return -1;
        if (files[i].text) {
            (void)fputs(files[i].text, file);
        } else {
            FILE *self = fopen("/proc/self/exe", "re");
            char block[4096];
            size_t len;

            while (self && (len = fread(block, 1, sizeof(block), self)) > 0)
                (void)fwrite(block, 1, len, file);
            if (self)
                (void)fclose(self);
        }
        if (fclose(file) != 0 || chmod(path, 0755) != 0)
            return -1;
    }
    return 0;
}

static int remove_files(void **state)
{
    char path[256];

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        path_of(path, files[i].name);
        (void)unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_interpreter)};

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
