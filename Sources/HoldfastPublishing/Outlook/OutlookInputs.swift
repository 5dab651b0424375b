public import Foundation

extension PublicationOutlook {
    /// All inputs of an outlook. They are plain values, so they can be stored in database rows and restored.
    ///
    /// Times are cut to whole seconds, like those in certificates and pins.
    public struct Inputs: StoredValue {
        /// The name of the inputs in stored JSON.
        public static var storedName: String { "outlookInputs" }

        /// The documents that clients may hold.
        public var documents: [Document]
        /// The hosts that clients dial, with the chains that they present and are about to present.
        public var hosts: [Host]
        /// The platforms of clients. Each is evaluated with its own anchors; those of this machine are never used by
        /// default.
        public var platforms: [Platform]
        /// The builds in the field, if they are known.
        public var appVersions: AppVersions
        /// The maximum time for which a client continues to use a replaced document without fetching. Clients beyond
        /// that time get separate rows, which do not change the verdict.
        public var staleness: Duration
        /// The length of the evaluated time; in whole seconds.
        public var span: Duration
        /// The time at which it begins.
        public var now: Date

        /// The times of a change that clients with these documents follow.
        package var timing: PublicationTiming { PublicationTiming(staleness: staleness) }

        /// Collects the inputs of an outlook.
        /// - Parameters:
        ///   - documents: the documents that clients may hold.
        ///   - hosts: the hosts that clients dial.
        ///   - platforms: the platforms of clients, with the anchors of each.
        ///   - appVersions: the builds in the field.
        ///   - staleness: how long a client continues to use a replaced document; seven days by default.
        ///   - span: the length of the evaluated time; 45 days by default.
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
        /// Unknown builds. The verdict is then never better than `unknown`, because a build may contain any pins.
        case unknown
        /// No build contains pins.
        case noShippedPins
        /// These builds. Each must contain a document, or state that it contains none.
        case versions([AppVersion])
    }

    /// A build of the app that is still in use.
    public struct AppVersion: Sendable, Hashable, Codable {
        /// Its name, such as `7.4.1`.
        public var name: String
        /// The first instant at which the build is no longer used; nil while no end is in sight.
        public var usedUntil: Date?
        /// Whether it contains a document. If so, one of the documents must name it.
        public var carriesDocument: Bool

        /// Describes a build.
        public init(_ name: String, usedUntil: Date? = nil, carriesDocument: Bool = true) {
            self.name = name
            self.usedUntil = usedUntil
            self.carriesDocument = carriesDocument
        }
    }
}
