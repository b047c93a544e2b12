#include "record/state/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>

#include "record/process.h"
#include "record/state/maps.h"
#include "record/state/module_rules.h"
#include "record/state/thread.h"
#include "record/syscalls.h"
#include "record/text.h"

enum { MODULES_MAX = 1024, LINE_MAX_LEN = 256 };

/* A file that is mapped. */
struct session_module {
    uintptr_t start;
    bool is_seen; /* in the current walk */
};

struct recorded_session {
    char id[17];
    struct session_module modules[MODULES_MAX];
    uint32_t module_count;
};

static struct recorded_session session;

struct map_writer {
    struct cn_rec_text text;
    char name[32];
    uint64_t time_ns;
    uint32_t tid;
    bool has_new;
};

/* Append a text to a file of the recording, unless it was truncated. */
static bool append(const char *name, const struct cn_rec_text *text)
{
    char space[CN_REC_NAME_MAX];
    struct cn_rec_text path = {space, sizeof(space), 0, false};
    uint64_t before;
    size_t at = 0;
    long fd, done = 0;

    cn_rec_text_str(&path, cn_rec_process.shared->dir);
    cn_rec_text_char(&path, '/');
    cn_rec_text_str(&path, name);
    fd = cn_rec_append_to(path.chars);
    cn_rec_process_check_disk(fd);
    if (fd < 0)
        return false;
    cn_rec_block_signals(&before);
    for (; !text->is_cut && at < text->len; at += (size_t)done) {
        done = cn_rec_syscall3(SYS_write, fd, (long)(text->chars + at),
                               (long)(text->len - at));
        if (done <= 0)
            break;
    }
    if (done == -EFBIG)
        cn_rec_forget_file_size_signal();
    cn_rec_process_check_disk(done);
    cn_rec_restore_signals(&before);
    (void)cn_rec_syscall3(SYS_close, fd, 0, 0);
    return at == text->len;
}

static void begin_line(struct cn_rec_text *line, const char *kind, uint64_t time_ns)
{
    cn_rec_text_str(line, kind);
    cn_rec_text_str(line, " timestamp=");
    cn_rec_text_u64(line, time_ns / 1000000000);
    cn_rec_text_char(line, '.');
    cn_rec_text_number(line, time_ns % 1000000000, 10, 9);
}

static void add_number(struct cn_rec_text *line, const char *key, uint64_t value)
{
    cn_rec_text_str(line, key);
    cn_rec_text_u64(line, value);
}

static bool end_line(struct cn_rec_text *line)
{
    cn_rec_text_char(line, '\n');
    return append("task.txt", line);
}

bool cn_rec_session_task(uint64_t time_ns, uint32_t tid, uint32_t pid)
{
    char space[LINE_MAX_LEN];
    struct cn_rec_text line = {space, sizeof(space), 0, false};

    begin_line(&line, "TASK", time_ns);
    add_number(&line, " tid=", tid);
    add_number(&line, " pid=", pid);
    return end_line(&line);
}

bool cn_rec_session_fork(uint64_t time_ns, uint32_t pid, uint32_t parent_pid)
{
    char space[LINE_MAX_LEN];
    struct cn_rec_text line = {space, sizeof(space), 0, false};

    begin_line(&line, "FORK", time_ns);
    add_number(&line, " pid=", pid);
    add_number(&line, " ppid=", parent_pid);
    return end_line(&line);
}

/* Note that a file is mapped there; true when it is new and was added. */
static bool note_module(uintptr_t start, bool adds)
{
    for (uint32_t i = 0; i < session.module_count; i++) {
        if (session.modules[i].start == start) {
            session.modules[i].is_seen = true;
            return false;
        }
    }
    if (adds && session.module_count < MODULES_MAX)
        session.modules[session.module_count++] = (struct session_module){start, true};
    return adds;
}

