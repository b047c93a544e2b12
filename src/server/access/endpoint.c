#include "server/access/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 128 };

/* Also finds out whether the address is loopback. */
static bool make_address(struct cn_endpoint *endpoint, struct sockaddr_storage *out,
                         socklen_t *len)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET, endpoint->address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(endpoint->port);
        *len = sizeof(*v4);
        endpoint->is_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
        return true;
    }
    if (inet_pton(AF_INET6, endpoint->address, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(endpoint->port);
        *len = sizeof(*v6);
        endpoint->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
        return true;
    }
    return false;
}

bool cn_endpoint_parse(struct cn_endpoint *endpoint, const char *option, const char *text,
                       struct cn_error *err)
{
    struct cn_endpoint parsed = {0};
    struct sockaddr_storage address;
    socklen_t len;
    const char *colon = strrchr(text, ':');
    const char *begin = text, *end = colon;
    char *rest;

    if (!colon || colon == text)
        return cn_fail(err, CN_ERR_USAGE, "%s '%s' is not ADDR:PORT", option, text);
    if (begin[0] == '[' && end[-1] == ']') {
        begin++;
        end--;
    }
    unsigned long number = strtoul(colon + 1, &rest, 10);
    if (colon[1] < '0' || colon[1] > '9' || *rest || number > UINT16_MAX)
        return cn_fail(err, CN_ERR_USAGE, "%s '%s': '%s' is not a port", option, text,
                       colon + 1);
    if (end - begin >= CN_ENDPOINT_ADDRESS_LEN)
        return cn_fail(err, CN_ERR_USAGE, "%s '%s': the address is too long", option,
                       text);
    (void)snprintf(parsed.address, sizeof(parsed.address), "%.*s", (int)(end - begin),
                   begin);
    parsed.port = (uint16_t)number;
    if (!make_address(&parsed, &address, &len))
        return cn_fail(err, CN_ERR_USAGE, "%s: '%s' is not a numeric address", option,
                       parsed.address);
    *endpoint = parsed;
    return true;
}

bool cn_endpoint_listen(struct cn_endpoint *endpoint, int *out, struct cn_error *err)
{
    struct sockaddr_storage address;
    socklen_t len = 0;
    int fd, yes = 1;

    (void)make_address(endpoint, &address, &len);
    fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return cn_fail_errno(err, "cannot create a socket");
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
        if (errno == EADDRINUSE)
            (void)cn_fail(err, CN_ERR_IO,
                          "cannot listen on %s port %u: it is in use; choose another "
                          "port, or 0 for any",
                          endpoint->address, endpoint->port);
        else
            (void)cn_fail_errno(err, "cannot listen on %s port %u", endpoint->address,
                                endpoint->port);
        (void)close(fd);
        return false;
    }
    /* The port has the same offset in both families. */
    endpoint->port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    *out = fd;
    return true;
}

bool cn_endpoint_adopt(struct cn_endpoint *endpoint, int fd, struct cn_error *err)
{
    struct cn_endpoint found = {0};
    struct sockaddr_storage address;
    socklen_t len = sizeof(address), flag_len = sizeof(int);
    char port[8];
    int is_listening = 0;

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &flag_len) < 0 ||
        !is_listening || getsockname(fd, (struct sockaddr *)&address, &len) < 0 ||
        (address.ss_family != AF_INET && address.ss_family != AF_INET6) ||
        getnameinfo((struct sockaddr *)&address, len, found.address,
                    sizeof(found.address), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "file descriptor %d does not listen for TCP connections", fd);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    found.port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (!make_address(&found, &address, &len))
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not a numeric address", found.address);
    *endpoint = found;
    return true;
}

void cn_endpoint_print(const struct cn_endpoint *endpoint, bool with_tls,
                       char url[CN_ENDPOINT_URL_LEN])
{
    bool is_v6 = strchr(endpoint->address, ':') != NULL;

    (void)snprintf(url, CN_ENDPOINT_URL_LEN, "%s://%s%s%s:%u",
                   with_tls ? "https" : "http", is_v6 ? "[" : "", endpoint->address,
                   is_v6 ? "]" : "", endpoint->port);
}
