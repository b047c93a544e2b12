#include "sampler/synthesis.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/path.h"
#include "base/text.h"
#include "launcher/elf/file.h"

enum {
    HEAD_LEN = 8,
    TRAILER_LEN = 32, /* pid, tid, time, processor, identifier */
    BUILD_ID_MAX = 20,
    PATH_LEN_MAX = 4096,
    THREADS_MAX = 1 << 16,
};

static void put_str(struct cn_text *text, const char *str)
{
    size_t len = strlen(str);

    cn_text_add(text, str, len);
    cn_text_fill(text, '\0', cn_align_up(len + 1, 8) - len);
}

/* Give a head and a trailer to the body of a record, and deliver it. */
static bool deliver(const struct cn_synthesis *to, uint32_t type, uint16_t misc,
                    uint32_t pid, uint32_t tid, const struct cn_text *body,
                    struct cn_error *err)
{
    size_t len = HEAD_LEN + body->len + TRAILER_LEN;
    struct cn_text record = {0};

    cn_wire_u32(&record, type);
    cn_wire_u32(&record, (uint32_t)(len << 16) | misc);
    cn_text_add(&record, body->chars, body->len);
    cn_wire_u32(&record, pid);
    cn_wire_u32(&record, tid);
    cn_wire_u64(&record, to->time_ns);
    cn_wire_u64(&record, 0);
    cn_wire_u64(&record, 0); /* the event that reports tasks */
    bool ok = to->take(to->arg, (uint8_t *)record.chars, record.len, to->time_ns, err);
    cn_text_done(&record);
    return ok;
}

static bool deliver_name(const struct cn_synthesis *to, pid_t pid, pid_t tid,
                         uint16_t misc, const char *otherwise, struct cn_error *err)
{
    char path[64], name[64] = "";
    struct cn_text body = {0};

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
    FILE *file = fopen(path, "re");
    if (!file && !otherwise)
        return true;
    if (!file || !fgets(name, sizeof(name), file))
        (void)snprintf(name, 16, "%s", otherwise ? otherwise : "");
    if (file)
        (void)fclose(file);
    name[strcspn(name, "\n")] = '\0';
    cn_wire_u32(&body, (uint32_t)pid);
    cn_wire_u32(&body, (uint32_t)tid);
    put_str(&body, name);
    bool ok =
        deliver(to, PERF_RECORD_COMM, misc, (uint32_t)pid, (uint32_t)tid, &body, err);
    cn_text_done(&body);
    return ok;
}

/* A thread of a process, as if its first thread had started it. */
static bool deliver_thread(const struct cn_synthesis *to, pid_t pid, pid_t tid,
                           struct cn_error *err)
{
    struct cn_text body = {0};

    cn_wire_u32(&body, (uint32_t)pid);
    cn_wire_u32(&body, (uint32_t)pid);
    cn_wire_u32(&body, (uint32_t)tid);
    cn_wire_u32(&body, (uint32_t)pid);
    cn_wire_u64(&body, to->time_ns);
    bool ok = deliver(to, PERF_RECORD_FORK, 0, (uint32_t)pid, (uint32_t)tid, &body, err);
    cn_text_done(&body);
    return ok;
}

