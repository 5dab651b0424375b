import Dispatch
import Foundation
import FoundationNetworking
import HoldfastTesting
import ObjectiveC
import Security

@testable import Holdfast

/// A server, its authority, and a device that trusts the authority unless said otherwise.
struct AppleFixture {
    let host = "\(UUID().uuidString.lowercased()).apple.example"
    let root: TestAuthority
    let issuing: TestAuthority
    let leaf: TestCertificate
    let manager = TrustManager()

    init() throws {
        Self.installSystem()
        root = try TestAuthority.root()
        issuing = try root.intermediate()
        leaf = try issuing.leaf(names: [.dns(host)])
    }

    /// The stand-in of the system validates as Holdfast does; it adds what it knows to the chain, as the system does.
    /// It has no source of revocation status.
    static func installSystem() {
        StandInSystem.install { question in
            if (question.revocationFlags ?? 0) & kSecRevocationRequirePositiveResponse != 0 {
                return .invalid("unknown whether it is revoked")
            }
            guard let anchors = try? TrustAnchors(der: question.anchors) else { return .invalid("unreadable anchors") }
            let identity = question.host.flatMap { try? DialedHost($0) }
            let outcome = PathValidator(anchors: anchors).validate(
                PresentedChain(question.certificates), for: question.isServer ? .server(identity: identity) : .client,
                at: question.time
            ) { _ in true }
            guard let path = outcome.path else { return .invalid(outcome.failure?.code.rawValue ?? "no path") }
            return .valid(path.certificates.map { Array($0.der) })
        }
    }

    func dialed(_ name: String? = nil) throws -> DialedHost { try DialedHost(name ?? host) }

    /// The trust of a connection to the host.
    func secTrust(_ chain: [[UInt8]]? = nil, host: String? = nil, systemAnchors: [[UInt8]]? = nil) -> SecTrust {
        SecTrust.presented(
            chain ?? leaf.chain, host: host ?? self.host, systemAnchors: systemAnchors ?? [root.root])
    }

    func keyPin(_ certificate: TestCertificate) throws -> Pin { try Pin.publicKey(of: certificate.der) }

    func pin(_ pins: [Pin]) throws {
        manager.add(policy: try PinnedPolicy(host: HostPattern(host), pins: PinSet(pins: pins)))
    }

    func challenge(
        _ trust: SecTrust?, host: String? = nil, method: String? = nil, proposing credential: URLCredential? = nil,
        sender: Sender = Sender()
    ) -> URLAuthenticationChallenge {
        let space =
            method.map {
                URLProtectionSpace(
                    host: host ?? self.host, port: 443, protocol: "https", realm: nil, authenticationMethod: $0)
            } ?? TrustProtectionSpace(host: host ?? self.host, trust: trust)
        return URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: 0, failureResponse: nil,
            error: nil, sender: sender)
    }
}

/// Hears what a challenge is answered with.
final class Sender: NSObject, URLAuthenticationChallengeSender, StandInSender {
    enum Answer: Equatable {
        case use(String?)
        case byDefault
        case withoutCredential
        case cancel
    }

    let answers = AsyncStream.makeStream(of: Answer.self)
    /// The challenges that a credential was given for.
    let used = Collected<Swift.ObjectIdentifier>()
    let hasDefaultHandling: Bool

    init(hasDefaultHandling: Bool = true) { self.hasDefaultHandling = hasDefaultHandling }

    deinit { answers.continuation.finish() }

    /// All answers that a sender gets until its challenge is gone, so that a second answer is noticed.
    static func answers(hasDefaultHandling: Bool = true, _ body: (Sender) -> Void) async -> [Answer] {
        func stream() -> AsyncStream<Answer> {
            let sender = Sender(hasDefaultHandling: hasDefaultHandling)
            body(sender)
            return sender.answers.stream
        }
        var all: [Answer] = []
        for await answer in stream() { all.append(answer) }
        return all
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        used.add(Swift.ObjectIdentifier(challenge))
        answers.continuation.yield(.use(credential.user))
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {
        answers.continuation.yield(.withoutCredential)
    }

    func cancel(_ challenge: URLAuthenticationChallenge) { answers.continuation.yield(.cancel) }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answers.continuation.yield(.byDefault) }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}

    func first() async -> Answer? {
        for await answer in answers.stream { return answer }
        return nil
    }
}

/// An answer of a completion handler.
struct Answer: Sendable, Equatable {
    let disposition: URLSession.AuthChallengeDisposition
    let user: String?

    static let trusted = Answer(disposition: .useCredential, user: "server trust")
    static let cancelled = Answer(disposition: .cancelAuthenticationChallenge, user: nil)
    static let byDefault = Answer(disposition: .performDefaultHandling, user: nil)
}

/// Awaits a completion handler.
func answer(
    _ body: (@escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) -> Void
) async -> Answer {
    await withCheckedContinuation { continuation in
        body { disposition, credential in
            continuation.resume(returning: Answer(disposition: disposition, user: credential?.user))
        }
    }
}

/// Collects elements from any thread.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Lock<[Element]>([])
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0 } }
}

/// Whether the code that asks runs on the queue for evaluations.
enum QueueMark {
    private static let key = DispatchSpecificKey<Bool>()

    static func install() { EvaluationQueue.queue.setSpecific(key: key, value: true) }
    static var isOnEvaluationQueue: Bool { DispatchQueue.getSpecific(key: key) == true }
}

/// The system's time; notes of each reading whether it was on the queue for evaluations.
struct QueueMarkingClock: WallClock {
    let marks = Collected<Bool>()
    var now: Date {
        marks.add(QueueMark.isOnEvaluationQueue)
        return SystemWallClock().now
    }
}
