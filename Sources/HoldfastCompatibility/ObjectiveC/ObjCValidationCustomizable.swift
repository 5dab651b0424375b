#if canImport(ObjectiveC) && canImport(Security)
public import Foundation
public import Security

/// `GCXValidationCustomizable`: ``ValidationCustomizable`` for Objective-C; ``ObjCValidationSettings`` conforms.
@objc(GCXValidationCustomizable) public protocol ObjCValidationCustomizable: AnyObject {
    /// Whether the server's certificate must name the dialed host.
    @objc var sslValidateHostName: Bool { get set }

    /// The bundle whose certificates are pinned.
    @objc var certificateBundle: Bundle { get set }

    /// Whether pins alone decide about trust and expiry.
    @objc var certificatePinOnly: Bool { get set }

    /// The block that decides for the type custom; it may be called from any thread.
    @objc var customValidation: (@Sendable (SecTrust?) -> Bool)? { get set }
}
#endif
