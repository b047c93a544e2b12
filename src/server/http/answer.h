/* From a connection to an answer: the callbacks that libmicrohttpd wants.
 * Threads: called by the server's own threads.
 */
#ifndef CN_SERVER_HTTP_ANSWER_H
#define CN_SERVER_HTTP_ANSWER_H

#include <microhttpd.h>

enum MHD_Result cn_server_answer(void *arg, struct MHD_Connection *connection,
                                 const char *url, const char *method, const char *version,
                                 const char *upload, size_t *upload_len, void **state);

/* A request is over, one way or another. */
void cn_server_forget(void *arg, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code);

#endif
