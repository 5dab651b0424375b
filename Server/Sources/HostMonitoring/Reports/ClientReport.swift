import ServerFoundation
package import ServerModel

/// A client's report about its connections to a host, without any data that identifies the client. Reports can be
/// forged.
package struct ClientReport: Sendable, Hashable {
    /// The result of the connections. The set is closed: text from clients never becomes a name.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The connection succeeded.
        case ok
        /// No pin matched, or the host was retired.
        case pins
        /// The pins, or the document with the pins, had expired.
        case expired
        /// The chain was refused before pins were compared.
        case chain
        /// A pin on trial did not match; the connection succeeded.
        case candidate
        /// TLS failed otherwise.
        case other

        /// Whether the connection failed because of the client's pins or the presented chain.
        package var isFailure: Bool { self == .pins || self == .expired || self == .chain }

        /// Converts a failure code of Holdfast's clients (`TrustFailure.Code`). Most codes are about the chain.
        package init(failure: some Collection<UInt8>) {
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

    /// A pin that a client had, as in its document.
    package struct Pin: Sendable, Hashable {
        /// The pin, such as `sha256/…` or `pin-sha256="…"`.
        package let text: String
        /// The role; nil if missing in the report.
        package var role: String?
        /// The state; nil if missing in the report.
        package var state: String?
    }

    /// The platform of a client.
    package enum Platform: String, Sendable, Hashable, CaseIterable {
        case iOS = "ios", tvOS = "tvos", watchOS = "watchos", macOS = "macos", visionOS = "visionos", android, linux
        case windows
        /// Missing, or another platform.
        case unknown = "-"

        /// Parses a name, case-insensitively.
        init(_ bytes: some Collection<UInt8>) {
            self = Self.allCases.first { ASCIIText.spells(bytes, $0.rawValue) } ?? .unknown
        }
    }

    /// The beginning of the time that a report is about.
    package enum Beginning: Sendable, Hashable {
        /// At a time, in seconds since 1970.
        case time(Int64)
        /// A number of seconds before the report arrived.
        case before(Int64)
    }

    /// The result of the connections.
    package let code: Code
    /// The dialed name, or the pattern that covers it, in lower case.
    package let host: String
    /// The name whose pins covered the host; nil if missing in the report.
    let notedHost: String?
    /// The port; nil if missing in the report.
    package let port: Int64?
    /// The platform of the client.
    package let platform: Platform
    /// The version of the app; ``nothing`` if missing in the report.
    package let appVersion: String
    /// The version of the document with the pins; ``nothing`` if missing in the report.
    package let documentVersion: String
    /// The number of connections that this report represents, 1 to ``maximumWeight``.
    package let weight: Int64
    /// Whether it counts for ratios. Holdfast's clients also include individually reported failures in summaries.
    var isRated: Bool
    /// The chain that the server presented; nil if missing in the report.
    package let chain: CertificateChain?
    /// The pins that the client had.
    package let pins: [Pin]
    /// The beginning of the time that it is about; nil if it is about a recent connection.
    package var begins: Beginning?
    /// Whether it counts as a separate report: among one client's reports about several hosts, only one does.
    var isVote = true

    /// The placeholder for a missing value.
    package static let nothing = "-"
    /// Maximum weight: a pin file may sample one of a thousand successes, and larger claims are not believed.
    static let maximumWeight: Int64 = 10_000
    /// Maximum length of a version.
    static let maximumVersion = 32

    /// A version if it is a short name; ``nothing`` for any other text.
    package static func version(_ bytes: some Collection<UInt8>) -> String {
        ASCIIText.isName(bytes, 1...maximumVersion, others: ".-_+") ? String(decoding: bytes, as: UTF8.self) : nothing
    }
}
