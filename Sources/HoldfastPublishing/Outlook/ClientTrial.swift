import Foundation
import Holdfast

/// Evaluates a chain of a host as a client with a document does, at any second.
struct ClientTrial {
    /// The result for the client.
    struct Status: Sendable {
        let getsIn: Bool
        var isGrace = false
        var code: PublicationOutlook.Cause.Code?
        var words = ""
        var notices: [String] = []

        /// Whether both results are the same. Their texts may differ, because they name ages.
        func isSame(as other: Status) -> Bool {
            getsIn == other.getsIn && isGrace == other.isGrace && code == other.code && notices == other.notices
        }
    }

    private let held: HeldDocument
    private let policy: PinnedPolicy?
    private let trust: ServerTrust
    private let host: DialedHost
    private let pinning: Pin.Subject?
    private let isBeginning: Bool

    /// - Parameter pins: transforms the document's pins into those that the client sees.
    init(
        _ held: HeldDocument, pinning: Pin.Subject?, isBeginning: Bool, host: DialedHost, chain: PresentedChain,
        validator: any ChainValidator, seeing pins: (any PinSource) -> any PinSource = { $0 }
    ) {
        self.held = held
        self.pinning = pinning
        self.isBeginning = isBeginning
        self.host = host
        trust = ServerTrust(chain: chain, purpose: .server(identity: host), validator: validator)
        policy = held.source.map {
            PinnedPolicy(
                scope: .hosts(HostPattern(host)), source: pins($0), pinning: pinning, certificates: [], log: .silent)
        }
    }

    func status(at second: Int64) -> Status {
        if isBeginning, let refusal = held.refusal(at: second) {
            return Status(getsIn: false, code: refusal.code, words: refusal.words)
        }
        guard let decision = decision(at: second) else {
            guard case .refused(let words) = held.content else { return Status(getsIn: false, code: .document) }
            return Status(getsIn: false, code: .document, words: words)
        }
        let notices = decision.notices.filter { $0.code != .pinsPastTheirTime }.map(\.code.rawValue)
        if let failure = decision.failure {
            return Status(
                getsIn: false, code: code(of: failure, at: second),
                words: "\(failure.code.rawValue): expected \(failure.expected), found \(failure.found)",
                notices: notices)
        }
        let isGrace = isByGrace(decision, at: second)
        return Status(
            getsIn: true, isGrace: isGrace, code: isGrace ? graceCode : nil,
            words: isGrace ? "past its time, and only accepted until \(Self.text(held.end))" : "", notices: notices)
    }

    /// The client's decision; nil if it refuses the document.
    func decision(at second: Int64) -> TrustDecision? { policy?.evaluate(trust, at: Date(wholeSeconds: second)) }

    /// Whether a decision depends on pins that are in their grace period.
    func isByGrace(_ decision: TrustDecision, at second: Int64) -> Bool {
        decision.findings.contains { $0.kind == .pastTheirTime }
            || (held.unreportedGrace.map { $0 <= second } ?? false) && !hasEnded(at: second)
    }

    /// The times at which the source's requirements for the host change, as known at a given time.
    func pinEnds(at second: Int64) -> [Int64] {
        held.pinEnds(of: host, pinning, at: second)
    }

    private func hasEnded(at second: Int64) -> Bool { held.end.map { $0.wholeSeconds <= second } ?? false }

    /// The reason for the grace.
    private var graceCode: PublicationOutlook.Cause.Code {
        if case .trustServer = held.content { .document } else { .pins }
    }

    private func code(of failure: TrustFailure, at second: Int64) -> PublicationOutlook.Cause.Code {
        switch failure.code {
        case .revoked, .revocationUnknown: .list
        case .pinMismatch, .pinsExpired, .noUsablePins, .hostRetired, .hostNotCovered:
            hasEnded(at: second) ? graceCode : .pins
        case .invalidConfiguration: .document
        default: .certificate
        }
    }

    private static func text(_ date: Date?) -> String { date?.formatted(.iso8601) ?? "no end" }
}
