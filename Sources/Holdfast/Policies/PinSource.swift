public import struct Foundation.Date

/// A source of pins for hosts: fixed pins, a pin file, a signed list, a trust server's document, a repository.
///
/// A ``PinnedPolicy`` queries it for every decision, and compares the pins itself.
///
/// ```swift
/// /// Pins from a configuration service of the application's own.
/// nonisolated struct ConfiguredPins: PinSource {
///     let service: ConfigurationService
///     var revision: UInt64 { service.version }
///
///     func answer(to question: PinQuestion) -> PinAnswer {
///         guard let host = question.host, let pins = service.pins(of: host.name) else {
///             return .none(
///                 .notCovered, TrustFailure(.noUsablePins, expected: "pins for the host", found: "none"),
///                 at: question.time)
///         }
///         return .required(pins, at: question.time)
///     }
/// }
/// ```
/// Every requirement may be called from any thread. Only ``prepare()`` waits.
public protocol PinSource: Sendable {
    /// Returns the requirement of a host now, or the reason why it is unknown. It neither starts nor waits for
    /// anything.
    func answer(to question: PinQuestion) -> PinAnswer

    /// A number that changes whenever the source's pins change, apart from time; by default 0.
    var revision: UInt64 { get }

    /// Whether ``prepare()`` would wait for something now. It is cheap and starts nothing. By default false.
    var needsPreparation: Bool { get }

    /// Gets what the source needs for its next answers, such as a first document, within a time limit that the source
    /// sets.
    /// - Throws: why it could not get it. Until it can, the source's answers state the same.
    func prepare() async throws

    /// Receives a final decision that was based on the source's answers. The findings of the decision may be a reason
    /// to update. The call does not wait for anything.
    func tell(_ decision: TrustDecision)

    /// Whether an answer may admit a server that has none of the pins, for example because mismatches are only
    /// reported, or because a document may exempt hosts. By default true.
    var mayAdmitWithoutPins: Bool { get }
}

extension PinSource {
    /// 0: the source's pins do not change.
    public var revision: UInt64 { 0 }

    /// False: the source waits for nothing.
    public var needsPreparation: Bool { false }

    /// Returns at once.
    public func prepare() async throws {}

    /// Ignores the decision.
    public func tell(_ decision: TrustDecision) {}

    /// True, because nothing is known about the answers.
    public var mayAdmitWithoutPins: Bool { true }
}

/// A question to a ``PinSource``.
public struct PinQuestion: Sendable {
    /// The host that was dialed; nil for a client of a mutual TLS server.
    public let host: DialedHost?
    /// The time for which to decide.
    public let time: Date
    /// The kind of pins that count, of keys or of certificates; nil for both.
    public let subject: Pin.Subject?
    /// The chain that the peer presented, for formats that use the names in certificates. A peer that chooses the name
    /// chooses the pins, so use it only if the application requires it.
    public var chain: PresentedChain { trust.chain }

    private let trust: ServerTrust

    init(about trust: ServerTrust, of host: DialedHost?, at time: Date, subject: Pin.Subject?) {
        self.trust = trust
        self.host = host
        self.time = time
        self.subject = subject
    }

    /// Makes a question, for tests of a source.
    public init(
        host: DialedHost?, time: Date, subject: Pin.Subject? = nil, chain: PresentedChain = PresentedChain([])
    ) {
        let trust = ServerTrust(
            chain: chain, purpose: .server(identity: host), validator: PathValidator(anchors: TrustAnchors([])))
        self.init(about: trust, of: host, at: time, subject: subject)
    }
}

/// The answer of a ``PinSource`` about a host at one moment.
public struct PinAnswer: Sendable {
    /// The kinds of answers.
    public enum Content: Sendable {
        /// The host requires these pins.
        case required(PinSet)
        /// A signed document exempts the host from pins: standard validation decides, and the decision notes the
        /// failure.
        case exempt(TrustFailure)
        /// The requirement of the host is unknown: the connection is rejected with this failure.
        case none(PinAbsence, TrustFailure)
    }

    /// The requirement, or the reason why there is none.
    public let content: Content
    /// The time of the answer: the question's, or the source's trusted time if that is later.
    public let time: Date
    /// The time for which its document has been past its freshness; nil if it is fresh.
    public let age: Duration?
    /// Notices for a decision based on it, for example that the pins' document is no longer fresh.
    public let notices: [TrustFailure]
    /// The document's entry about the host, with more than the pins.
    package let entry: DocumentEntry?

    /// Makes an answer.
    public init(_ content: Content, at time: Date, age: Duration? = nil, notices: [TrustFailure] = []) {
        self.init(content, of: nil, at: time, age: age, notices: notices)
    }

    package init(
        _ content: Content, of entry: DocumentEntry?, at time: Date, age: Duration? = nil, notices: [TrustFailure] = []
    ) {
        self.content = content
        self.entry = entry
        self.time = time
        self.age = age
        self.notices = notices
    }

    /// An answer that requires these pins of the host.
    public static func required(_ pins: PinSet, at time: Date) -> PinAnswer { PinAnswer(.required(pins), at: time) }

    /// An answer that the requirement of the host is unknown.
    public static func none(_ absence: PinAbsence, _ failure: TrustFailure, at time: Date) -> PinAnswer {
        PinAnswer(.none(absence, failure), at: time)
    }
}
