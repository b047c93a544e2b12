#include "remote/sender.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "remote/format.h"

enum { PIECE = 256 << 10, PATIENCE_S = 60, REFUSAL_MS = 200, INFO_MAX = 1 << 30 };

static bool connect_to(const struct cn_sender_target *target, int *out,
                       struct cn_error *err)
{
    const char *host = target->host;
    uint16_t port = target->port;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    const int on = 1;
    struct addrinfo *list = NULL;
    char service[sizeof("65535")];
    int fd = -1, code;

    (void)snprintf(service, sizeof(service), "%" PRIu16, port);
    code = getaddrinfo(host, service, &hints, &list);
    if (code != 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "--host: '%s': %s", host,
                       gai_strerror(code));
    errno = 0;
    for (const struct addrinfo *at = list; at && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
            int why = errno;

            (void)close(fd);
            errno = why;
            fd = -1;
        }
    }
    freeaddrinfo(list);
    if (fd < 0)
        return cn_fail_errno(err,
                             "--host: cannot connect to %s, port %" PRIu16
                             "; is 'cairn recv' running there?",
                             host, port);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    *out = fd;
    return true;
}

static bool send_bytes(int connection, const void *bytes, size_t len,
                       struct cn_error *err)
{
    const char *at = bytes;

    while (len > 0) {
        ssize_t done = send(connection, at, len, MSG_NOSIGNAL);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno == EAGAIN
                       ? cn_fail(err, CN_ERR_IO,
                                 "the receiver took nothing for %d seconds", PATIENCE_S)
                       : cn_fail_errno(err, "the receiver is gone");
        at += done;
        len -= (size_t)done;
    }
    return true;
}

static bool send_message(int connection, uint16_t type, const void *head, size_t head_len,
                         const void *body, size_t body_len, struct cn_error *err)
{
    struct cn_remote_header header = {
        .magic = CN_REMOTE_MAGIC, .type = type, .len = (uint32_t)(head_len + body_len)};
    uint8_t bytes[cn_remote_header_size];

    cn_remote_header_encode(&header, bytes);
    return send_bytes(connection, bytes, sizeof(bytes), err) &&
           send_bytes(connection, head, head_len, err) &&
           send_bytes(connection, body, body_len, err);
}

/* "PREFIXn.dat": the number. */
static bool parse_number(const char *name, const char *prefix, uint32_t *out)
{
    size_t len = strlen(prefix);
    char *end;

    if (strncmp(name, prefix, len) != 0 || name[len] < '0' || name[len] > '9')
        return false;
    unsigned long number = strtoul(name + len, &end, 10);
    *out = (uint32_t)number;
    return strcmp(end, ".dat") == 0 && number <= UINT32_MAX;
}

/* What stands before the bytes of a file in its messages. */
static uint16_t make_head(const char *name, struct cn_text *head)
{
    static const struct {
        const char *prefix;
        uint16_t type;
    } kinds[] = {
        {"", CN_REMOTE_TASK},
        {"kernel-cpu", CN_REMOTE_KERNEL},
        {"perf-cpu", CN_REMOTE_PERF},
    };
    uint8_t bytes[4];
    uint32_t number;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (parse_number(name, kinds[i].prefix, &number)) {
            cn_u32_be_put(bytes, number);
            cn_text_add(head, (const char *)bytes, sizeof(bytes));
            return kinds[i].type;
        }
    cn_u32_be_put(bytes, (uint32_t)strlen(name));
    cn_text_add(head, (const char *)bytes, sizeof(bytes));
    cn_text_str_add(head, name);
    return CN_REMOTE_META;
}

static bool send_file(int connection, int dir, const char *name, char *piece,
                      struct cn_error *err)
{
    struct cn_text head = {0};
    uint16_t type = make_head(name, &head);
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    bool ok = (fd >= 0 && fstat(fd, &status) == 0) ||
              cn_fail_errno(err, "cannot open '%s'", name);
    bool is_first = true;
    ssize_t len = 1;

    while (ok && S_ISREG(status.st_mode) && len > 0) {
        len = read(fd, piece, PIECE);
        if (len < 0)
            ok = cn_fail_errno(err, "cannot read '%s'", name);
        else if (len > 0 || is_first)
            ok = send_message(connection, type, head.chars, head.len, piece, (size_t)len,
                              err);
        is_first = false;
    }
    if (fd >= 0)
        (void)close(fd);
    cn_text_done(&head);
    return ok;
}

