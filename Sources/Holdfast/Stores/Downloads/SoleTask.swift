#if !HOLDFAST_WITHOUT_URLSESSION
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// The only task of its own session. Creating it never makes the caller wait.
///
/// On Linux, making a task waits for a queue that all sessions of the process share, and the header lines of one server
/// can keep that queue busy for a long time. A caller with a time limit starts the timer (``after(_:_:)``) first, and
/// makes the task afterward.
package final class SoleTask: Sendable {
    private enum State {
        case making
        case running(URLSession, URLSessionTask)
        case ended
    }

    private let state = Lock(State.making)

    /// Makes tasks, one after another: they wait for one queue anyway, so here they block one thread, not one each.
    static let makers = DispatchQueue(label: "holdfast.downloads.tasks")

    /// Not a global queue, because all of its threads may be waiting.
    private static let timers = DispatchQueue(label: "holdfast.downloads.timers")

    /// Begins a request. The caller must call ``end()``, because a session keeps its delegate until then.
    package init(
        _ request: URLRequest, in configuration: URLSessionConfiguration,
        delegate: any URLSessionDataDelegate & Sendable
    ) {
        Self.makers.async {
            guard self.state.withLock({ if case .ended = $0 { false } else { true } }) else { return }
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: request)
            task.resume()
            // The state changes only after `resume()`, because a task must not be resumed while it is ended. So
            // `end()` may have been called meanwhile.
            let isWanted = self.state.withLock { state in
                if case .ended = state { return false }
                state = .running(session, task)
                return true
            }
            if !isWanted { session.end(task) }
        }
    }

    /// Ends the task, even one that has not been made yet, and releases the delegate.
    package func end() {
        let running = state.withLock { state -> (URLSession, URLSessionTask)? in
            defer { state = .ended }
            guard case .running(let session, let task) = state else { return nil }
            return (session, task)
        }
        if let (session, task) = running { session.end(task) }
    }

    /// Calls a closure after some time, however busy the sessions of the process are.
    package static func after(_ span: Duration, _ body: @escaping @Sendable () -> Void) {
        timers.asyncAfter(deadline: .now() + span / .seconds(1), execute: body)
    }
}

extension HTTPURLResponse {
    /// Whether it only announces a response (RFC 9110 15.2), as 103 does. Apple's URLSession does not deliver these.
    package var isInformational: Bool { (100..<200).contains(statusCode) }
}
#endif
