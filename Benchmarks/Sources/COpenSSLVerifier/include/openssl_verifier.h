#pragma once

#include <stddef.h>
#include <stdint.h>

/// Anchors, parsed once, as a process that verifies keeps them.
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
