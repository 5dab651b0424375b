#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// The only task of a session of its own, which is made away from the caller.
///
/// On Linux making a task waits for a queue that all sessions of the process share, and one server's headers can keep
/// that busy for long. So whoever has a time limit starts its timer first (``after(_:_:)``), and then this.
package final class SoleTask: Sendable {
    private enum State {
        case making
        case running(URLSession, URLSessionTask)
        case ended
    }

    private let state = Lock(State.making)

    /// Makers wait for each other in any case, and here they take one thread and not one each.
    static let makers = DispatchQueue(label: "holdfast.downloads.tasks")

    /// Not one of the queues whose threads may all be waiting.
    private static let timers = DispatchQueue(label: "holdfast.downloads.timers")

    /// Begins a request. The caller has to end it, because a session keeps its delegate until then.
    package init(
        _ request: URLRequest, in configuration: URLSessionConfiguration,
        delegate: any URLSessionDataDelegate & Sendable
    ) {
        Self.makers.async {
            guard self.state.withLock({ if case .ended = $0 { false } else { true } }) else { return }
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: request)
            let isWanted = self.state.withLock { state in
                if case .ended = state { return false }
                state = .running(session, task)
                return true
            }
            guard isWanted else { return Self.end(session, task) }
            task.resume()
        }
    }

    /// Ends the task, or what will become of it, and lets go of the delegate.
    package func end() {
        let running = state.withLock { state -> (URLSession, URLSessionTask)? in
            defer { state = .ended }
            guard case .running(let session, let task) = state else { return nil }
            return (session, task)
        }
        if let (session, task) = running { Self.end(session, task) }
    }

    /// `invalidateAndCancel()` would do, but in FoundationNetworking it reads the list of tasks while the session's own
    /// queue removes them, and a process that had ended some thousands of downloads that way crashed.
    private static func end(_ session: URLSession, _ task: URLSessionTask) {
        session.delegateQueue.addOperation {
            task.stop()
            session.finishTasksAndInvalidate()
        }
    }

    /// Calls a closure after some time, whatever the other sessions of the process are busy with.
    package static func after(_ span: Duration, _ body: @escaping @Sendable () -> Void) {
        timers.asyncAfter(deadline: .now() + span / .seconds(1), execute: body)
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

extension HTTPURLResponse {
    /// Whether it announces the response and is not that (RFC 9110 15.2), such as 103. Apple's URLSession delivers none.
    package var isInformational: Bool { (100..<200).contains(statusCode) }
}
