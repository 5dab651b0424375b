#if canImport(Security)
public import Security
#endif

/// The application's own validation, as GCXTrustPolicy publishes it: the trust, or nil where there is none, and the
/// answer whether it is trusted. It may be called from any thread.
public typealias CustomValidationClosure = @Sendable (SecTrust?) -> Bool

extension CustomPolicy {
    /// The published closure as a policy asks it. A chain that the system cannot even read is no absence of a trust: it
    /// is rejected, and the closure does not learn of it.
    static func validation(_ closure: @escaping CustomValidationClosure) -> Validation {
        #if canImport(Security)
        { trust in
            guard let trust else { return closure(nil) }
            guard let secTrust = trust.secTrust else { return false }
            return closure(secTrust)
        }
        #else
        closure
        #endif
    }
}
