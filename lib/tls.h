/* SPDX-License-Identifier: MIT */
/*
 * TLS between a link and its socket: what is sent is encrypted before, what came
 * is decrypted after, so that waits and their limits are those of any link.
 *
 * OpenSSL's library is loaded when the first link asks for it, since that takes
 * three times as long as the start of a program. Where its headers were not there
 * when this was built, there is no TLS, and rdl_address_parse() says so.
 */
#ifndef RDL_TLS_H
#define RDL_TLS_H

#include "command.h"
#include "redislock.h"

#if __has_include(<openssl/ssl.h>) && !defined(RDL_WITHOUT_TLS)
#define RDL_HAS_TLS 1
#else
#define RDL_HAS_TLS 0
#endif

struct rdl_tls;

enum rdl_tls_step { RDL_TLS_DONE, RDL_TLS_GOES_ON, RDL_TLS_FAILED };

/* What an address asks for: whom to trust, which certificate to show. NULL, and
 * why. Lasts for any number of connections. */
struct rdl_tls *rdl_tls_new(const struct rdl_address *address, char *error, size_t error_size);
void rdl_tls_free(struct rdl_tls *tls);

/* A new connection to the node, and its end. False: out of memory. */
bool rdl_tls_begin(struct rdl_tls *tls, const struct rdl_address *node);
void rdl_tls_end(struct rdl_tls *tls);

/* Continues the handshake over a socket that does not block, until it would. */
enum rdl_tls_step rdl_tls_handshake(struct rdl_tls *tls, int fd, char *error, size_t error_size);

/* In place of `out`, what is to be sent for it. */
bool rdl_tls_encrypt(struct rdl_tls *tls, struct rdl_buffer *out);

/* What n bytes that came mean, appended to `in`; nothing, if more has to come.
 * False: they are not as they were sent, or out of memory. */
bool rdl_tls_decrypt(struct rdl_tls *tls, const char *bytes, size_t n, struct rdl_buffer *in);

#endif
