import NIOHTTP1

/// How a server is, for probes and for people.
public struct ServerHealth: Sendable, Hashable {
    /// Why documents cannot be served, a sentence each; empty if they can.
    public let unready: [String]
    /// Why nothing can be changed or signed, a sentence each; empty if it can.
    public let unwritable: [String]

    /// Describes a server.
    /// - Parameters:
    ///   - unready: why documents cannot be served, a sentence each.
    ///   - unwritable: why nothing can be changed or signed, a sentence each.
    public init(unready: [String] = [], unwritable: [String] = []) {
        (self.unready, self.unwritable) = (unready, unwritable)
    }

    /// A question at `/health/…`.
    enum Question: Sendable, Hashable, CaseIterable {
        /// Whether documents can be served: balancers and probes ask this.
        case ready
        /// Whether changes can be made.
        case writable

        /// Where it is asked.
        var path: String { self == .ready ? "/health/ready" : "/health/writable" }
    }

    /// Whether the answer to a question is yes.
    func isGood(_ question: Question) -> Bool { question == .ready ? unready.isEmpty : unwritable.isEmpty }

    /// The answer to a question: 200 or 503, and nothing else. Strangers ask, and the reasons name files of this machine;
    /// the log and `doctor` have them.
    func answer(_ question: Question) -> ListenerAnswer {
        guard isGood(question) else {
            return ListenerAnswer(
                .serviceUnavailable, json: Array(#"{"status":"UNAVAILABLE"}"#.utf8), headers: [("Retry-After", "5")])
        }
        return ListenerAnswer(.ok, json: Array(#"{"status":"OK"}"#.utf8))
    }
}
