#include "launcher/elf/file.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/bytes.h"
#include "base/text.h"
#include "launcher/elf/reader.h"

enum {
    NOTE_TYPE = 3,
    NAME_MAX_LEN = 256, /* of provider and probe together */
    PROBES_MAX = 1 << 16,
    LIST_MAX = 1 << 20, /* bytes of a loader's output */
    FILES_MAX = 1024,
};

extern char **environ;

/* The offset in the file of an address; 0: none. */
static uint64_t off_of(const struct cn_elf_reader *reader, uint64_t address)
{
    size_t count = 0;

    (void)elf_getphdrnum(reader->elf, &count);
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Phdr segment;

        if (gelf_getphdr(reader->elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
            address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
            return address - segment.p_vaddr + segment.p_offset;
    }
    return 0;
}

static bool take_text(struct cn_bytes *rest, const char **out)
{
    struct cn_bytes text;

    *out = (const char *)rest->ptr;
    return cn_bytes_take_until(rest, '\0', &text);
}

/* Addresses of the probe, of the section .stapsdt.base when it was linked, and of the
 * semaphore; then provider and name. `base` is where that section is now. */
static void add_note(struct cn_sdt_file *file, size_t *capacity,
                     const struct cn_elf_reader *reader, uint64_t base,
                     struct cn_bytes note)
{
    uint64_t words[3];
    const char *provider, *name;
    struct cn_bytes rest;
    struct cn_sdt_probe probe = {0};
    struct cn_text text = {0};

    if (note.len < sizeof(words) || file->count == PROBES_MAX)
        return;
    memcpy(words, note.ptr, sizeof(words));
    rest = (struct cn_bytes){note.ptr + sizeof(words), note.len - sizeof(words)};
    if (!take_text(&rest, &provider) || !take_text(&rest, &name) || !*provider ||
        !*name || strlen(provider) + strlen(name) > NAME_MAX_LEN ||
        strpbrk(provider, " \n") || strpbrk(name, " \n"))
        return;
    /* Prelink may have moved the file since. */
    if (base > 0 && words[1] > 0) {
        words[0] += base - words[1];
        words[2] += words[2] > 0 ? base - words[1] : 0;
    }
    probe.off = off_of(reader, words[0]);
    probe.semaphore_off = words[2] > 0 ? off_of(reader, words[2]) : 0;
    if (probe.off == 0 || (words[2] > 0 && probe.semaphore_off == 0))
        return;
    cn_text_printf(&text, "%s:%s", provider, name);
    probe.name = text.chars;
    CN_PUSH(file->probes, file->count, *capacity, probe);
}

static void read_notes(struct cn_sdt_file *file, size_t *capacity,
                       const struct cn_elf_reader *reader, uint64_t base,
                       Elf_Scn *section)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t off = 0, name_off, note_off;
    GElf_Nhdr head;

    while (data && (off = gelf_getnote(data, off, &head, &name_off, &note_off)) > 0) {
        const char *owner = (const char *)data->d_buf + name_off;

        if (head.n_type == NOTE_TYPE && head.n_namesz == sizeof("stapsdt") &&
            memcmp(owner, "stapsdt", sizeof("stapsdt")) == 0)
            add_note(file, capacity, reader, base,
                     (struct cn_bytes){(const uint8_t *)data->d_buf + note_off,
                                       head.n_descsz});
    }
}

