#if canImport(Security)
public import Foundation
public import Holdfast

/// Answers the challenges of a URLSession by the certificates that ``ISPCertificatePinning`` keeps: the server validates
/// for its domain, and one of the certificates stored for exactly that domain is in the path.
///
/// A class to inherit from in Swift, or to use as it is.
open class ISPPinnedNSURLSessionDelegate: PinnedSessionDelegate, @unchecked Sendable {  // as its parent; stores nothing
    /// Makes a delegate.
    /// - Parameters:
    ///   - file: where the certificates are kept.
    ///   - clock: says for which time to validate.
    public init(file: URL, clock: any WallClock = SystemWallClock()) {
        super.init(judge: StoredCertificatesJudge(file: file, clock: clock))
    }

    /// Makes a delegate for the certificates that are stored where nothing else is said.
    public override convenience init() { self.init(file: ISPCertificatePinning.defaultFile) }
}
#endif
