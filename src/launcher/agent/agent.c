#include "launcher/agent/agent.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "launcher/agent/folder.h"
#include "launcher/agent/format.h"
#include "launcher/files/shared_memory.h"
#include "launcher/rules/rules.h"

enum {
    CLIENT_MS = 2000, /* then a client is dropped if another one waits */
    DEPTH_MAX = 1 << 20,
    OPTIONS = CN_AGENT_TRACE | CN_AGENT_DEPTH | CN_AGENT_TIME | CN_AGENT_PATTERN |
              CN_AGENT_FILTER | CN_AGENT_CALLER | CN_AGENT_TRIGGER | CN_AGENT_SIZE,
    BUFFER_LEN = cn_agent_head_size + CN_AGENT_MESSAGE_MAX,
};

/* The launcher's own number leads to the socket as well: a shell knows no other. */
static void link_own(pid_t pid)
{
    struct sockaddr_un target = cn_agent_address(pid), own = cn_agent_address(getpid());

    (void)unlink(own.sun_path);
    (void)!symlink(target.sun_path, own.sun_path);
    cn_agent_link(getpid());
}

/* Listen at an address that only this user can use. */
static bool listen_at(int fd, const struct sockaddr_un *address)
{
    mode_t before = umask(S_IXUSR | S_IRWXG | S_IRWXO);
    bool ok = bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;

    (void)umask(before);
    return ok && listen(fd, 4) == 0;
}

