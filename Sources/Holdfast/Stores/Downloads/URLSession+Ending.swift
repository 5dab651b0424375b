#if canImport(FoundationNetworking)
import Foundation
package import class FoundationNetworking.URLSession
package import class FoundationNetworking.URLSessionTask
#else
package import Foundation
#endif

extension URLSession {
    /// Ends a session that has one task, and lets go of its delegate.
    ///
    /// `invalidateAndCancel()` would do, but in FoundationNetworking it reads the list of tasks while the session's own
    /// queue removes them, and a process that had ended some thousands of downloads that way crashed. A task must not
    /// be canceled while another thread completes it either; the delegate's queue does one thing after the other.
    package func end(_ task: URLSessionTask) {
        delegateQueue.addOperation {
            task.cancel()
            self.finishTasksAndInvalidate()
        }
    }
}