/* The build-id as MMAP2 has it: length, 3 unused bytes, and 20 bytes. */
static bool put_build_id(struct cn_text *body, const char *path)
{
    char hex[41] = "";
    uint8_t id[BUILD_ID_MAX] = {0};

    if (path[0] == '/')
        cn_elf_build_id_read(path, hex);
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

        id[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    cn_wire_u32(body, (uint32_t)len);
    cn_text_add(body, (const char *)id, sizeof(id));
    return len > 0;
}

struct mapping {
    uint64_t begin, end, file_off;
    bool is_code;
    const char *path;
};

static bool deliver_mapping(const struct cn_synthesis *to, pid_t pid,
                            const struct mapping *mapping, struct cn_error *err)
{
    struct cn_text body = {0};
    uint16_t misc = PERF_RECORD_MISC_USER;

    misc |= mapping->is_code ? 0 : PERF_RECORD_MISC_MMAP_DATA;
    cn_wire_u32(&body, (uint32_t)pid);
    cn_wire_u32(&body, (uint32_t)pid);
    cn_wire_u64(&body, mapping->begin);
    cn_wire_u64(&body, mapping->end - mapping->begin);
    cn_wire_u64(&body, mapping->file_off);
    if (put_build_id(&body, mapping->is_code ? mapping->path : ""))
        misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
    cn_wire_u32(&body, mapping->is_code ? PROT_READ | PROT_EXEC : PROT_READ);
    cn_wire_u32(&body, 2); /* MAP_PRIVATE */
    put_str(&body, mapping->path);
    bool ok =
        deliver(to, PERF_RECORD_MMAP2, misc, (uint32_t)pid, (uint32_t)pid, &body, err);
    cn_text_done(&body);
    return ok;
}

bool cn_synthesize_mapping(const struct cn_synthesis *to, pid_t pid, uint64_t begin,
                           uint64_t len, const char *path, struct cn_error *err)
{
    return deliver_mapping(
        to, pid,
        &(struct mapping){
            .begin = begin, .end = begin + len, .is_code = true, .path = path},
        err);
}

/* A line of /proc/PID/maps: begin-end rwxp offset major:minor inode path. */
static bool parse_mapping(char *line, struct mapping *out)
{
    char protection[8] = "";
    int path_at = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &out->begin,
               &out->end, protection, &out->file_off, &path_at) < 4 ||
        path_at == 0)
        return false;
    line[strcspn(line, "\n")] = '\0';
    out->path = line[path_at] ? line + path_at : "//anon";
    out->is_code = protection[2] == 'x';
    return strlen(out->path) < PATH_LEN_MAX;
}

size_t cn_threads_of(pid_t pid, pid_t *out, size_t most)
{
    char path[64];
    size_t count = 0;
    struct dirent *entry;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    while (folder && count < most && (entry = readdir(folder)))
        if (isdigit((unsigned char)entry->d_name[0]))
            out[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
    if (folder)
        (void)closedir(folder);
    return count;
}

bool cn_synthesize_process(const struct cn_synthesis *to, pid_t pid, struct cn_error *err)
{
    pid_t *tids = cn_alloc(THREADS_MAX, sizeof(*tids));
    size_t count = cn_threads_of(pid, tids, THREADS_MAX), capacity = 0;
    char path[64], *line = NULL;
    bool ok = true;

    for (size_t i = 0; i < count && ok; i++)
        ok = (tids[i] == pid || deliver_thread(to, pid, tids[i], err)) &&
             deliver_name(to, pid, tids[i], 0, NULL, err);
    free(tids);
    (void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    while (ok && maps && getline(&line, &capacity, maps) > 0) {
        struct mapping mapping;

        if (parse_mapping(line, &mapping) && (mapping.is_code || to->has_memory))
            ok = deliver_mapping(to, pid, &mapping, err);
    }
    if (maps)
        (void)fclose(maps);
    free(line);
    return ok;
}

bool cn_synthesize_exec(const struct cn_synthesis *to, pid_t pid, char *maps,
                        struct cn_error *err)
{
    char *rest = maps, *line;
    bool ok = true, has_name = false;

    while (ok && (line = strsep(&rest, "\n"))) {
        struct mapping mapping;

        if (!parse_mapping(line, &mapping) || !mapping.is_code)
            continue;
        /* The first mapping with code is that of the program. */
        if (!has_name) {
            has_name = true;
            ok = deliver_name(to, pid, pid, PERF_RECORD_MISC_COMM_EXEC,
                              cn_path_name(mapping.path), err);
        }
        ok = ok && deliver_mapping(to, pid, &mapping, err);
    }
    return ok;
}

bool cn_synthesize_machine(const struct cn_synthesis *to, struct cn_error *err)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    bool ok = true;

    while (ok && folder && (entry = readdir(folder)))
        if (isdigit((unsigned char)entry->d_name[0]))
            ok = cn_synthesize_process(to, (pid_t)strtol(entry->d_name, NULL, 10), err);
    if (folder)
        (void)closedir(folder);
    return ok;
}

static bool deliver_kernel(const struct cn_synthesis *to, uint64_t begin, uint64_t len,
                           uint64_t file_off, const char *name, struct cn_error *err)
{
    struct cn_text body = {0};
    bool ok;

    cn_wire_u32(&body, UINT32_MAX);
    cn_wire_u32(&body, 0);
    cn_wire_u64(&body, begin);
    cn_wire_u64(&body, len);
    cn_wire_u64(&body, file_off);
    put_str(&body, name);
    ok =
        deliver(to, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, UINT32_MAX, 0, &body, err);
    cn_text_done(&body);
    return ok;
}

/* A line of /proc/modules: name size uses users state address. */
static bool deliver_modules(const struct cn_synthesis *to, struct cn_error *err)
{
    FILE *file = fopen("/proc/modules", "re");
    char *line = NULL;
    size_t capacity = 0;
    bool ok = true;

    while (ok && file && getline(&line, &capacity, file) > 0) {
        char name[64], bracketed[80];
        uint64_t len, begin;

        if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &len, &begin) !=
                3 ||
            begin == 0)
            continue;
        (void)snprintf(bracketed, sizeof(bracketed), "[%s]", name);
        ok = deliver_kernel(to, begin, len, 0, bracketed, err);
    }
    free(line);
    if (file)
        (void)fclose(file);
    return ok;
}

