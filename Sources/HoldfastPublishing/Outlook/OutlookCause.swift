public import Foundation
public import Holdfast

extension PublicationOutlook {
    /// What ends a client's access, or why it has none.
    public struct Cause: Sendable, Hashable {
        /// The reasons, a set that may grow.
        public typealias Code = OpenCode<Cause>

        /// The reason.
        public let code: Code
        /// When it takes effect; for one that holds already, the beginning of what was judged.
        public let instant: Date
        /// The reason in words, without the date.
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

    /// Writes a cause that is stored.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(instant, forKey: .instant)
        try container.encode(words, forKey: .words)
    }
}

extension PublicationOutlook.Cause.Code {
    /// The pins end, or none of them is in the chain.
    public static var pins: Self { Self() }
    /// The document ends, or clients refuse it.
    public static var document: Self { Self() }
    /// The grace that follows the document or its pins ends. Nobody should plan with it.
    public static var grace: Self { Self() }
    /// The timestamp of a repository ends: clients that begin, or that still hold what was replaced, cannot follow.
    public static var timestamp: Self { Self() }
    /// The snapshot metadata of a repository ends: clients cannot follow.
    public static var snapshot: Self { Self() }
    /// The targets metadata of a repository ends: clients cannot follow.
    public static var targets: Self { Self() }
    /// The root of a repository ends: clients cannot follow.
    public static var root: Self { Self() }
    /// A certificate of the path ends, or no path is valid.
    public static var certificate: Self { Self() }
    /// A revocation list ends, names a certificate, or is missing.
    public static var list: Self { Self() }
    /// What a server shows is unknown, or was seen too long ago.
    public static var notSeen: Self { Self() }
    /// The builds in the field are unknown, or what one of them carries.
    public static var appVersions: Self { Self() }
    /// No client of the outlook dials the host, or no document is given.
    public static var nothingToJudge: Self { Self() }
}
