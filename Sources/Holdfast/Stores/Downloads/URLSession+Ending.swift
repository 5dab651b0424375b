#if !HOLDFAST_WITHOUT_URLSESSION
#if canImport(FoundationNetworking)
import Foundation
package import class FoundationNetworking.URLSession
package import class FoundationNetworking.URLSessionTask
#else
package import Foundation
#endif

extension URLSession {
    /// Ends a session that has one task, and releases its delegate.
    ///
    /// `invalidateAndCancel()` would be enough, but in FoundationNetworking it reads the list of tasks while the
    /// session's own queue removes them. A process that had ended some thousands of downloads that way crashed.
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
    /// FoundationNetworking ends the process if a task has left the session's list before its own queue processes the
    /// cancellation. A task leaves the list after its delegate was notified of the end, and so not before this returns.
    package func stop() {
        cancel()
        #if canImport(FoundationNetworking)
        // This has no further effect, but returns only when the first cancellation has been carried out.
        cancel()
        #endif
    }

    /// Whether the task was canceled or has ended. In that state, FoundationNetworking ends the process if a redirect
    /// is answered.
    package var isEnding: Bool { state == .canceling || state == .completed }
}
#endif
