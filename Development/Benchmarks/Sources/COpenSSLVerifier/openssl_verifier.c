#include "openssl_verifier.h"

#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

struct openssl_verifier {
    X509_STORE *store;
};

openssl_verifier *openssl_verifier_new(const uint8_t *root, size_t root_length) {
    openssl_verifier *verifier = calloc(1, sizeof(*verifier));
    X509 *certificate = d2i_X509(NULL, &root, (long)root_length);
    if (verifier != NULL) verifier->store = X509_STORE_new();
    if (verifier == NULL || certificate == NULL || verifier->store == NULL ||
        X509_STORE_add_cert(verifier->store, certificate) != 1) {
        X509_free(certificate);
        openssl_verifier_free(verifier);
        return NULL;
    }
    X509_free(certificate);
    return verifier;
}

void openssl_verifier_free(openssl_verifier *verifier) {
    if (verifier == NULL) return;
    X509_STORE_free(verifier->store);
    free(verifier);
}

int openssl_verifier_verify(
    const openssl_verifier *verifier, const uint8_t *certificates, const size_t *lengths, size_t count,
    const char *host, int64_t time) {
    int verified = 0;
    X509 *leaf = NULL;
    STACK_OF(X509) *others = sk_X509_new_null();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    const uint8_t *next = certificates;
    for (size_t index = 0; index < count; index++) {
        const uint8_t *position = next;
        X509 *certificate = d2i_X509(NULL, &position, (long)lengths[index]);
        next += lengths[index];
        if (certificate == NULL) goto done;
        if (index == 0) {
            leaf = certificate;
        } else if (sk_X509_push(others, certificate) == 0) {
            X509_free(certificate);
            goto done;
        }
    }
    if (X509_STORE_CTX_init(context, verifier->store, leaf, others) != 1) goto done;
    X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_time(parameters, (time_t)time);
    if (X509_VERIFY_PARAM_set1_host(parameters, host, 0) != 1) goto done;
    if (X509_STORE_CTX_set_purpose(context, X509_PURPOSE_SSL_SERVER) != 1) goto done;
    verified = X509_verify_cert(context) == 1;
done:
    X509_STORE_CTX_free(context);
    sk_X509_pop_free(others, X509_free);
    X509_free(leaf);
    return verified;
}

const char *openssl_verifier_version(void) { return OpenSSL_version(OPENSSL_VERSION); }

struct openssl_revocation_list {
    X509_CRL *list;
};

openssl_revocation_list *openssl_revocation_list_new(const uint8_t *list, size_t length) {
    openssl_revocation_list *made = calloc(1, sizeof(*made));
    if (made == NULL) return NULL;
    const unsigned char *cursor = list;
    made->list = d2i_X509_CRL(NULL, &cursor, (long)length);
    if (made->list != NULL) return made;
    free(made);
    return NULL;
}

void openssl_revocation_list_free(openssl_revocation_list *list) {
    if (list == NULL) return;
    X509_CRL_free(list->list);
    free(list);
}

int openssl_revocation_list_lists(const openssl_revocation_list *list, const uint8_t *serial, size_t length) {
    if (list == NULL) return 0;
    int found = 0;
    X509_REVOKED *entry = NULL;
    BIGNUM *number = BN_bin2bn(serial, (int)length, NULL);
    ASN1_INTEGER *integer = number == NULL ? NULL : BN_to_ASN1_INTEGER(number, NULL);
    if (integer != NULL) found = X509_CRL_get0_by_serial(list->list, &entry, integer) == 1;
    ASN1_INTEGER_free(integer);
    BN_free(number);
    return found;
}
