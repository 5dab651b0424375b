import Foundation

/// The system behind the stand-ins, whose answers the tests decide.
public enum StandInSystem {
    /// One evaluation of a trust.
    public struct Question: Sendable {
        /// DER, leaf first.
        public let certificates: [[UInt8]]
        /// DER.
        public let anchors: [[UInt8]]
        public let isServer: Bool
        public let host: String?
        public let time: Date
        /// Of the policy for revocation; nil where there is none.
        public let revocationFlags: UInt?
        public let allowsNetworkFetch: Bool
    }

    public enum Answer: Sendable {
        /// DER of the path, leaf first.
        case valid([[UInt8]])
        case invalid(String)
    }

    static let evaluator = Lock<(@Sendable (Question) -> Answer)?>(nil)

    public static func install(_ evaluate: @escaping @Sendable (Question) -> Answer) {
        evaluator.withLock { $0 = evaluate }
    }

    static func answer(_ question: Question) -> Answer {
        guard let evaluate = evaluator.withLock({ $0 }) else { return .invalid("no evaluator is installed") }
        return evaluate(question)
    }
}
