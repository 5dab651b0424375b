#if canImport(ObjectiveC)
import Foundation

/// `GCXValidationType`, a ``ValidationType`` as Objective-C has it; the numbers are the same.
@objc(GCXValidationType) public enum ObjCValidationType: Int, Sendable {
    /// Accepts every server. For development.
    case disabled = 0
    /// The chain validates for the host.
    case standard = 1
    /// The application's block decides.
    case custom = 2
    /// Standard validation, and a pinned certificate is in a valid path.
    case pinCertificate = 3
    /// Standard validation, and a pinned public key is in a valid path.
    case pinPublicKey = 4
    /// As `pinCertificate`, with the pins of a trust server.
    case pinCertificateOnline = 5
    /// As `pinPublicKey`, with the pins of a trust server.
    case pinPublicKeyOnline = 6

    /// The same type as Swift has it; a number that is none of them, which Objective-C lets one pass, is `custom`: without
    /// a block that rejects.
    var swiftType: ValidationType { ValidationType(rawValue: rawValue) ?? .custom }
}
#endif
