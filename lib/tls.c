/* SPDX-License-Identifier: MIT */
#include "tls.h"

#if RDL_HAS_TLS

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#define TLS_LIBRARY "libssl.so.3"
#else
#define TLS_LIBRARY "libssl.so.1.1"
#endif

enum { PIECE_SIZE = 4096, OUT_MAX = 1 << 24 };

/* ---- OpenSSL, loaded ----------------------------------------------------- */

/* What is used of it; those whose names begin with BIO, ERR and X509 are in the
 * library that it brings along. */
/* clang-format off */
#define TLS_FUNCTIONS(F)                                                      \
	F(BIO_ctrl_pending) F(BIO_new) F(BIO_read) F(BIO_s_mem) F(BIO_write)  \
	F(ERR_clear_error) F(ERR_get_error) F(ERR_reason_error_string)        \
	F(SSL_CTX_ctrl) F(SSL_CTX_free) F(SSL_CTX_load_verify_locations)      \
	F(SSL_CTX_new) F(SSL_CTX_set_default_verify_paths)                    \
	F(SSL_CTX_set_verify) F(SSL_CTX_use_certificate_chain_file)           \
	F(SSL_CTX_use_PrivateKey_file) F(SSL_ctrl) F(SSL_do_handshake)        \
	F(SSL_free) F(SSL_get0_param) F(SSL_get_error)                        \
	F(SSL_get_verify_result) F(SSL_new) F(SSL_read) F(SSL_set1_host)      \
	F(SSL_set_bio) F(SSL_set_connect_state) F(SSL_write)                  \
	F(TLS_client_method) F(X509_VERIFY_PARAM_set1_ip_asc)                 \
	F(X509_verify_cert_error_string)
/* clang-format on */

struct functions {
#define FIELD(name) __typeof__(name) *name;
	TLS_FUNCTIONS(FIELD)
#undef FIELD
};

static const struct symbol {
	const char *name;
	size_t at;
} symbols[] = {
#define ROW(name) { #name, offsetof(struct functions, name) },
	TLS_FUNCTIONS(ROW)
#undef ROW
};

struct rdl_tls {
	void *library;
	struct functions ssl;
	SSL_CTX *context;
	SSL *connection; /* NULL = none */
	BIO *in, *out;   /* its; what came, and what is to be sent */
};

/* It stays in memory: what it leaves for the end of the process is not undone. */
static bool load_functions(struct rdl_tls *tls)
{
	tls->library = dlopen(TLS_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *found = tls->library ? dlsym(tls->library, symbols[i].name) : NULL;

		if (!found)
			return false;
		memcpy((char *)&tls->ssl + symbols[i].at, &found, sizeof(found));
	}
	return true;
}

/* ---- What an address asks for -------------------------------------------- */

static bool fail_tls(const struct rdl_tls *tls, const char *what, const char *name, char *error,
		     size_t error_size)
{
	const unsigned long code = tls->ssl.ERR_get_error();
	const char *reason = code ? tls->ssl.ERR_reason_error_string(code) : NULL;

	if (name && access(name, R_OK) != 0)
		reason = strerror(errno);
	snprintf(error, error_size, "TLS: %s%s%s%s: %s", what, name ? " '" : "", name ? name : "",
		 name ? "'" : "", reason ? reason : "no reason is told");
	return false;
}

