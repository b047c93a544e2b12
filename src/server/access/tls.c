#include "server/access/tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"

struct cn_tls {
    char *cert, *key, *client_ca;
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priorities;
};

struct cn_tls_session {
    gnutls_session_t session;
};

static bool read_text(const char *path, char **out, struct cn_error *err)
{
    struct cn_file file;

    if (!cn_file_open(&file, path, err))
        return false;
    *out = cn_alloc(file.bytes.len + 1, 1);
    if (file.bytes.len > 0)
        memcpy(*out, file.bytes.ptr, file.bytes.len);
    cn_file_close(&file);
    return true;
}

static gnutls_datum_t datum_of(char *text)
{
    return (gnutls_datum_t){(unsigned char *)text, (unsigned)strlen(text)};
}

static bool set_up(struct cn_tls *tls, const struct cn_tls_files *files,
                   struct cn_error *err)
{
    gnutls_datum_t cert = datum_of(tls->cert), key = datum_of(tls->key), ca;
    int status;

    if (gnutls_certificate_allocate_credentials(&tls->credentials) < 0 ||
        gnutls_priority_init(&tls->priorities, CN_TLS_PRIORITIES, NULL) < 0)
        return cn_fail(err, CN_ERR_IO, "cannot set up TLS");
    status = gnutls_certificate_set_x509_key_mem(tls->credentials, &cert, &key,
                                                 GNUTLS_X509_FMT_PEM);
    if (status < 0)
        return cn_fail(err, CN_ERR_FORMAT, "--tls-cert %s and --tls-key %s: %s",
                       files->cert, files->key, gnutls_strerror(status));
    if (!tls->client_ca)
        return true;
    ca = datum_of(tls->client_ca);
    status =
        gnutls_certificate_set_x509_trust_mem(tls->credentials, &ca, GNUTLS_X509_FMT_PEM);
    if (status <= 0)
        return cn_fail(err, CN_ERR_FORMAT, "--tls-client-ca %s: %s", files->client_ca,
                       status < 0 ? gnutls_strerror(status) : "no certificate in it");
    return true;
}

bool cn_tls_open(struct cn_tls **out, const struct cn_tls_files *files,
                 struct cn_error *err)
{
    struct cn_tls *tls;

    *out = NULL;
    if (!files->cert && !files->key && !files->client_ca)
        return true;
    if (!files->cert || !files->key)
        return cn_fail(err, CN_ERR_USAGE,
                       files->client_ca && !files->cert && !files->key
                           ? "--tls-client-ca needs --tls-cert and --tls-key"
                           : "--tls-cert and --tls-key need each other");
    tls = cn_alloc(1, sizeof(*tls));
    if (!read_text(files->cert, &tls->cert, err) ||
        !read_text(files->key, &tls->key, err) ||
        (files->client_ca && !read_text(files->client_ca, &tls->client_ca, err)) ||
        !set_up(tls, files, err)) {
        cn_tls_close(tls);
        return false;
    }
    *out = tls;
    return true;
}

void cn_tls_close(struct cn_tls *tls)
{
    if (!tls)
        return;
    if (tls->credentials)
        gnutls_certificate_free_credentials(tls->credentials);
    if (tls->priorities)
        gnutls_priority_deinit(tls->priorities);
    free(tls->cert);
    free(tls->key);
    free(tls->client_ca);
    free(tls);
}

const char *cn_tls_cert(const struct cn_tls *tls)
{
    return tls ? tls->cert : NULL;
}

const char *cn_tls_key(const struct cn_tls *tls)
{
    return tls ? tls->key : NULL;
}

const char *cn_tls_client_ca(const struct cn_tls *tls)
{
    return tls ? tls->client_ca : NULL;
}

/* Called by the handshake when the certificate of the client is there: other than 0 ends it. */
static int verify_client(gnutls_session_t session)
{
    gnutls_typed_vdata_st purpose = {
        .type = GNUTLS_DT_KEY_PURPOSE_OID,
        .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT,
    };
    unsigned status = 0;

    return gnutls_certificate_verify_peers(session, &purpose, 1, &status) < 0 ||
           status != 0;
}

void cn_tls_demand(const struct cn_tls *tls, void *gnutls_session)
{
    if (!tls || !tls->client_ca || !gnutls_session)
        return;
    gnutls_certificate_server_set_request(gnutls_session, GNUTLS_CERT_REQUIRE);
    gnutls_session_set_verify_function(gnutls_session, verify_client);
}

bool cn_tls_session_open(const struct cn_tls *tls, int fd, struct cn_tls_session **out)
{
    static const gnutls_datum_t protocol = {(unsigned char *)(uintptr_t) "h2", 2};
    struct cn_tls_session *session = cn_alloc(1, sizeof(*session));

    if (gnutls_init(&session->session, GNUTLS_SERVER | GNUTLS_NONBLOCK) < 0 ||
        gnutls_priority_set(session->session, tls->priorities) < 0 ||
        gnutls_credentials_set(session->session, GNUTLS_CRD_CERTIFICATE,
                               tls->credentials) < 0 ||
        gnutls_alpn_set_protocols(session->session, &protocol, 1, GNUTLS_ALPN_MANDATORY) <
            0) {
        cn_tls_session_close(session);
        return false;
    }
    cn_tls_demand(tls, session->session);
    gnutls_transport_set_int(session->session, fd);
    *out = session;
    return true;
}

void cn_tls_session_close(struct cn_tls_session *session)
{
    if (!session)
        return;
    if (session->session)
        gnutls_deinit(session->session);
    free(session);
}

enum cn_tls_step cn_tls_session_handshake(struct cn_tls_session *session)
{
    int status = gnutls_handshake(session->session);

    if (status == GNUTLS_E_SUCCESS)
        return CN_TLS_DONE;
    return gnutls_error_is_fatal(status) ? CN_TLS_FAILED : CN_TLS_AGAIN;
}

static ssize_t result_of(ssize_t status)
{
    if (status >= 0)
        return status;
    errno = gnutls_error_is_fatal((int)status) ? EPROTO : EAGAIN;
    return -1;
}

ssize_t cn_tls_session_receive(struct cn_tls_session *session, uint8_t *data, size_t len)
{
    ssize_t status = gnutls_record_recv(session->session, data, len);

    return status == GNUTLS_E_PREMATURE_TERMINATION ? 0 : result_of(status);
}

ssize_t cn_tls_session_send(struct cn_tls_session *session, const uint8_t *data,
                            size_t len)
{
    return result_of(gnutls_record_send(session->session, data, len));
}

bool cn_tls_session_has_more(const struct cn_tls_session *session)
{
    return gnutls_record_check_pending(session->session) > 0;
}

void cn_tls_session_end(struct cn_tls_session *session)
{
    (void)gnutls_bye(session->session, GNUTLS_SHUT_WR);
}
