// One import for code that was written for GCXTrustPolicy, WultraSSLPinning or ISPCertificatePinning.
@_exported public import Holdfast

#if canImport(ObjectiveC)
@_exported public import CHoldfastCompatibility
#endif
