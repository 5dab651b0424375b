#if canImport(ObjectiveC) && canImport(Security)
import Foundation
public import Holdfast

/// `GCXPinnedSessionDelegate`: a `PinnedSessionDelegate` that Objective-C can make.
@objc(GCXPinnedSessionDelegate)
public final class ObjCPinnedSessionDelegate: PinnedSessionDelegate,
    @unchecked Sendable  // Like its superclass, and for the same reason; it adds no stored properties.
{
    /// Makes a delegate; a host without a policy is rejected.
    /// - Parameter manager: the manager whose policies decide.
    @objc(initWithManager:) public init(manager: ObjCTrustManager) {
        super.init(manager: manager.manager, anchors: nil)
    }

    /// The reason why the last connection to a host was rejected, in several lines; nil if it was not.
    /// - Parameter host: the dialed host.
    @objc(failureDescriptionForHost:) public func failureText(forHost host: String) -> String? {
        failure(forHost: host)?.description
    }
}
#endif
