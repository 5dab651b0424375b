import Holdfast
import HoldfastPublishing
package import ServerApprovals
package import ServerFoundation

/// The settings of an app: its clients' builds and anchors, and the limits and delays for changes.
package struct AppSettings: Sendable, Hashable {
    /// A build of the app that people still use.
    package struct Build: Sendable, Hashable {
        /// Its name, such as `7.4.1`: 1 to 64 printable ASCII characters.
        package let name: String
        /// The pin file that it carries; nil if it carries none.
        package let pinFile: [UInt8]?

        /// Describes a build.
        /// - Throws: ``ServerError`` `invalidValue` for a name that is not one, and for bytes that are no pin file.
        package init(name: String, pinFile: [UInt8]?) throws(ServerError) {
            // No spaces: the outlook's own build has a name of several words.
            guard ASCIIText.isPrintable(name.utf8, 1...64) else {
                throw ServerError(
                    .invalidValue, of: "build", expected: "1 to 64 printable ASCII characters", found: "another name")
            }
            if let pinFile {
                do throws(PinFileError) {
                    _ = try PinFile(json: .init(pinFile))
                } catch {
                    throw ServerError(
                        .invalidValue, of: "build \(name)", expected: error.expected, found: error.found,
                        remedy: error.remedy)
                }
            }
            self.name = name
            self.pinFile = pinFile
        }
    }

    /// The number of seconds that a client continues to use a document after it was replaced.
    package let staleness: Int64
    /// The number of seconds that the canary has a change before all clients get it; 0 for no canary.
    package let canary: Int64
    /// Maximum number of hosts.
    package let maximumHosts: Int64
    /// DER of the certificates that the clients' systems trust.
    package let anchors: [[UInt8]]
    /// The builds in the field; nil if unknown, which fails the gate of the outlook.
    package let builds: [Build]?

    /// The canonical bytes.
    package let bytes: [UInt8]

    private static let name = "holdfast-app-v1"
    /// Default staleness: seven days. Formats that name certificates need it, with the canary, within a quarter of a
    /// certificate's lifetime, and public certificates will last for 47 days (CA/Browser Forum ballot SC-081).
    package static let defaultStaleness: Int64 = PublicationTiming.usualStaleness.components.seconds
    private static let stalenesses: ClosedRange<Int64> = 3_600...31_622_400
    package static let canaries: ClosedRange<Int64> = 0...604_800
    /// More hosts than the upper bound make each round of an app slow.
    package static let hostCounts: ClosedRange<Int64> = 1...10_000
    /// Default maximum number of hosts of an app.
    static let usualMaximumHosts: Int64 = 1_000

    /// Makes settings.
    /// - Throws: ``ServerError`` `invalidValue` for a staleness outside an hour to 366 days, a canary of more than
    ///   seven days, no hosts or more than 10,000, no anchors, or an anchor that is not a certificate.
    package init(
        staleness: Int64 = Self.defaultStaleness, canary: Int64 = 86_400,
        maximumHosts: Int64 = AppSettings.usualMaximumHosts, anchors: [[UInt8]], builds: [Build]?
    ) throws(ServerError) {
        guard Self.stalenesses.contains(staleness), Self.canaries.contains(canary) else {
            throw ServerError(
                .invalidValue, of: "settings",
                expected: "a staleness of 3600 to 31622400 seconds, a canary of at most 604800",
                found: "\(staleness) and \(canary)")
        }
        guard Self.hostCounts.contains(maximumHosts) else {
            throw ServerError(
                .invalidValue, of: "maximum hosts", expected: "1 to \(Self.hostCounts.upperBound)",
                found: "\(maximumHosts)")
        }
        guard (1...1_000).contains(anchors.count), anchors.allSatisfy({ (try? X509Certificate(der: $0)) != nil }) else {
            throw ServerError(
                .invalidValue, of: "anchors", expected: "1 to 1000 certificates",
                found: "another number, or no certificate",
                remedy: "Name the file with the authorities that the clients' systems trust.")
        }
        self.staleness = staleness
        self.canary = canary
        self.maximumHosts = maximumHosts
        self.anchors = anchors
        self.builds = try builds.map { builds throws(ServerError) in
            try Content.sorted(builds, "builds") { Array($0.name.utf8) }
        }
        var members: [String: CanonicalJSON] = [
            "format": .text(Self.name), "staleness": .integer(staleness), "canary": .integer(canary),
            "anchors": .array(anchors.map { .text(Base64.encode($0)) }),
        ]
        if maximumHosts != Self.usualMaximumHosts { members["maximumHosts"] = .integer(maximumHosts) }
        if let builds = self.builds {
            members["builds"] = .array(
                builds.map { build in
                    var members: [String: CanonicalJSON] = ["name": .text(build.name)]
                    if let pinFile = build.pinFile { members["pinFile"] = .text(Base64.encode(pinFile)) }
                    return .object(members)
                })
        }
        bytes = CanonicalJSON.object(members).bytes
        guard bytes.count <= Content.maximumSize else {
            throw ServerError(
                .invalidValue, of: "settings", expected: "at most \(Content.maximumSize) bytes", found: "more")
        }
    }

    /// The number of seconds that the canary has a change before all clients get it; 0 if the change skips the canary.
    package func canary(forcing forced: Set<Gate>) -> Int64 { forced.contains(.canary) ? 0 : canary }

    /// Reads settings.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(
            try CanonicalJSONReader.read(bytes, "settings", limit: Content.maximumSize), "settings")
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        let staleness = try fields.integer("staleness", in: Self.stalenesses)
        let canary = try fields.integer("canary", in: Self.canaries)
        let anchors = try fields.array("anchors", atMost: 1_000) { value, path throws(ServerError) in
            guard case .text(let text) = value, let der = Base64.decode(text) else {
                throw ServerError(.malformed, of: path, expected: "Base64 of a certificate", found: "another value")
            }
            return der
        }
        let maximumHosts =
            try fields.optionalInteger("maximumHosts", in: Self.hostCounts) ?? Self.usualMaximumHosts
        var builds: [Build]?
        if let value = fields.optional("builds") {
            guard case .array(let elements) = value, elements.count <= 256 else {
                throw fields.invalid("builds", "at most 256 builds")
            }
            builds = []
            for element in elements {
                var fields = try JSONFields(element, "builds")
                let name = try fields.text("name", "a name") { ASCIIText.isPrintable($0, 1...64) ? $0 : nil }
                let pinFile = try fields.optionalText("pinFile")
                try fields.finish()
                let bytes = pinFile.flatMap { Base64.decode($0) }
                guard (pinFile == nil) == (bytes == nil) else { throw fields.invalid("pinFile", "Base64") }
                builds?.append(try Build(name: String(decoding: name, as: UTF8.self), pinFile: bytes))
            }
        }
        try fields.finish()
        try self.init(
            staleness: staleness, canary: canary, maximumHosts: maximumHosts, anchors: anchors, builds: builds)
        guard self.bytes == bytes else {
            throw ServerError(.malformed, of: "settings", expected: "the one spelling", found: "another")
        }
    }
}
