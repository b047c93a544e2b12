#include "base/host/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/out.h"
#include "base/files/outdir.h"
#include "base/text.h"

static bool copy(struct cn_out *out, struct cn_error *err)
{
    char buffer[1 << 16];
    ssize_t len;

    while ((len = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0)
        if (!cn_out_write(out, buffer, (size_t)len, err))
            return false;
    return len == 0 || cn_fail_errno(err, "cannot read standard input");
}

bool cn_input_spool(char **folder, char **path, struct cn_error *err)
{
    struct cn_out out = {0};

    *folder = cn_temporary_make("input", err);
    if (!*folder)
        return false;
    char *name = cn_strprintf("%s/standard-input", *folder);
    bool ok = cn_out_open(&out, name, err) && copy(&out, err) && cn_out_close(&out, err);
    cn_out_abandon(&out);
    if (!ok) {
        free(name);
        return false;
    }
    free(*path);
    *path = name;
    return true;
}
