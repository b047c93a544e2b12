/* A measurement directory of many ranks, made of copies of a small one:
 *     bench_gen_measurements FROM TO RANKS
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/files/out.h"

static bool copy(const struct cn_file *file, const char *path, struct cn_error *err)
{
    struct cn_out out = {0};
    bool ok = cn_out_open(&out, path, err) &&
              cn_out_write(&out, file->bytes.ptr, file->bytes.len, err) &&
              cn_out_close(&out, err);

    cn_out_abandon(&out);
    return ok;
}

/* "app-000000-001-HOST-PID-0.hpcrun" of each rank. */
static bool copy_ranks(const char *from, const char *to, const char *name, unsigned ranks,
                       struct cn_error *err)
{
    const char *rank = strstr(name, "-000000-");
    struct cn_file file = {0};
    char path[PATH_MAX];
    bool ok = true;

    if (!rank || !cn_file_open_at(&file, from, name, err))
        return !rank;
    for (unsigned i = 0; ok && i < ranks; i++) {
        (void)snprintf(path, sizeof(path), "%s/%.*s-%06u-%s", to, (int)(rank - name),
                       name, i, rank + strlen("-000000-"));
        ok = copy(&file, path, err);
    }
    cn_file_close(&file);
    return ok;
}

static bool copy_folder(const char *from, const char *to, const char *name,
                        struct cn_error *err)
{
    char source[PATH_MAX], target[PATH_MAX];
    struct dirent *entry;
    bool ok = true;
    DIR *dir;

    (void)snprintf(source, sizeof(source), "%s/%s", from, name);
    dir = opendir(source);
    if (!dir)
        return true;
    (void)snprintf(target, sizeof(target), "%s/%s", to, name);
    (void)mkdir(target, 0777);
    while (ok && (entry = readdir(dir))) {
        struct cn_file file = {0};
        char path[2 * PATH_MAX];

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", target, entry->d_name);
        ok = cn_file_open_at(&file, source, entry->d_name, err) && copy(&file, path, err);
        cn_file_close(&file);
    }
    (void)closedir(dir);
    return ok;
}

int main(int argc, char **argv)
{
    struct cn_error err = {0};
    struct dirent *entry;
    bool ok = true;
    DIR *dir;

    if (argc != 4) {
        (void)fprintf(stderr, "usage: bench_gen_measurements FROM TO RANKS\n");
        return 2;
    }
    dir = opendir(argv[1]);
    if (!dir || mkdir(argv[2], 0777) < 0) {
        perror(dir ? argv[2] : argv[1]);
        return 1;
    }
    ok = copy_folder(argv[1], argv[2], "structs", &err) &&
         copy_folder(argv[1], argv[2], "vdso", &err);
    while (ok && (entry = readdir(dir)))
        ok = copy_ranks(argv[1], argv[2], entry->d_name,
                        (unsigned)strtoul(argv[3], NULL, 10), &err);
    (void)closedir(dir);
    if (!ok)
        (void)fprintf(stderr, "bench_gen_measurements: %s\n", err.text);
    return ok ? 0 : 1;
}