static void write_map_line(const struct cn_rec_mapping *mapping, void *arg)
{
    struct map_writer *writer = arg;
    struct cn_rec_text *text = &writer->text;

    if (!mapping->is_code && mapping->path[0] == '/')
        return;
    (void)note_module(mapping->start, true);
    text->len = 0;
    cn_rec_text_number(text, mapping->start, 16, 8);
    cn_rec_text_char(text, '-');
    cn_rec_text_number(text, mapping->end, 16, 8);
    cn_rec_text_str(text, mapping->is_code ? " r-xp" : " rw-p");
    cn_rec_text_str(text, " 00000000 00:00 0                          ");
    cn_rec_text_str(text, mapping->path);
    cn_rec_text_char(text, '\n');
    (void)append(writer->name, text);
}

/* Runs on a stack of normal size, when the library is loaded. */
bool cn_rec_session_begin(uint64_t time_ns)
{
    char space[PATH_MAX + LINE_MAX_LEN], exe[PATH_MAX];
    struct map_writer writer = {.text = {space, sizeof(space), 0, false}};
    struct cn_rec_text name = {writer.name, sizeof(writer.name), 0, false};
    struct cn_rec_text line = {space, sizeof(space), 0, false};
    struct cn_rec_text id = {session.id, sizeof(session.id), 0, false};
    uint64_t bits = 0;
    long len = cn_rec_syscall6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe",
                               (long)exe, sizeof(exe) - 1, 0, 0);

    exe[len < 0 ? 0 : len] = '\0';
    (void)cn_rec_syscall3(SYS_getrandom, (long)&bits, sizeof(bits), 0);
    cn_rec_text_number(&id, bits, 16, 16);
    session.module_count = 0;
    cn_rec_text_str(&name, "sid-");
    cn_rec_text_str(&name, session.id);
    cn_rec_text_str(&name, ".map");
    if (!cn_rec_maps_walk(write_map_line, &writer))
        return false;
    begin_line(&line, "SESS", time_ns);
    add_number(&line, " pid=", atomic_load(&cn_rec_process.pid));
    cn_rec_text_str(&line, " sid=");
    cn_rec_text_str(&line, session.id);
    cn_rec_text_str(&line, " exename=\"");
    cn_rec_text_str(&line, exe);
    cn_rec_text_char(&line, '"');
    atomic_fetch_add(&cn_rec_process.shared->session_count, 1);
    return end_line(&line);
}

static void write_library_line(const struct cn_rec_mapping *mapping, void *arg)
{
    struct map_writer *writer = arg;
    struct cn_rec_text *line = &writer->text;

    if (!note_module(mapping->start, mapping->is_code))
        return;
    line->len = 0;
    begin_line(line, "DLOP", writer->time_ns);
    add_number(line, " tid=", writer->tid);
    cn_rec_text_str(line, " sid=");
    cn_rec_text_str(line, session.id);
    cn_rec_text_str(line, " base=");
    cn_rec_text_number(line, mapping->start, 16, 1);
    cn_rec_text_str(line, " libname=\"");
    cn_rec_text_str(line, mapping->path);
    cn_rec_text_char(line, '"');
    (void)end_line(line);
    cn_rec_module_rules_add(mapping->path, mapping->start, mapping->end);
    writer->has_new = true;
}

bool cn_rec_session_libraries(uint64_t time_ns, uint32_t tid)
{
    char space[1024];
    struct map_writer writer;

    /* Set member by member: to clear it as a whole, compilers call memset(). */
    writer.text = (struct cn_rec_text){space, sizeof(space), 0, false};
    writer.time_ns = time_ns;
    writer.tid = tid;
    writer.has_new = false;
    for (uint32_t i = 0; i < session.module_count; i++)
        session.modules[i].is_seen = false;
    if (cn_rec_maps_walk(write_library_line, &writer)) {
        /* Remove unmapped files: others may be mapped there. */
        for (uint32_t i = session.module_count; i-- > 0;) {
            if (session.modules[i].is_seen)
                continue;
            cn_rec_module_rules_remove(session.modules[i].start);
            session.modules[i] = session.modules[--session.module_count];
        }
    }
    if (writer.has_new)
        atomic_fetch_add(&cn_rec_process.shared->session_count, 1);
    return writer.has_new;
}