static bool trust_authorities(const struct rdl_tls *tls, const struct rdl_address *address,
			      char *error, size_t error_size)
{
	const struct functions *ssl = &tls->ssl;
	const char *ca = address->ca;

	ssl->SSL_CTX_set_verify(tls->context,
				address->is_unverified ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	if (!ca[0])
		return ssl->SSL_CTX_set_default_verify_paths(tls->context) == 1 ||
		       fail_tls(tls, "the system's authorities", NULL, error, error_size);
	return ssl->SSL_CTX_load_verify_locations(tls->context, ca, NULL) == 1 ||
	       fail_tls(tls, "cannot use the authority", ca, error, error_size);
}

static bool take_certificate(const struct rdl_tls *tls, const struct rdl_address *address,
			     char *error, size_t error_size)
{
	const struct functions *ssl = &tls->ssl;

	if (!address->cert[0])
		return true;
	if (ssl->SSL_CTX_use_certificate_chain_file(tls->context, address->cert) != 1)
		return fail_tls(tls, "cannot use the certificate", address->cert, error,
				error_size);
	return ssl->SSL_CTX_use_PrivateKey_file(tls->context, address->key, SSL_FILETYPE_PEM) ==
		       1 ||
	       fail_tls(tls, "cannot use the key", address->key, error, error_size);
}

static bool make_context(struct rdl_tls *tls, const struct rdl_address *address, char *error,
			 size_t error_size)
{
	const struct functions *ssl = &tls->ssl;

	ssl->ERR_clear_error();
	tls->context = ssl->SSL_CTX_new(ssl->TLS_client_method());
	if (!tls->context || ssl->SSL_CTX_ctrl(tls->context, SSL_CTRL_SET_MIN_PROTO_VERSION,
					       TLS1_2_VERSION, NULL) != 1)
		return fail_tls(tls, "cannot begin", NULL, error, error_size);
	return trust_authorities(tls, address, error, error_size) &&
	       take_certificate(tls, address, error, error_size);
}

struct rdl_tls *rdl_tls_new(const struct rdl_address *address, char *error, size_t error_size)
{
	struct rdl_tls *tls = calloc(1, sizeof(*tls));

	if (!tls) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	if (!load_functions(tls))
		snprintf(error, error_size, "TLS needs %s: %s", TLS_LIBRARY, dlerror());
	else if (make_context(tls, address, error, error_size))
		return tls;
	rdl_tls_free(tls);
	return NULL;
}

void rdl_tls_free(struct rdl_tls *tls)
{
	if (!tls)
		return;
	rdl_tls_end(tls);
	if (tls->context)
		tls->ssl.SSL_CTX_free(tls->context);
	if (tls->library)
		dlclose(tls->library);
	free(tls);
}

/* ---- One connection ------------------------------------------------------ */

/* The certificate must be one for the name, or the address, that was asked for;
 * only a name can be told to the server. */
static bool expect_name(struct rdl_tls *tls, const struct rdl_address *node)
{
	const struct functions *ssl = &tls->ssl;
	const char *name = node->sni[0] ? node->sni : node->host;
	unsigned char bytes[16];

	if (inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1)
		return ssl->X509_VERIFY_PARAM_set1_ip_asc(ssl->SSL_get0_param(tls->connection),
							  name) == 1;
	return ssl->SSL_set1_host(tls->connection, name) == 1 &&
	       ssl->SSL_ctrl(tls->connection, SSL_CTRL_SET_TLSEXT_HOSTNAME,
			     TLSEXT_NAMETYPE_host_name, (void *)name) == 1;
}

bool rdl_tls_begin(struct rdl_tls *tls, const struct rdl_address *node)
{
	const struct functions *ssl = &tls->ssl;

	tls->connection = ssl->SSL_new(tls->context);
	if (!tls->connection)
		return false;
	tls->in = ssl->BIO_new(ssl->BIO_s_mem());
	tls->out = ssl->BIO_new(ssl->BIO_s_mem());
	ssl->SSL_set_bio(tls->connection, tls->in, tls->out);
	ssl->SSL_set_connect_state(tls->connection);
	if (tls->in && tls->out && expect_name(tls, node))
		return true;
	rdl_tls_end(tls);
	return false;
}

/* Says no farewell: a child would say it for its parent. */
void rdl_tls_end(struct rdl_tls *tls)
{
	if (tls->connection)
		tls->ssl.SSL_free(tls->connection);
	tls->connection = NULL;
}

/* All that waits to be sent. False: out of memory. */
static bool take_out(struct rdl_tls *tls, struct rdl_buffer *to)
{
	char piece[PIECE_SIZE];
	int n;

	while ((n = tls->ssl.BIO_read(tls->out, piece, sizeof(piece))) > 0) {
		if (!rdl_buffer_append(to, piece, (size_t)n))
			return false;
	}
	return true;
}

/* ---- The handshake ------------------------------------------------------- */

static enum rdl_tls_step fail_handshake(struct rdl_tls *tls, char *error, size_t error_size)
{
	const long verdict = tls->ssl.SSL_get_verify_result(tls->connection);

	if (verdict == X509_V_OK)
		fail_tls(tls, "no handshake", NULL, error, error_size);
	else
		snprintf(error, error_size, "TLS: the server's certificate is refused: %s",
			 tls->ssl.X509_verify_cert_error_string(verdict));
	return RDL_TLS_FAILED;
}

/* A few kilobytes, for which a fresh socket has room. */
static bool send_out(struct rdl_tls *tls, int fd)
{
	struct rdl_buffer bytes = { 0 };
	const bool good = take_out(tls, &bytes) &&
			  (bytes.length == 0 || send(fd, bytes.bytes, bytes.length, MSG_NOSIGNAL) ==
							(ssize_t)bytes.length);

	rdl_buffer_release(&bytes);
	return good;
}

/* What has come. False: nothing; *is_closed if nothing will. */
static bool receive_in(struct rdl_tls *tls, int fd, bool *is_closed)
{
	char piece[PIECE_SIZE];
	const ssize_t n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);

	*is_closed = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
	return n > 0 && tls->ssl.BIO_write(tls->in, piece, (int)n) == (int)n;
}

