#include "sampler/descriptor_name.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"

enum { TABLE_MAX = 4 << 20, LISTENS = 10, ADDRESS_WORDS = 4 };

/* A line of /proc/PID/net/tcp and the like. */
struct socket_line {
    uint32_t local[ADDRESS_WORDS], remote[ADDRESS_WORDS];
    unsigned local_port, remote_port, state;
    uint64_t inode;
    bool is_v6;
};

/* A table of sockets of the process's network; false if it cannot be read. */
static bool read_table(uint32_t pid, const char *name, struct cn_text *out)
{
    char path[64], bytes[16384];
    size_t len;

    (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/net/%s", pid, name);
    FILE *file = fopen(path, "re");
    cn_text_clear(out);
    if (!file)
        return false;
    while (out->len < TABLE_MAX && (len = fread(bytes, 1, sizeof(bytes), file)) > 0)
        cn_text_add(out, bytes, len);
    (void)fclose(file);
    return out->len > 0;
}

static bool parse_address(const char *text, uint32_t *words, size_t count, unsigned *port)
{
    char digits[9] = "";

    for (size_t i = 0; i < count; i++) {
        if (strlen(text) < 8)
            return false;
        memcpy(digits, text, 8);
        words[i] = (uint32_t)strtoul(digits, NULL, 16);
        text += 8;
    }
    return sscanf(text, ":%x", port) == 1;
}

static bool parse_line(const char *line, bool is_v6, struct socket_line *out)
{
    char local[40], remote[40];
    size_t count = is_v6 ? ADDRESS_WORDS : 1;

    *out = (struct socket_line){.is_v6 = is_v6};
    return sscanf(line, " %*[0-9]: %39s %39s %x %*s %*s %*s %*s %*s %" SCNu64, local,
                  remote, &out->state, &out->inode) == 4 &&
           parse_address(local, out->local, count, &out->local_port) &&
           parse_address(remote, out->remote, count, &out->remote_port);
}

static void print_host(const uint32_t *words, bool is_v6, struct cn_text *out)
{
    char text[INET6_ADDRSTRLEN] = "";

    (void)inet_ntop(is_v6 ? AF_INET6 : AF_INET, words, text, sizeof(text));
    /* Addresses of version 4 in sockets of both. */
    if (is_v6 && strncmp(text, "::ffff:", 7) == 0 && strchr(text, '.'))
        cn_text_str_add(out, text + 7);
    else
        cn_text_printf(out, is_v6 ? "[%s]" : "%s", text);
}

/* The port of a client is another one in each run; that of a server is listened at. */
static void print_line(const struct socket_line *line, bool is_server,
                       struct cn_text *out)
{
    if (line->state == LISTENS || line->remote_port == 0) {
        cn_text_printf(out, ":%u", line->local_port);
    } else if (is_server) {
        cn_text_printf(out, ":%u from ", line->local_port);
        print_host(line->remote, line->is_v6, out);
    } else {
        print_host(line->remote, line->is_v6, out);
        cn_text_printf(out, ":%u", line->remote_port);
    }
}

/* Find the socket, and whether its port is listened at, in one table. */
static bool name_internet(char *table, bool is_v6, uint64_t inode, struct cn_text *out)
{
    struct socket_line found = {0}, line;
    bool has_found = false, is_server = false;
    char *rest = table, *text;
    char *copy = cn_strdup(table);

    while ((text = strsep(&rest, "\n")))
        if (!has_found && parse_line(text, is_v6, &line) && line.inode == inode) {
            found = line;
            has_found = true;
        }
    rest = copy;
    while (has_found && rest && (text = strsep(&rest, "\n")))
        is_server =
            is_server || (parse_line(text, is_v6, &line) && line.state == LISTENS &&
                          line.local_port == found.local_port);
    free(copy);
    if (has_found)
        print_line(&found, is_server, out);
    return has_found;
}

static bool name_unix(char *table, uint64_t inode, struct cn_text *out)
{
    char *rest = table, *text, path[256];
    uint64_t number;

    while ((text = strsep(&rest, "\n"))) {
        int count =
            sscanf(text, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %255[^\n]", &number, path);

        if (count < 1 || number != inode)
            continue;
        cn_text_printf(out, count == 2 ? "unix:%s" : "unix socket", path);
        return true;
    }
    return false;
}

static void name_socket(uint32_t pid, uint64_t inode, struct cn_text *out)
{
    static const char *const tables[] = {"tcp", "tcp6", "udp", "udp6"};
    struct cn_text table = {0};
    bool is_named = false;

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !is_named; i++)
        is_named = read_table(pid, tables[i], &table) &&
                   name_internet(table.chars, tables[i][3] == '6', inode, out);
    if (!is_named)
        is_named = read_table(pid, "unix", &table) && name_unix(table.chars, inode, out);
    if (!is_named)
        cn_text_str_add(out, "socket");
    cn_text_done(&table);
}

/* The flags with which it is open. */
static bool is_closed(uint32_t pid, int32_t descriptor)
{
    char path[64], line[128];
    unsigned long flags = 0;

    (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fdinfo/%" PRId32, pid,
                   descriptor);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "flags: %lo", &flags) == 1)
            break;
    if (file)
        (void)fclose(file);
    return flags & O_CLOEXEC;
}

