#pragma once

#include <stddef.h>
#include <stdint.h>

/// Anchors, parsed once, as in a long-running process.
typedef struct openssl_verifier openssl_verifier;

/// Makes a verifier that trusts one root (DER); NULL if it cannot be parsed.
openssl_verifier *openssl_verifier_new(const uint8_t *root, size_t root_length);

void openssl_verifier_free(openssl_verifier *verifier);

/// Parses the certificates (DER, leaf first, one behind the other) and verifies the leaf as a server of this host at
/// this Unix time. Returns 1 if it verifies, 0 if not.
int openssl_verifier_verify(
    const openssl_verifier *verifier, const uint8_t *certificates, const size_t *lengths, size_t count,
    const char *host, int64_t time);

const char *openssl_verifier_version(void);

/// A revocation list (DER), parsed once; NULL if it cannot be.
typedef struct openssl_revocation_list openssl_revocation_list;

openssl_revocation_list *openssl_revocation_list_new(const uint8_t *list, size_t length);

void openssl_revocation_list_free(openssl_revocation_list *list);

/// 1 if the list has the positive serial number, in big-endian bytes, and 0 if not.
int openssl_revocation_list_lists(const openssl_revocation_list *list, const uint8_t *serial, size_t length);
