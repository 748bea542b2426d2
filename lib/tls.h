/* SPDX-License-Identifier: MIT */
/*
 * TLS between a link and its socket: what is sent is encrypted before, what came
 * is decrypted after, so that waits and their limits are those of any link.
 *
 * OpenSSL's library is loaded when the first link asks for it, since that takes
 * three times as long as the start of a program. Where its headers were not there
 * when this was built, there is no TLS, and rl_address_parse() says so.
 */
#ifndef RL_TLS_H
#define RL_TLS_H

#include "command.h"
#include "redislock.h"

#if __has_include(<openssl/ssl.h>) && !defined(RL_WITHOUT_TLS)
#define RL_HAS_TLS 1
#else
#define RL_HAS_TLS 0
#endif

struct rl_tls;

enum rl_tls_step { RL_TLS_DONE, RL_TLS_GOES_ON, RL_TLS_FAILED };

/* What an address asks for: whom to trust, which certificate to show. NULL, and
 * why. Lasts for any number of connections. */
struct rl_tls *rl_tls_new(const struct rl_address *address, char *error, size_t error_size);
void rl_tls_free(struct rl_tls *tls);

/* A new connection to the node, and its end. False: out of memory. */
bool rl_tls_begin(struct rl_tls *tls, const struct rl_address *node);
void rl_tls_end(struct rl_tls *tls);

/* Goes on with the handshake over a socket that does not block, until it would. */
enum rl_tls_step rl_tls_handshake(struct rl_tls *tls, int fd, char *error, size_t error_size);

/* In place of `out`, what is to be sent for it. */
bool rl_tls_encrypt(struct rl_tls *tls, struct rl_buffer *out);

/* What n bytes that came mean, appended to `in`; nothing, if more has to come.
 * False: they are not as they were sent, or out of memory. */
bool rl_tls_decrypt(struct rl_tls *tls, const char *bytes, size_t n, struct rl_buffer *in);

#endif
