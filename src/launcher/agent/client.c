#include "launcher/agent/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "launcher/agent/folder.h"
#include "launcher/agent/format.h"

enum { WAIT_S = 60 };

static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid() || geteuid() == 0);
}

static bool connect_to(pid_t pid, int *out, struct cn_error *err)
{
    struct sockaddr_un address;
    struct timeval wait = {.tv_sec = WAIT_S};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_found = false;

    if (fd < 0)
        return cn_fail_errno(err, "cannot create a socket");
    for (unsigned i = 0; !is_found && cn_agent_address_at(pid, i, &address); i++) {
        is_found = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
        if (!is_found && errno != ENOENT && errno != ECONNREFUSED)
            break;
    }
    if (!is_found) {
        if (errno == ENOENT || errno == ECONNREFUSED)
            (void)cn_fail(
                err, CN_ERR_NOT_FOUND,
                "process %d has no agent; record it with 'cairn record --agent'",
                (int)pid);
        else
            (void)cn_fail_errno(err, "cannot connect to %s", address.sun_path);
        (void)close(fd);
        return false;
    }
    if (!is_trusted(fd)) {
        (void)close(fd);
        return cn_fail(err, CN_ERR_IO, "%s belongs to another user", address.sun_path);
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    *out = fd;
    return true;
}

static bool receive(int fd, uint8_t *bytes, size_t len, struct cn_error *err)
{
    for (size_t at = 0; at < len;) {
        ssize_t more = recv(fd, bytes + at, len - at, 0);

        if (more == 0)
            return cn_fail(err, CN_ERR_IO, "the agent closed the connection");
        if (more < 0 && errno != EINTR)
            return cn_fail(err, CN_ERR_IO, "the agent does not answer: %s",
                           strerror(errno));
        at += more > 0 ? (size_t)more : 0;
    }
    return true;
}

/* Send a message, and read the answer, of at most `out_len` bytes of data. */
static bool ask(int fd, uint16_t type, struct cn_bytes data, uint8_t *out, size_t out_len,
                struct cn_error *err)
{
    struct cn_agent_head head = {CN_AGENT_MAGIC, type, (uint32_t)data.len};
    uint8_t *bytes = cn_alloc(1, cn_agent_head_size + CN_AGENT_MESSAGE_MAX + 1);
    size_t len = cn_agent_head_size + data.len;
    bool ok;

    cn_agent_head_encode(&head, bytes);
    if (data.len > 0)
        memcpy(bytes + cn_agent_head_size, data.ptr, data.len);
    ok = send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len ||
         cn_fail_errno(err, "cannot send to the agent");
    ok = ok && receive(fd, bytes, cn_agent_head_size, err);
    if (ok)
        (void)cn_agent_head_decode((struct cn_bytes){bytes, cn_agent_head_size}, &head);
    if (ok && (head.magic != CN_AGENT_MAGIC || head.len > CN_AGENT_MESSAGE_MAX))
        ok = cn_fail(err, CN_ERR_FORMAT, "the agent sent something else than an answer");
    ok = ok && receive(fd, bytes, head.len, err);
    if (ok && head.type != CN_AGENT_OK) {
        bytes[head.len] = '\0';
        ok = cn_fail(err, CN_ERR_USAGE, "the agent refused: %s",
                     head.len > sizeof(uint32_t) ? (char *)bytes + sizeof(uint32_t)
                                                 : "unknown reason");
    }
    if (ok && out_len > 0) {
        ok = head.len == out_len ||
             cn_fail(err, CN_ERR_FORMAT, "the agent answered with %u bytes", head.len);
        if (ok)
            memcpy(out, bytes, out_len);
    }
    free(bytes);
    return ok;
}

struct setting {
    uint32_t option;
    const char *name;
    uint64_t number;
    const char *text; /* NULL: the number */
    bool is_given;
};

static bool set(int fd, uint32_t known, const struct setting *setting,
                struct cn_error *err)
{
    size_t len = setting->text                      ? strlen(setting->text) + 1
                 : setting->option == CN_AGENT_TIME ? sizeof(uint64_t)
                                                    : sizeof(uint32_t);

    if (!setting->is_given)
        return true;
    if (!(known & setting->option))
        return cn_fail(err, CN_ERR_USAGE, "the agent cannot change --%s", setting->name);
    if (len > CN_AGENT_MESSAGE_MAX - sizeof(uint32_t))
        return cn_fail(err, CN_ERR_LIMIT, "--%s: %zu bytes are too many", setting->name,
                       len);
    uint8_t *data = cn_alloc(1, sizeof(uint32_t) + sizeof(uint64_t) + len);
    cn_u32_put(data, setting->option);
    if (setting->text)
        memcpy(data + sizeof(uint32_t), setting->text, len);
    else if (len == sizeof(uint64_t))
        cn_u64_put(data + sizeof(uint32_t), setting->number);
    else
        cn_u32_put(data + sizeof(uint32_t), (uint32_t)setting->number);
    bool ok = ask(fd, CN_AGENT_SET, (struct cn_bytes){data, sizeof(uint32_t) + len}, NULL,
                  0, err);
    free(data);
    return ok;
}

bool cn_agent_change(pid_t pid, const struct cn_agent_change *change,
                     struct cn_error *err)
{
    const struct setting settings[] = {
        {CN_AGENT_TRACE, "trace", change->is_on, NULL, change->has_trace},
        {CN_AGENT_DEPTH, "depth", change->depth, NULL, change->depth > 0},
        {CN_AGENT_TIME, "time-filter", change->time_ns, NULL, change->has_time},
        {CN_AGENT_SIZE, "size-filter", change->size_min, NULL, change->has_size},
        {CN_AGENT_PATTERN, "match", change->is_glob ? CN_AGENT_GLOB : CN_AGENT_REGEX,
         NULL, change->filters || change->callers || change->triggers},
        {CN_AGENT_FILTER, "filter", 0, change->filters, change->filters},
        {CN_AGENT_CALLER, "caller-filter", 0, change->callers, change->callers},
        {CN_AGENT_TRIGGER, "trigger", 0, change->triggers, change->triggers},
    };
    uint8_t known[sizeof(uint32_t)];
    int fd;
    bool ok;

    if (!connect_to(pid, &fd, err))
        return false;
    ok = ask(fd, CN_AGENT_QUERY, (struct cn_bytes){0}, known, sizeof(known), err);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && ok; i++)
        ok = set(fd, cn_u32_get(known), &settings[i], err);
    ok = ok && ask(fd, CN_AGENT_CLOSE, (struct cn_bytes){0}, NULL, 0, err);
    (void)close(fd);
    return ok;
}
