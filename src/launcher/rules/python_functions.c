#include "launcher/rules/python_functions.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "record/shared.h"

_Static_assert((int)CN_REC_PYTHON_MAX == (int)CN_UFT_PYTHON_END, "as readers expect");

/* Make a file of the recording, in which nothing was written before: another launcher may
 * have been killed. */
static bool make_file(const char *dir, const char *name, int *out)
{
    static const char head[] = "# path name: " CN_UFT_PYTHON "\n#\n";
    struct cn_text path = {0};

    cn_text_printf(&path, "%s/%s", dir, name);
    int fd = open(cn_text_str(&path), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
                  0644);
    cn_text_done(&path);
    *out = fd < 0 ? -1 : fd;
    return fd >= 0 && write(fd, head, sizeof(head) - 1) == sizeof(head) - 1;
}

static bool append(int fd, const struct cn_text *text)
{
    return fd > 0 && write(fd, text->chars, text->len) == (ssize_t)text->len;
}

/* A request: "python:T 12 FILE<tab>NAME". */
struct described {
    char type;
    uint64_t line;
    const char *file, *name;
    int file_len;
};

static bool parse(const char *request, struct described *out)
{
    const char *at = request + strlen(CN_REC_PYTHON_PREFIX);
    const char *tab = strchr(at, '\t');
    char *end;

    if (!tab || strlen(at) < 4 || (at[0] != 'T' && at[0] != 'P') || tab[1] == '\0')
        return false;
    out->type = at[0];
    out->line = strtoull(at + 2, &end, 10);
    if (*end != ' ' || end >= tab)
        return false;
    out->file = end + 1;
    out->file_len = (int)(tab - out->file);
    out->name = tab + 1;
    return true;
}

/* Write at once what readers need: the launcher may be killed. */
static bool write_function(struct cn_python_functions *functions, uint32_t number,
                           const struct described *function)
{
    struct cn_text text = {0};
    bool ok;

    if (functions->symbols == 0 &&
        (!make_file(functions->dir, CN_UFT_PYTHON ".sym", &functions->symbols) ||
         !make_file(functions->dir, CN_UFT_PYTHON ".dbg", &functions->debug)))
        return false;
    cn_text_printf(&text, "%016" PRIx32 " %c %s\n", number, function->type,
                   function->name);
    ok = append(functions->symbols, &text);
    if (ok && function->file_len > 0) {
        cn_text_clear(&text);
        cn_text_printf(&text, "F: %" PRIx32 " %s\nL: %" PRIu64 " %.*s\n", number,
                       function->name, function->line, function->file_len,
                       function->file);
        ok = append(functions->debug, &text);
    }
    cn_text_done(&text);
    return ok;
}

uint32_t cn_python_functions_find(struct cn_python_functions *functions,
                                  const char *request, const char **name)
{
    size_t known = functions->requests.count;
    struct described function;

    *name = NULL;
    if (!parse(request, &function))
        return 0;
    uint32_t number = cn_names_add(&functions->requests, request) + 1;
    if (number <= known)
        return number < CN_REC_PYTHON_MAX ? number : 0;
    CN_GROW_TO(functions->rules, number + 1, functions->capacity);
    functions->rules[number] = 0;
    if (number >= CN_REC_PYTHON_MAX || !write_function(functions, number, &function))
        return 0;
    *name = function.name;
    return number;
}

bool cn_python_functions_finish(const struct cn_python_functions *functions,
                                struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = true;

    /* uftrace needs the end of the last function. */
    cn_text_printf(&text, "%016zx ? __sym_end\n", functions->requests.count + 1);
    if (functions->symbols > 0 && !append(functions->symbols, &text))
        ok =
            cn_fail_errno(err, "cannot write '%s/" CN_UFT_PYTHON ".sym'", functions->dir);
    cn_text_done(&text);
    return ok;
}

void cn_python_functions_done(struct cn_python_functions *functions)
{
    cn_names_done(&functions->requests);
    free(functions->rules);
    if (functions->symbols > 0)
        (void)close(functions->symbols);
    if (functions->debug > 0)
        (void)close(functions->debug);
    *functions = (struct cn_python_functions){0};
}
