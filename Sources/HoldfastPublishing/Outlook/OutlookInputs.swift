public import Foundation

extension PublicationOutlook {
    /// Everything that an outlook rests on. Values only: they can be written, and made again from rows of a database.
    ///
    /// Times are cut to whole seconds, as certificates and pins state theirs.
    public struct Inputs: StoredValue {
        /// What they are called in stored JSON.
        public static var storedName: String { "outlookInputs" }

        /// The documents that clients may hold.
        public var documents: [Document]
        /// The hosts that clients dial, with what they show and are about to show.
        public var hosts: [Host]
        /// Where clients run. Each is judged with its own anchors; this machine's never count by themselves.
        public var platforms: [Platform]
        /// The builds in the field, as far as they are known.
        public var appVersions: AppVersions
        /// The longest time for which a client goes on with a document after it was replaced, and for which
        /// it may not have asked. Clients that are older get rows of their own, which do not change the verdict.
        public var staleness: Duration
        /// How far the outlook looks ahead; whole seconds count.
        public var span: Duration
        /// The time at which it begins.
        public var now: Date

        /// The times of a change that clients with these documents follow.
        package var timing: PublicationTiming { PublicationTiming(staleness: staleness) }

        /// Collects the inputs of an outlook.
        /// - Parameters:
        ///   - documents: what clients may hold.
        ///   - hosts: what clients dial.
        ///   - platforms: where clients run, with the anchors of each.
        ///   - appVersions: the builds in the field.
        ///   - staleness: how long a client goes on with a replaced document; seven days by default.
        ///   - span: how far to look ahead; 45 days by default.
        ///   - now: when the outlook begins.
        public init(
            documents: [Document], hosts: [Host], platforms: [Platform], appVersions: AppVersions,
            staleness: Duration = PublicationTiming.usualStaleness, span: Duration = .seconds(45 * 86_400), now: Date
        ) {
            self.documents = documents
            self.hosts = hosts
            self.platforms = platforms
            self.appVersions = appVersions
            self.staleness = staleness
            self.span = span
            self.now = now
        }
    }

    /// The builds of the app that are in the field.
    public enum AppVersions: Sendable, Hashable, Codable {
        /// Nobody has said. The verdict is then never better than `unknown`: such a build may carry any pins.
        case unknown
        /// No build carries pins.
        case noShippedPins
        /// These builds. Each must carry a document, or say that it carries none.
        case versions([AppVersion])
    }

    /// A build of the app that people still use.
    public struct AppVersion: Sendable, Hashable, Codable {
        /// Its name, such as `7.4.1`.
        public var name: String
        /// The first instant at which nobody uses it anymore; nil while no end is in sight.
        public var usedUntil: Date?
        /// Whether it carries a document. If so, one of the documents must name it.
        public var carriesDocument: Bool

        /// Describes a build.
        public init(_ name: String, usedUntil: Date? = nil, carriesDocument: Bool = true) {
            self.name = name
            self.usedUntil = usedUntil
            self.carriesDocument = carriesDocument
        }
    }
}
