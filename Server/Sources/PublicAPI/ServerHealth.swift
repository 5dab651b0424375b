import NIOHTTP1
package import ServerHTTP

/// The state of a server, for probes and operators.
package struct ServerHealth: Sendable, Hashable {
    /// The reasons why documents cannot be served, one sentence each; empty if they can.
    package let unready: [String]
    /// The reasons why nothing can be changed or signed, one sentence each; empty if it can.
    package let unwritable: [String]

    /// Creates a description.
    /// - Parameters:
    ///   - unready: the reasons why documents cannot be served, one sentence each.
    ///   - unwritable: the reasons why nothing can be changed or signed, one sentence each.
    package init(unready: [String] = [], unwritable: [String] = []) {
        (self.unready, self.unwritable) = (unready, unwritable)
    }

    /// A question at `/health/…`.
    package enum Question: Sendable, Hashable, CaseIterable {
        /// Whether documents can be served, for balancers and probes.
        case ready
        /// Whether changes can be made.
        case writable

        /// The path of the question.
        package var path: String { self == .ready ? "/health/ready" : "/health/writable" }
    }

    /// Whether the answer to a question is yes.
    package func isGood(_ question: Question) -> Bool { question == .ready ? unready.isEmpty : unwritable.isEmpty }

    /// The response to a question: only 200 or 503. Anonymous clients can send it, and the reasons name files of this
    /// machine, so these are only in the log and in `doctor`.
    package func answer(_ question: Question) -> ListenerAnswer {
        guard isGood(question) else {
            return ListenerAnswer(
                .serviceUnavailable, json: Array(#"{"status":"UNAVAILABLE"}"#.utf8), headers: [("Retry-After", "5")])
        }
        return ListenerAnswer(.ok, json: Array(#"{"status":"OK"}"#.utf8))
    }
}
