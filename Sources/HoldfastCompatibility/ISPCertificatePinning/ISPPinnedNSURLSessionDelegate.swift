#if canImport(Security)
public import Foundation
public import Holdfast

/// Answers the challenges of a URLSession with the certificates that ``ISPCertificatePinning`` stores: the server must
/// validate for its domain, and one of the certificates stored for exactly that domain must be in the path.
///
/// You can inherit from it in Swift, or use it as it is.
nonisolated open class ISPPinnedNSURLSessionDelegate: PinnedSessionDelegate,
    @unchecked Sendable  // Like its superclass; it stores nothing.
{
    /// Makes a delegate.
    /// - Parameters:
    ///   - file: the file with the certificates.
    ///   - clock: the time of the validation.
    public init(file: URL, clock: any WallClock = SystemWallClock()) {
        super.init(judge: StoredCertificatesJudge(file: file, clock: clock))
    }

    /// Makes a delegate for the certificates in the default file.
    public override convenience init() { self.init(file: ISPCertificatePinning.defaultFile) }
}
#endif
