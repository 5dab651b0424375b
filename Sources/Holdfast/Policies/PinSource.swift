public import struct Foundation.Date

/// A source of pins for hosts: fixed pins, a pin file, a signed list, a trust server's document, a repository.
///
/// A ``PinnedPolicy`` asks it for every decision, and compares the pins itself.
///
/// ```swift
/// /// Pins from a configuration service of the application's own.
/// struct ConfiguredPins: PinSource {
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
    /// What a host requires now, or why that is unknown. It neither starts nor waits for anything.
    func answer(to question: PinQuestion) -> PinAnswer

    /// A number that changes whenever the source's pins change, apart from time; by default 0.
    var revision: UInt64 { get }

    /// Whether ``prepare()`` would wait for something now. It is cheap and starts nothing. By default false.
    var needsPreparation: Bool { get }

    /// Gets what the source needs for its next answers, such as a first document, within a time limit of its own.
    /// - Throws: why there is none; the source says so in its answers until there is one.
    func prepare() async throws

    /// Takes a decision that was made by its answers and stands: what it found may be a reason for an update. It waits
    /// for nothing.
    func receive(_ decision: TrustDecision)

    /// Whether an answer may let a server in that has none of the pins: pins that are only reported on, a document that
    /// may exempt hosts. By default true.
    var mayAdmitWithoutPins: Bool { get }
}

extension PinSource {
    /// 0: the source's pins do not change.
    public var revision: UInt64 { 0 }

    /// False: the source waits for nothing.
    public var needsPreparation: Bool { false }

    /// Returns at once.
    public func prepare() async throws {}

    /// Nothing is done about it.
    public func receive(_ decision: TrustDecision) {}

    /// True: nothing is known about the answers.
    public var mayAdmitWithoutPins: Bool { true }
}

/// What a ``PinSource`` is asked.
public struct PinQuestion: Sendable {
    /// The host that was dialed; nil for a client of a mutual TLS server.
    public let host: DialedHost?
    /// The time for which to decide.
    public let time: Date
    /// Which pins count: those of keys, those of certificates; nil for both.
    public let subject: Pin.Subject?
    /// What the peer presented, for formats whose names are those of certificates. A peer that chooses the name chooses
    /// the pins, so use it only where the application asks for that.
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

/// What a ``PinSource`` says of a host at one moment.
public struct PinAnswer: Sendable {
    /// What it says.
    public enum Content: Sendable {
        /// The host requires this.
        case required(PinSet)
        /// A signed document says that the host needs no pins: standard validation decides, and this is noted.
        case exempt(TrustFailure)
        /// It is unknown what the host requires: the connection is rejected with this failure.
        case none(PinAbsence, TrustFailure)
    }

    /// What it says.
    public let content: Content
    /// The time of the answer: the question's, or the source's trusted time if that is later.
    public let time: Date
    /// How long its document has been past its time; nil if it is not.
    public let age: Duration?
    /// Notices for a decision by it, such as that pins are past their time.
    public let notices: [TrustFailure]

    /// Puts an answer together.
    public init(_ content: Content, at time: Date, age: Duration? = nil, notices: [TrustFailure] = []) {
        self.content = content
        self.time = time
        self.age = age
        self.notices = notices
    }

    /// The host requires these pins.
    public static func required(_ pins: PinSet, at time: Date) -> PinAnswer { PinAnswer(.required(pins), at: time) }

    /// Nobody can say what the host requires.
    public static func none(_ absence: PinAbsence, _ failure: TrustFailure, at time: Date) -> PinAnswer {
        PinAnswer(.none(absence, failure), at: time)
    }
}
