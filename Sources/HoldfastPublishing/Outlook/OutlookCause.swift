public import Foundation
public import Holdfast

extension PublicationOutlook {
    /// The reason why a client's access ends or is denied.
    public struct Cause: Sendable, Hashable {
        /// The reasons, a set that may grow.
        public typealias Code = OpenCode<Cause>

        /// The reason.
        public let code: Code
        /// When it takes effect; if it already has, the beginning of the evaluated time.
        public let instant: Date
        /// The reason as text, without the date.
        public let words: String

        package init(_ code: Code, at instant: Date, _ words: String) {
            self.code = code
            self.instant = instant
            self.words = words
        }
    }
}

extension PublicationOutlook.Cause: Codable {
    private enum CodingKeys: CodingKey {
        case code, instant, words
    }

    /// Reads a stored cause.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            Code(rawValue: try container.decode(String.self, forKey: .code)),
            at: try container.decode(Date.self, forKey: .instant),
            try container.decode(String.self, forKey: .words))
    }

    /// Writes a cause to storage.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(instant, forKey: .instant)
        try container.encode(words, forKey: .words)
    }
}

extension PublicationOutlook.Cause.Code {
    /// The pins end, or none of them matches the chain.
    public static var pins: Self { Self() }
    /// The document ends, or clients refuse it.
    public static var document: Self { Self() }
    /// The grace period of the document or its pins ends. Do not plan with grace.
    public static var grace: Self { Self() }
    /// The timestamp of a repository ends: new clients, and clients of a replaced document, cannot update.
    public static var timestamp: Self { Self() }
    /// The snapshot metadata of a repository ends: clients cannot update.
    public static var snapshot: Self { Self() }
    /// The targets metadata of a repository ends: clients cannot update.
    public static var targets: Self { Self() }
    /// The root of a repository ends: clients cannot update.
    public static var root: Self { Self() }
    /// A certificate of the path ends, or no path is valid.
    public static var certificate: Self { Self() }
    /// A revocation list ends, names a certificate, or is missing.
    public static var list: Self { Self() }
    /// The chain that a server presents is unknown, or was seen too long ago.
    public static var notSeen: Self { Self() }
    /// The builds in the field, or the documents in them, are unknown.
    public static var appVersions: Self { Self() }
    /// No client of the outlook dials the host, or no document is given.
    public static var nothingToJudge: Self { Self() }
}