static void name_link(uint32_t pid, const char *link, struct cn_text *out)
{
    static const char deleted[] = " (deleted)";
    size_t len = strlen(link), cut = sizeof(deleted) - 1;
    uint64_t inode;

    if (sscanf(link, "socket:[%" SCNu64, &inode) == 1)
        name_socket(pid, inode, out);
    else if (strncmp(link, "pipe:[", 6) == 0)
        cn_text_str_add(out, "pipe");
    else if (strncmp(link, "anon_inode:", 11) == 0)
        cn_text_add(out, link + 11 + (link[11] == '['),
                    strcspn(link + 11 + (link[11] == '['), "]"));
    else if (strncmp(link, "/memfd:", 7) == 0)
        cn_text_add(out, link + 1, len - 1 - (len > cut + 7 ? cut : 0));
    else if (len > cut && strcmp(link + len - cut, deleted) == 0)
        cn_text_add(out, link, len - cut);
    else
        cn_text_str_add(out, link);
}

bool cn_descriptor_name(uint32_t pid, int32_t descriptor, struct cn_text *out,
                        bool *is_closed_by_exec)
{
    char path[64], link[PATH_MAX];
    ssize_t len;

    (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd/%" PRId32, pid, descriptor);
    len = readlink(path, link, sizeof(link) - 1);
    if (len <= 0)
        return false;
    link[len] = '\0';
    *is_closed_by_exec = is_closed(pid, descriptor);
    name_link(pid, link, out);
    return true;
}

static bool name_unix_peer(struct cn_bytes address, struct cn_text *out)
{
    const size_t off = offsetof(struct sockaddr_un, sun_path);
    const char *path = (const char *)address.ptr + off;
    size_t len = address.len > off ? address.len - off : 0;

    if (len == 0)
        return false;
    /* An abstract name begins with a NUL. */
    cn_text_printf(out, "unix:%s%.*s", path[0] ? "" : "@",
                   (int)strnlen(path + !path[0], len - !path[0]), path + !path[0]);
    return true;
}

bool cn_descriptor_peer(struct cn_bytes address, struct cn_text *out)
{
    struct sockaddr_in6 v6 = {0};
    struct sockaddr_in v4 = {0};
    uint32_t words[ADDRESS_WORDS];
    uint16_t family;

    if (address.len < sizeof(family))
        return false;
    memcpy(&family, address.ptr, sizeof(family));
    if (family == AF_UNIX)
        return name_unix_peer(address, out);
    if (family == AF_INET && address.len >= sizeof(v4)) {
        memcpy(&v4, address.ptr, sizeof(v4));
        print_host(&v4.sin_addr.s_addr, false, out);
        cn_text_printf(out, ":%u", ntohs(v4.sin_port));
        return true;
    }
    if (family != AF_INET6 || address.len < offsetof(struct sockaddr_in6, sin6_scope_id))
        return false;
    memcpy(&v6, address.ptr, address.len < sizeof(v6) ? address.len : sizeof(v6));
    memcpy(words, &v6.sin6_addr, sizeof(words));
    print_host(words, true, out);
    cn_text_printf(out, ":%u", ntohs(v6.sin6_port));
    return true;
}
