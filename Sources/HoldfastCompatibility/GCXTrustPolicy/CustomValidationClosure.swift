#if canImport(Security)
public import Security
#else
public import Holdfast

/// Code written against Security.framework's `SecTrust` compiles on other platforms with Holdfast's own value.
public typealias SecTrust = ServerTrust
#endif

/// The application's own validation, as GCXTrustPolicy publishes it: it gets the trust, or nil if there is none, and
/// answers whether the trust is trusted. It may be called from any thread.
public typealias CustomValidationClosure = @Sendable (SecTrust?) -> Bool
