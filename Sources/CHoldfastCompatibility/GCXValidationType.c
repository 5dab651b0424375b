#include "GCXValidationType.h"

// SwiftPM builds no target of C without a source. Objective-C passes a type on by its number.
_Static_assert(GCXValidationTypeDisabled == 0, "a published number");
_Static_assert(GCXValidationTypeStandard == 1, "a published number");
_Static_assert(GCXValidationTypeCustom == 2, "a published number");
_Static_assert(GCXValidationTypePinCertificate == 3, "a published number");
_Static_assert(GCXValidationTypePinPublicKey == 4, "a published number");
_Static_assert(GCXValidationTypePinCertificateOnline == 5, "a published number");
_Static_assert(GCXValidationTypePinPublicKeyOnline == 6, "a published number");