/* All of the file info, with its header in the byte order of the network. */
static bool send_info(int connection, const char *dir, struct cn_error *err)
{
    struct cn_file file;
    struct cn_uft_info_header info;
    struct cn_bytes rest;
    uint8_t head[cn_uft_info_header_size];
    bool ok;

    if (!cn_file_open_at(&file, dir, "info", err))
        return false;
    ok = cn_bytes_from(file.bytes, sizeof(head), &rest) && rest.len < INFO_MAX;
    if (ok) {
        /* The byte order is one byte: either reading finds it. */
        ok = cn_uft_info_header_decode_any(file.bytes, false, &info) &&
             cn_uft_info_header_decode_any(file.bytes,
                                           info.byte_order == CN_UFT_BIG_ENDIAN, &info);
        cn_uft_info_header_encode_any(&info, true, head);
        memcpy(head, file.bytes.ptr, CN_UFT_MAGIC_LEN);
    }
    ok = ok ? send_message(connection, CN_REMOTE_INFO, head, sizeof(head), rest.ptr,
                           rest.len, err)
            : cn_fail(err, CN_ERR_FORMAT, "%s/info has %zu bytes", dir, file.bytes.len);
    cn_file_close(&file);
    return ok;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The files; the header of the recording, info, comes last. */
static bool send_files(int connection, const char *path, struct cn_error *err)
{
    struct dirent **list = NULL;
    int count = scandir(path, &list, is_visible, alphasort);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *piece = cn_alloc(1, PIECE);
    bool ok = (count >= 0 && dir >= 0) || cn_fail_errno(err, "cannot read '%s'", path);

    for (int i = 0; i < count; i++) {
        if (ok && strcmp(list[i]->d_name, "info") != 0)
            ok = send_file(connection, dir, list[i]->d_name, piece, err);
        free(list[i]);
    }
    ok = ok && send_info(connection, path, err);
    free(list);
    free(piece);
    if (dir >= 0)
        (void)close(dir);
    return ok;
}

/* The receiver closes the connection when it has stored everything. */
static bool wait_for_end(int connection, struct cn_error *err)
{
    struct pollfd wait = {.fd = connection, .events = POLLIN};
    char byte;
    int ready;

    do
        ready = poll(&wait, 1, PATIENCE_S * 1000);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return cn_fail(err, CN_ERR_IO, "the receiver did not confirm within %d seconds",
                       PATIENCE_S);
    ssize_t len = recv(connection, &byte, 1, 0);
    return len == 0 || (len < 0 ? cn_fail_errno(err, "the receiver did not confirm")
                                : cn_fail(err, CN_ERR_FORMAT, "the receiver answered"));
}

/* A receiver that does not want the recording resets the connection: better know that before the
 * program has run. */
static bool is_refused(int connection)
{
    struct pollfd wait = {.fd = connection, .events = POLLIN};
    char byte;

    return poll(&wait, 1, REFUSAL_MS) > 0 && recv(connection, &byte, 1, MSG_PEEK) <= 0;
}

bool cn_sender_connect(const struct cn_sender_target *target, const char *name, int *out,
                       struct cn_error *err)
{
    const char *token = target->token;

    if (!connect_to(target, out, err))
        return false;
    bool ok = (!token ||
               send_message(*out, CN_REMOTE_TOKEN, NULL, 0, token, strlen(token), err)) &&
              send_message(*out, CN_REMOTE_DIR, NULL, 0, name, strlen(name), err) &&
              !is_refused(*out);
    if (ok)
        return true;
    (void)close(*out);
    *err = (struct cn_error){0};
    return cn_fail(err, CN_ERR_IO, "--host: %s refuses '%s'; %s", target->host, name,
                   token ? "is the token right?" : "does it need --token?");
}

static bool send_rest(int connection, const char *dir, struct cn_error *err)
{
    bool ok = send_files(connection, dir, err) &&
              send_message(connection, CN_REMOTE_END, NULL, 0, NULL, 0, err) &&
              wait_for_end(connection, err);

    (void)close(connection);
    return ok;
}

/* True if the receiver has closed a connection that it had nothing to say on. */
static bool is_lost(int connection)
{
    char byte;

    return recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0 ||
           (errno != EAGAIN && errno != EINTR);
}

bool cn_sender_send(const struct cn_sender_target *target, int connection,
                    const char *name, const char *dir, struct cn_error *err)
{
    if (is_lost(connection)) {
        (void)close(connection);
        if (!cn_sender_connect(target, name, &connection, err))
            return false;
    }
    return send_rest(connection, dir, err);
}
