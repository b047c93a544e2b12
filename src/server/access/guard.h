/* Access control: the Host header and a token.
 *
 * The URL that the server prints contains its token; a page loaded with it gets a cookie,
 * so that addresses copied from the browser do not contain it.
 * Threads: immutable after it was set up.
 */
#ifndef CN_SERVER_ACCESS_GUARD_H
#define CN_SERVER_ACCESS_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "server/access/endpoint.h"

enum { CN_TOKEN_LEN = 32, CN_TOKEN_MAX = 256 };

struct cn_guard {
    char token[CN_TOKEN_MAX + 1];
    struct cn_endpoint at; /* that the server listens on */
    const char *host;      /* a further name of the server; NULL: none */
};

/* Set a random token. */
CN_CHECK bool cn_guard_make_token(struct cn_guard *guard, struct cn_error *err);

/* Set the token in a file: its first line, 16 characters or more. */
CN_CHECK bool cn_guard_read_token(struct cn_guard *guard, const char *path,
                                  struct cn_error *err);

/* Set a token that was read elsewhere: 16 characters or more. */
CN_CHECK bool cn_guard_set_token(struct cn_guard *guard, const char *token,
                                 struct cn_error *err);

/* True if a Host header names this server: refuses DNS rebinding. NULL does not. */
bool cn_guard_knows_host(const struct cn_guard *guard, const char *host);

/* True if this is the token; takes the same time wherever it differs. */
bool cn_guard_knows_token(const struct cn_guard *guard, const char *token);

#endif
