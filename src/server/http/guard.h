/* Who may ask: the right host, and a token.
 *
 * The server tells its token in the URL it prints; a page loaded with it gets a cookie,
 * so that addresses people copy from the browser do not carry it.
 * Threads: immutable after it was made.
 */
#ifndef CN_SERVER_HTTP_GUARD_H
#define CN_SERVER_HTTP_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { CN_TOKEN_LEN = 32, CN_TOKEN_MAX = 256 };

struct cn_guard {
    char token[CN_TOKEN_MAX + 1];
    char address[64]; /* that the server listens on */
    const char *host; /* a further name it goes by; NULL: none */
    uint16_t port;
    bool is_loopback; /* nobody but this machine can ask */
};

/* A token nobody can guess. */
CN_CHECK bool cn_guard_make_token(struct cn_guard *guard, struct cn_error *err);

/* The token from a file: its first line, 16 characters or more. */
CN_CHECK bool cn_guard_read_token(struct cn_guard *guard, const char *path,
                                  struct cn_error *err);

/* Whether the Host of a request is a name of this server: pages of others that make
 * their own name point here are refused. NULL is not. */
bool cn_guard_knows_host(const struct cn_guard *guard, const char *host);

/* Whether this is the token; takes the same time wherever it differs. */
bool cn_guard_knows_token(const struct cn_guard *guard, const char *token);

#endif