/* The code of the kernel begins with _text, or _stext where there is no other, among the first
 * symbols. perf looks for the symbol that the mapping names. Where the code ends would take long
 * to find; modules, which may be above, are reported after it. */
bool cn_synthesize_kernel(const struct cn_synthesis *to, struct cn_error *err)
{
    enum { LINES_MAX = 1000 };
    FILE *file = fopen("/proc/kallsyms", "re");
    char *line = NULL;
    size_t capacity = 0;
    uint64_t begin = 0;
    char mapping[96];

    for (int i = 0; file && i < LINES_MAX && getline(&line, &capacity, file) > 0; i++) {
        char name[64] = "";
        uint64_t address = 0;

        if (sscanf(line, "%" SCNx64 " %*s %63s", &address, name) != 2 ||
            (strcmp(name, "_text") != 0 && strcmp(name, "_stext") != 0))
            continue;
        begin = address;
        (void)snprintf(mapping, sizeof(mapping), "[kernel.kallsyms]%s", name);
        break;
    }
    free(line);
    if (file)
        (void)fclose(file);
    if (begin == 0)
        return true;
    return deliver_kernel(to, begin, UINT64_MAX - begin, begin, mapping, err) &&
           deliver_modules(to, err);
}

/* The note named "GNU" of type 3. */
size_t cn_kernel_build_id(uint8_t out[static 20])
{
    FILE *file = fopen("/sys/kernel/notes", "re");
    uint8_t bytes[4096];
    struct cn_bytes rest = {bytes, 0};
    size_t len = 0;

    if (!file)
        return 0;
    rest.len = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    while (len == 0 && rest.len >= 12) {
        uint64_t name_len = cn_u32_get(rest.ptr), id_len = cn_u32_get(rest.ptr + 4);
        uint32_t type = cn_u32_get(rest.ptr + 8);
        uint64_t id_off = 12 + cn_align_up(name_len, 4);
        struct cn_bytes id;

        if (!cn_bytes_slice(rest, id_off, id_len, &id))
            break;
        if (type == 3 && name_len == 4 && id_len <= BUILD_ID_MAX &&
            memcmp(rest.ptr + 12, "GNU", 4) == 0) {
            memcpy(out, id.ptr, id.len);
            len = id.len;
        }
        if (!cn_bytes_from(rest, id_off + cn_align_up(id_len, 4), &rest))
            break;
    }
    return len;
}
