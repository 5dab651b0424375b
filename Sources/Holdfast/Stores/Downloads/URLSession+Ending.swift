#if !HOLDFAST_WITHOUT_URLSESSION
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
    /// queue removes them, and a process that had ended some thousands of downloads that way crashed.
    package func end(_ task: URLSessionTask) {
        delegateQueue.addOperation {
            task.stop()
            self.finishTasksAndInvalidate()
        }
    }
}

extension URLSessionTask {
    /// Cancels the task of a session without a cache. Only its delegate's queue may do so.
    ///
    /// FoundationNetworking ends the process if a task has left the session's list when its own queue comes to the
    /// cancellation. A task leaves it after its delegate has heard of the end, and so not before this returns.
    package func stop() {
        cancel()
        #if canImport(FoundationNetworking)
        // Does nothing more, but returns only when the first has been carried out.
        cancel()
        #endif
    }

    /// Whether the task was canceled or has ended. FoundationNetworking ends the process if a redirect is answered then.
    package var isEnding: Bool { state == .canceling || state == .completed }
}
#endif