static void read_file(struct cn_sdt_file *file, const char *path)
{
    struct cn_elf_reader reader;
    Elf_Scn *section = NULL, *notes = NULL;
    uint64_t base = 0;
    size_t names, capacity = 0;

    *file = (struct cn_sdt_file){.path = cn_strdup(path)};
    if (cn_elf_reader_open(&reader, path) &&
        reader.head.e_ident[EI_CLASS] == ELFCLASS64 &&
        reader.head.e_ident[EI_DATA] == ELFDATA2LSB &&
        elf_getshdrstrndx(reader.elf, &names) == 0) {
        while ((section = elf_nextscn(reader.elf, section))) {
            GElf_Shdr head;
            const char *name = gelf_getshdr(section, &head)
                                   ? elf_strptr(reader.elf, names, head.sh_name)
                                   : NULL;

            if (name && strcmp(name, ".stapsdt.base") == 0)
                base = head.sh_addr;
            if (name && strcmp(name, ".note.stapsdt") == 0 && head.sh_type == SHT_NOTE)
                notes = section;
        }
        if (notes)
            read_notes(file, &capacity, &reader, base, notes);
    }
    cn_elf_reader_close(&reader);
}

/* The loader of a program, to be released with free(); NULL: it has none. */
static char *find_loader(const char *program)
{
    struct cn_elf_reader reader;
    size_t count = 0;
    char *found = NULL;

    if (cn_elf_reader_open(&reader, program))
        (void)elf_getphdrnum(reader.elf, &count);
    for (size_t i = 0; i < count && i <= INT32_MAX && !found; i++) {
        GElf_Phdr segment;
        size_t len = 0;

        if (!gelf_getphdr(reader.elf, (int)i, &segment) || segment.p_type != PT_INTERP)
            continue;
        const char *raw = elf_rawfile(reader.elf, &len);
        if (raw && segment.p_offset < len && segment.p_filesz <= len - segment.p_offset &&
            segment.p_filesz > 1)
            found = strndup(raw + segment.p_offset, segment.p_filesz);
    }
    cn_elf_reader_close(&reader);
    return found;
}

/* The loader's list of libraries: "libc.so.6 => /lib/libc.so.6 (0x...)". */
static void list_libraries(const char *loader, const char *program, struct cn_text *out)
{
    const char *words[] = {loader, "--list", program, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], status;
    pid_t pid;
    ssize_t len = 0;

    if (pipe(ends) != 0)
        return;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, ends[0]);
    (void)posix_spawn_file_actions_addclose(&actions, ends[1]);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    if (posix_spawn(&pid, loader, &actions, NULL, (char **)(uintptr_t)words, environ) ==
        0) {
        (void)close(ends[1]);
        while (out->len < LIST_MAX &&
               ((len = read(ends[0], cn_text_room(out, 4096), 4096)) > 0 ||
                (len < 0 && errno == EINTR)))
            cn_text_advance(out, len > 0 ? (size_t)len : 0);
        (void)close(ends[0]);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    } else {
        (void)close(ends[0]);
        (void)close(ends[1]);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
}

static struct cn_sdt_file *add_file(struct cn_sdt_file *files, size_t *count,
                                    size_t *capacity, const char *path)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(files[i].path, path) == 0)
            return files;
    CN_GROW(files, *count, *capacity);
    read_file(&files[(*count)++], path);
    return files;
}

struct cn_sdt_file *cn_sdt_files_read(const char *program, size_t *count)
{
    struct cn_text list = {0};
    struct cn_sdt_file *files = NULL;
    char *loader = find_loader(program), *rest, *line;
    size_t capacity = 0;

    *count = 0;
    files = add_file(files, count, &capacity, program);
    if (loader)
        list_libraries(loader, program, &list);
    rest = list.len > 0 ? list.chars : NULL;
    while ((line = strsep(&rest, "\n")) && *count < FILES_MAX) {
        char *path = strchr(line, '/'), *end = path ? strstr(path, " (0x") : NULL;

        if (!end)
            continue;
        *end = '\0';
        char *real = realpath(path, NULL);
        files = add_file(files, count, &capacity, real ? real : path);
        free(real);
    }
    cn_text_done(&list);
    free(loader);
    return files;
}

void cn_sdt_files_free(struct cn_sdt_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < files[i].count; k++)
            free(files[i].probes[k].name);
        free(files[i].probes);
        free(files[i].path);
    }
    free(files);
}
