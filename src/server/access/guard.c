#include "server/access/guard.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/bytes/digits.h"

enum { TOKEN_LEN_MIN = 16 };

bool cn_guard_make_token(struct cn_guard *guard, struct cn_error *err)
{
    unsigned char bytes[CN_TOKEN_LEN / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return cn_fail_errno(err, "cannot get random numbers");
    cn_hex_put(guard->token, bytes, sizeof(bytes));
    return true;
}

static bool check_token(const char *token, struct cn_error *err)
{
    size_t len = strlen(token);

    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)token[i]) && !strchr("-_.~", token[i]))
            return cn_fail(err, CN_ERR_FORMAT,
                           "a token consists of letters, digits and -_.~");
    if (len < TOKEN_LEN_MIN || len > CN_TOKEN_MAX)
        return cn_fail(err, CN_ERR_FORMAT,
                       "the token has %zu characters; at least %d are needed", len,
                       TOKEN_LEN_MIN);
    return true;
}

bool cn_guard_read_token(struct cn_guard *guard, const char *path, struct cn_error *err)
{
    FILE *file = fopen(path, "re");
    struct stat st;

    if (!file)
        return cn_fail_errno(err, "%s: cannot open it", path);
    if (fstat(fileno(file), &st) < 0 || (S_ISREG(st.st_mode) && st.st_mode & S_IWOTH)) {
        (void)fclose(file);
        return cn_fail(err, CN_ERR_USAGE,
                       "%s: every user can write to it; run 'chmod o-w %s'", path, path);
    }
    if (!fgets(guard->token, sizeof(guard->token), file))
        guard->token[0] = '\0';
    (void)fclose(file);
    size_t len = strcspn(guard->token, "\r\n");
    guard->token[len] = '\0';
    return check_token(guard->token, err) || cn_fail_in(err, "%s", path);
}

bool cn_guard_set_token(struct cn_guard *guard, const char *token, struct cn_error *err)
{
    if (!check_token(token, err))
        return false;
    memcpy(guard->token, token, strlen(token) + 1);
    return true;
}

/* "name", or "name:port" with our port. */
static bool is_named(const char *host, const char *name, uint16_t port)
{
    size_t len = strlen(name);
    char number[8];

    if (strncasecmp(host, name, len) != 0)
        return false;
    (void)snprintf(number, sizeof(number), ":%u", port);
    return host[len] == '\0' || strcmp(host + len, number) == 0;
}

bool cn_guard_knows_host(const struct cn_guard *guard, const char *host)
{
    static const char *const loopback[] = {"127.0.0.1", "localhost", "[::1]"};

    if (!host)
        return false;
    for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++)
        if (is_named(host, loopback[i], guard->at.port))
            return true;
    return is_named(host, guard->at.address, guard->at.port) ||
           (guard->host && is_named(host, guard->host, guard->at.port));
}

bool cn_guard_knows_token(const struct cn_guard *guard, const char *token)
{
    size_t len = strlen(guard->token);
    unsigned difference = strlen(token) == len ? 0 : 1;

    for (size_t i = 0; i < len && token[i]; i++)
        difference |= (unsigned)(guard->token[i] ^ token[i]);
    return difference == 0 && len > 0;
}
