import Foundation
import FoundationNetworking

// Stand-ins for classes that Foundation on Linux does not declare to Objective-C, only for the compiler's check of the
// Objective-C surface. scripts/check apple puts these names into the façades in place of the others.

@objc(NSBundle) public class InteropBundle: NSObject {}

extension ValidationSettings {
    var certificateBundle: InteropBundle {
        get { InteropBundle() }
        set {}
    }
}

extension ComposePolicy {
    var certificateBundle: InteropBundle {
        get { InteropBundle() }
        set {}
    }
}

@objc(NSURLAuthenticationChallenge) public class InteropChallenge: URLAuthenticationChallenge, @unchecked Sendable {}

@objc(NSObject) public protocol InteropObject {}
