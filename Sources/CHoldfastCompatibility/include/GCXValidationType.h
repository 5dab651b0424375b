// How a policy of GCXTrustPolicy validates, for Objective-C. It is written in C because the older generation's second
// name for it is a typedef, and Swift exports none.

#ifndef GCX_VALIDATION_TYPE_H
#define GCX_VALIDATION_TYPE_H

/// How a policy validates; the numbers are part of the interface. `ObjCValidationType` in Swift.
typedef enum __attribute__((enum_extensibility(open), swift_name("ObjCValidationType"))) GCXValidationType : long {
    /// Accepts every server. For development.
    GCXValidationTypeDisabled = 0,
    /// The chain validates for the host.
    GCXValidationTypeStandard = 1,
    /// The application's block decides.
    GCXValidationTypeCustom = 2,
    /// Standard validation, and a pinned certificate is in a valid path.
    GCXValidationTypePinCertificate = 3,
    /// Standard validation, and a pinned public key is in a valid path.
    GCXValidationTypePinPublicKey = 4,
    /// As `GCXValidationTypePinCertificate`, with the pins of a trust server.
    GCXValidationTypePinCertificateOnline = 5,
    /// As `GCXValidationTypePinPublicKey`, with the pins of a trust server.
    GCXValidationTypePinPublicKeyOnline = 6,
} GCXValidationType;

/// The older generation's name of `GCXValidationType`.
typedef GCXValidationType TrustPolicyType;

#endif