bool cn_agent_open(struct cn_agent *agent, struct cn_module_rules *modules,
                   struct cn_rules *rules, pid_t pid, struct cn_error *err)
{
    struct sockaddr_un address = cn_agent_address(pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    /* A file of this name is left over by a process that has ended. */
    (void)unlink(address.sun_path);
    if (fd < 0 || !listen_at(fd, &address)) {
        (void)cn_fail_errno(err, "--agent: cannot listen at %s", address.sun_path);
        if (fd >= 0)
            (void)close(fd);
        return false;
    }
    *agent = (struct cn_agent){
        .modules = modules,
        .rules = rules,
        .listener = fd,
        .client = -1,
        .pid = pid,
        .message = cn_alloc(1, BUFFER_LEN),
    };
    cn_agent_link(pid);
    if (pid != getpid())
        link_own(pid);
    return true;
}

/* End the connection; what was not applied is discarded. */
static void drop(struct cn_agent *agent)
{
    (void)close(agent->client);
    agent->client = -1;
    cn_rules_cut(agent->rules, agent->rule_count);
    agent->rules->size_min = agent->size_min;
}

static bool is_allowed(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

static void accept_client(struct cn_agent *agent)
{
    int fd = accept4(agent->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    if (!is_allowed(fd)) {
        (void)close(fd);
        return;
    }
    agent->client = fd;
    agent->client_ns = cn_clock_ns();
    agent->message_len = 0;
    agent->limits = agent->modules->limits;
    agent->rule_count = agent->rules->count;
    agent->size_min = agent->rules->size_min;
    agent->has_rules = agent->has_trace = false;
}

static bool answer(const struct cn_agent *agent, uint16_t type, const void *data,
                   size_t len)
{
    struct cn_agent_head head = {CN_AGENT_MAGIC, type, (uint32_t)len};
    uint8_t bytes[cn_agent_head_size + sizeof(uint32_t) + sizeof(struct cn_error)];

    cn_agent_head_encode(&head, bytes);
    if (len > 0)
        memcpy(bytes + cn_agent_head_size, data, len);
    len += cn_agent_head_size;
    return send(agent->client, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool refuse(const struct cn_agent *agent, const struct cn_error *err)
{
    uint8_t data[sizeof(uint32_t) + sizeof(err->text)] = {0xff, 0xff, 0xff, 0xff};
    size_t len = strlen(err->text) + 1;

    memcpy(data + sizeof(uint32_t), err->text, len);
    return answer(agent, CN_AGENT_ERROR, data, sizeof(uint32_t) + len);
}

static bool set_number(struct cn_agent *agent, uint32_t option, struct cn_bytes value,
                       struct cn_error *err)
{
    if (value.len != (option == CN_AGENT_TIME ? sizeof(uint64_t) : sizeof(uint32_t)))
        return cn_fail(err, CN_ERR_FORMAT, "option %u has a value of %zu bytes", option,
                       value.len);
    uint64_t number =
        option == CN_AGENT_TIME ? cn_u64_get(value.ptr) : cn_u32_get(value.ptr);
    switch (option) {
    case CN_AGENT_TRACE:
        agent->has_trace = true;
        agent->is_on = number != 0;
        return true;
    case CN_AGENT_DEPTH:
        if (number == 0 || number > DEPTH_MAX)
            return cn_fail(err, CN_ERR_USAGE, "a depth of %llu is not from 1 to %d",
                           (unsigned long long)number, DEPTH_MAX);
        agent->limits.depth = (uint32_t)number;
        break;
    case CN_AGENT_TIME:
        agent->limits.time_ns = number;
        break;
    case CN_AGENT_PATTERN:
        if (number != CN_AGENT_REGEX && number != CN_AGENT_GLOB)
            return cn_fail(err, CN_ERR_USAGE, "unknown kind of patterns %llu",
                           (unsigned long long)number);
        agent->rules->is_glob = number == CN_AGENT_GLOB;
        return true;
    default:
        agent->rules->size_min = number;
        break;
    }
    agent->has_rules = true;
    return true;
}

static bool set(struct cn_agent *agent, struct cn_bytes data, struct cn_error *err)
{
    uint32_t option;

    if (data.len < sizeof(option))
        return cn_fail(err, CN_ERR_FORMAT, "a message without an option");
    option = cn_u32_get(data.ptr);
    struct cn_bytes value = {data.ptr + sizeof(option), data.len - sizeof(option)};
    switch (option) {
    case CN_AGENT_TRACE:
    case CN_AGENT_DEPTH:
    case CN_AGENT_TIME:
    case CN_AGENT_PATTERN:
    case CN_AGENT_SIZE:
        return set_number(agent, option, value, err);
    case CN_AGENT_FILTER:
    case CN_AGENT_CALLER:
    case CN_AGENT_TRIGGER:
        if (value.len == 0 ||
            memchr(value.ptr, '\0', value.len) != value.ptr + value.len - 1)
            return cn_fail(err, CN_ERR_FORMAT, "a text without its end");
        agent->has_rules = true;
        return cn_agent_rules_add(agent->rules, (const char *)value.ptr, option, err);
    default:
        return cn_fail(err, CN_ERR_USAGE, "unknown option %u", option);
    }
}

static bool apply(struct cn_agent *agent, struct cn_error *err)
{
    struct cn_module_rules *modules = agent->modules;
    struct cn_rule_limits before = modules->limits;

    if (agent->has_rules) {
        modules->limits = agent->limits;
        if (!cn_module_rules_publish(modules, err)) {
            modules->limits = before;
            return false;
        }
        agent->rule_count = agent->rules->count;
        agent->size_min = agent->rules->size_min;
    }
    if (agent->has_trace)
        atomic_store(&modules->memory->head->is_on, agent->is_on);
    return true;
}

/* False when the connection ends. */
static bool handle(struct cn_agent *agent, uint16_t type, struct cn_bytes data)
{
    struct cn_error err = {0};
    uint8_t options[sizeof(uint32_t)];
    bool ok = true;

    switch (type) {
    case CN_AGENT_QUERY:
        cn_u32_put(options, OPTIONS);
        return answer(agent, CN_AGENT_OK, options, sizeof(options));
    case CN_AGENT_SET:
        ok = set(agent, data, &err);
        break;
    case CN_AGENT_CLOSE:
        ok = apply(agent, &err);
        break;
    default:
        ok = cn_fail(&err, CN_ERR_FORMAT, "unknown message %u", type);
    }
    /* After an error nothing of this client is applied. */
    return (ok ? answer(agent, CN_AGENT_OK, NULL, 0) : refuse(agent, &err)) && ok &&
           type != CN_AGENT_CLOSE;
}

/* Handle the messages that are complete. False when the connection ends. */
static bool handle_all(struct cn_agent *agent)
{
    struct cn_agent_head head;
    size_t len;

    while (cn_agent_head_decode((struct cn_bytes){agent->message, agent->message_len},
                                &head)) {
        if (head.magic != CN_AGENT_MAGIC || head.len > CN_AGENT_MESSAGE_MAX)
            return false;
        len = cn_agent_head_size + head.len;
        if (agent->message_len < len)
            return true;
        if (!handle(agent, head.type,
                    (struct cn_bytes){agent->message + cn_agent_head_size, head.len}))
            return false;
        agent->message_len -= len;
        memmove(agent->message, agent->message + len, agent->message_len);
    }
    return true;
}

/* A client on a busy machine may take any time, unless another one waits for it. */
static bool is_in_the_way(const struct cn_agent *agent)
{
    struct pollfd next = {.fd = agent->listener, .events = POLLIN};

    return cn_clock_ns() - agent->client_ns > CLIENT_MS * UINT64_C(1000000) &&
           poll(&next, 1, 0) > 0;
}

bool cn_agent_step(struct cn_agent *agent)
{
    if (agent->listener < 0)
        return false;
    if (agent->client < 0)
        accept_client(agent);
    if (agent->client < 0)
        return false;
    ssize_t len = recv(agent->client, agent->message + agent->message_len,
                       BUFFER_LEN - agent->message_len, 0);
    agent->message_len += len > 0 ? (size_t)len : 0;
    if (len == 0 || (len < 0 && errno != EAGAIN && errno != EINTR) ||
        !handle_all(agent) || is_in_the_way(agent))
        drop(agent);
    return true;
}

void cn_agent_close(struct cn_agent *agent)
{
    struct sockaddr_un address = cn_agent_address(agent->pid);
    struct sockaddr_un own = cn_agent_address(getpid());

    if (agent->listener < 0)
        return;
    if (agent->client >= 0)
        drop(agent);
    (void)close(agent->listener);
    cn_agent_unlink(agent->pid);
    (void)unlink(address.sun_path);
    if (agent->pid != getpid()) {
        cn_agent_unlink(getpid());
        (void)unlink(own.sun_path);
    }
    free(agent->message);
    *agent = (struct cn_agent){.listener = -1, .client = -1};
}