enum rdl_tls_step rdl_tls_handshake(struct rdl_tls *tls, int fd, char *error, size_t error_size)
{
	bool is_closed = false;
	int done, why;

	do {
		tls->ssl.ERR_clear_error();
		done = tls->ssl.SSL_do_handshake(tls->connection);
		why = tls->ssl.SSL_get_error(tls->connection, done);
		if (!send_out(tls, fd))
			is_closed = true;
		if (done == 1)
			return RDL_TLS_DONE;
		if (why != SSL_ERROR_WANT_READ)
			return fail_handshake(tls, error, error_size);
	} while (!is_closed && receive_in(tls, fd, &is_closed));
	if (!is_closed)
		return RDL_TLS_GOES_ON;
	snprintf(error, error_size,
		 "TLS: the server closed the connection: is this its port for TLS?");
	return RDL_TLS_FAILED;
}

/* ---- Bytes --------------------------------------------------------------- */

bool rdl_tls_encrypt(struct rdl_tls *tls, struct rdl_buffer *out)
{
	size_t done = 0;

	while (done < out->length) {
		const size_t left = out->length - done;
		const int n = tls->ssl.SSL_write(tls->connection, out->bytes + done,
						 left < OUT_MAX ? (int)left : OUT_MAX);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	out->length = 0;
	return take_out(tls, out);
}

bool rdl_tls_decrypt(struct rdl_tls *tls, const char *bytes, size_t n, struct rdl_buffer *in)
{
	char piece[PIECE_SIZE];
	int got;

	tls->ssl.ERR_clear_error();
	if (tls->ssl.BIO_write(tls->in, bytes, (int)n) != (int)n)
		return false;
	while ((got = tls->ssl.SSL_read(tls->connection, piece, sizeof(piece))) > 0) {
		if (!rdl_buffer_append(in, piece, (size_t)got))
			return false;
	}
	got = tls->ssl.SSL_get_error(tls->connection, got);
	/* After a farewell, the end of the connection will be seen. */
	return got == SSL_ERROR_WANT_READ || got == SSL_ERROR_ZERO_RETURN;
}

#else /* no OpenSSL: rdl_address_parse() lets no such address pass */

struct rdl_tls *rdl_tls_new(const struct rdl_address *address, char *error, size_t error_size)
{
	(void)address;
	(void)error_size;
	error[0] = '\0';
	return NULL;
}

void rdl_tls_free(struct rdl_tls *tls)
{
	(void)tls;
}

bool rdl_tls_begin(struct rdl_tls *tls, const struct rdl_address *node)
{
	(void)tls;
	(void)node;
	return false;
}

void rdl_tls_end(struct rdl_tls *tls)
{
	(void)tls;
}

enum rdl_tls_step rdl_tls_handshake(struct rdl_tls *tls, int fd, char *error, size_t error_size)
{
	(void)tls;
	(void)fd;
	(void)error;
	(void)error_size;
	return RDL_TLS_FAILED;
}

bool rdl_tls_encrypt(struct rdl_tls *tls, struct rdl_buffer *out)
{
	(void)tls;
	(void)out;
	return false;
}

bool rdl_tls_decrypt(struct rdl_tls *tls, const char *bytes, size_t n, struct rdl_buffer *in)
{
	(void)tls;
	(void)bytes;
	(void)n;
	(void)in;
	return false;
}

#endif
