/// What a client says about its connections to a host, without anything that tells one client from another. Anybody can
/// forge it.
struct ClientReport: Sendable, Hashable {
    /// How connections ended. The set is closed: nothing that a client sends becomes a name.
    enum Code: String, Sendable, Hashable, CaseIterable {
        /// The client got in.
        case ok
        /// No pin matched, or the host was retired.
        case pins
        /// The pins, or the document that they are from, had run out.
        case expired
        /// The chain was refused before any pin was looked at.
        case chain
        /// A pin on trial did not match; the client got in.
        case candidate
        /// TLS failed otherwise.
        case other

        /// Whether clients did not get in because of what they know or were shown.
        var isFailure: Bool { self == .pins || self == .expired || self == .chain }

        /// What Holdfast's clients call a failure (`TrustFailure.Code`). Most of its names are about the chain.
        init(failure: some Collection<UInt8>) {
            func isOne(of names: [String]) -> Bool { names.contains { $0.utf8.elementsEqual(failure) } }
            if isOne(of: ["pinMismatch", "hostRetired"]) {
                self = .pins
            } else if isOne(of: ["pinsExpired", "pinsPastTheirTime", "noUsablePins"]) {
                self = .expired
            } else if isOne(of: ["candidatePinMismatch"]) {
                self = .candidate
            } else if isOne(of: [
                "hostNotCovered", "hostUnknown", "noPolicyForHost", "noTrust", "emptyChain", "budgetExceeded",
                "customValidationRejected", "invalidConfiguration", "validationDisabled", "debugAnchorUsed",
            ]) {
                self = .other
            } else {
                self = .chain
            }
        }
    }

    /// A pin that a client knew, as its document has it.
    struct Pin: Sendable, Hashable {
        /// Such as `sha256/…` or `pin-sha256="…"`.
        let text: String
        /// The role; nil if the report does not say.
        var role: String?
        /// The state; nil if the report does not say.
        var state: String?
    }

    /// What a client runs on.
    enum Platform: String, Sendable, Hashable, CaseIterable {
        case iOS = "ios", tvOS = "tvos", watchOS = "watchos", macOS = "macos", visionOS = "visionos", android, linux
        case windows
        /// It does not say, or says something else.
        case unknown = "-"

        /// Reads a name in any case.
        init(_ bytes: some Collection<UInt8>) {
            self = Self.allCases.first { ASCIIText.spells(bytes, $0.rawValue) } ?? .unknown
        }
    }

    /// When something began.
    enum Beginning: Sendable, Hashable {
        /// At a time, in seconds since 1970.
        case time(Int64)
        /// So many seconds before the report came.
        case before(Int64)
    }

    /// How connections ended.
    let code: Code
    /// The name that was dialed or the pattern that covers it, in lower case.
    let host: String
    /// The name whose pins covered the host; nil if the report does not say.
    let notedHost: String?
    /// The port; nil if the report does not say.
    let port: Int64?
    /// What the client runs on.
    let platform: Platform
    /// The version of the app; ``nothing`` if the report does not say.
    let appVersion: String
    /// The version of the document with the pins; ``nothing`` if the report does not say.
    let documentVersion: String
    /// How many reports this one stands for, 1 to ``maximumWeight``.
    let weight: Int64
    /// Whether rates are made of it. A failure that a client of Holdfast tells singly is in the summary of its day as well.
    var isRated: Bool
    /// The chain that the server showed; nil if the report has none.
    let chain: CertificateChain?
    /// The pins that the client knew.
    let pins: [Pin]
    /// When that began which it is about; nil if the report does not say, and then it is what has just happened.
    var begins: Beginning?
    /// Whether it is counted as a report of its own: of what one client says about several hosts, one report is.
    var isVote = true

    /// In the place of what a report does not say.
    static let nothing = "-"
    /// A pin file asks one of a thousand successes to be told. Whoever claims to stand for more is not believed.
    static let maximumWeight: Int64 = 10_000
    /// Longer than any version that people read.
    static let maximumVersion = 32

    /// A version as a short name; ``nothing`` for any other text.
    static func version(_ bytes: some Collection<UInt8>) -> String {
        ASCIIText.isName(bytes, 1...maximumVersion, others: ".-_+") ? String(decoding: bytes, as: UTF8.self) : nothing
    }
}
