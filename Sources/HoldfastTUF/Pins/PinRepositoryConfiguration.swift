public import Foundation
public import Holdfast

/// How a ``PinRepository`` works: where its pins come from, which root proves them, and what no document may weaken.
public struct PinRepositoryConfiguration: Sendable {
    /// Where the repository is.
    public enum Source: Sendable, Hashable {
        /// The URL of `bundle.json`: one file, and one conditional request, for everything.
        case bundle(URL)
        /// The URLs of the two folders of any repository of The Update Framework, whose files are downloaded one by
        /// one.
        case files(metadata: URL, targets: URL)

        var urls: [URL] {
            switch self {
            case .bundle(let url): [url]
            case .files(let metadata, let targets): [metadata, targets]
            }
        }
    }

    /// The state that an app starts with: a bundle among its resources.
    public struct Shipped: Sendable, Hashable {
        /// The octets of the bundle, as the repository served it when the app was built.
        public var bundle: Data
        /// How long after the pin file's `notAfter` its pins are enforced, if the file itself grants less time.
        ///
        /// This determines how old a build may be when it is first launched, because until its first update it has only
        /// these pins.
        public var grace: Duration

        /// Describes a shipped bundle.
        public init(bundle: Data, grace: Duration) {
            self.bundle = bundle
            self.grace = grace
        }
    }

    /// Where the repository is.
    public var source: Source
    /// The root metadata that the app shipped with, from which every update proceeds to the newest.
    public var root: Data
    /// What no document may weaken.
    public var floor: PinFloor
    /// The name of the pin file in the repository. The targets role itself must list it; delegated roles do not count.
    public var target = "pins.json"
    /// The value that the pin file must have in `app`; nil if it does not matter. With it, the app refuses a document
    /// that the same signers made for another app.
    public var application: String?
    /// When the app was built: an earlier time of the clock is ignored, and a shipped bundle must have been current.
    ///
    /// nil, which suits nearly every app, for the date that the shipped bundle carries: the `issuedAt` of its pin file.
    /// A date must be a constant of the build. Neither `Date()` nor the modification date of a resource is one: both
    /// move on while the bundle does not, and a bundle is current for two weeks only. The time of the clock is refused
    /// as an invalid configuration.
    public var buildDate: Date?
    /// The state to start with; nil if there is none.
    public var shipped: Shipped?
    /// How much the repository may demand of the app.
    public var limits = TUFSettings()
    /// The largest bundle, in bytes: room for the longest pin file, its metadata, and what Base64 adds; 16 MiB by
    /// default.
    public var maximumBundleBytes = 16 << 20
    /// The longest time between two updates, whatever a document says; seven days by default.
    public var updateInterval: Duration = .seconds(7 * 86_400)
    /// The shortest time between two updates that mismatches cause; five minutes by default.
    public var mismatchInterval: Duration = .seconds(300)
    /// The longest time that an adapter waits for pins before it decides; ten seconds by default.
    public var preparationTimeout: Duration = .seconds(10)
    /// The longest time that an update may take; two minutes by default.
    public var updateTimeout: Duration = .seconds(120)
    /// Whether `http` URLs are accepted. Security does not depend on the transport, but https hides which pins an app
    /// downloads. The provider may still refuse them by its own rules.
    public var allowsPlainHTTP = false
    /// Downloads the files. It uses standard validation for the server, never the trust manager that the pins are for.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider()
    /// Stores the metadata and the pin file as they were served.
    public var secureDataStore: any SecureDataStore = FileDataStore()

    /// Configures a repository.
    /// - Parameters:
    ///   - source: where it is.
    ///   - root: the root metadata that the app shipped with.
    ///   - floor: what no document may weaken.
    public init(source: Source, root: Data, floor: PinFloor) {
        self.source = source
        self.root = root
        self.floor = floor
    }

    /// What is wrong with the configuration; nil if it is valid.
    var error: StoreError? {
        for url in source.urls where !allowsPlainHTTP && url.scheme?.utf8.elementsEqual("https".utf8) != true {
            return Self.invalid("an https URL", url.absoluteString.quotedAddress)
        }
        guard updateInterval > .zero, mismatchInterval >= .zero, preparationTimeout > .zero, updateTimeout > .zero,
            shipped?.grace ?? .zero >= .zero
        else { return Self.invalid("intervals and timeouts above zero, or a rest and a grace of zero", "another") }
        do throws(TUFError) {
            _ = try RootStep(settings: metadataSettings, meter: WorkMeter(metadataSettings)).initial([UInt8](root))
        } catch {
            return StoreError(
                .invalidConfiguration, expected: "root metadata that is signed by itself", found: error.found,
                underlying: error)
        }
        return nil
    }

    /// A build that is started sooner after its date than this has a date that is no build's, in seconds.
    private static let soonestStart: TimeInterval = 5

    /// Why the build date is none: an app that is given the time of the clock starts until its bundle's metadata
    /// expires, and from then on no installed app starts. The error comes at the first start, on the developer's desk.
    func buildDateError(at now: Date) -> StoreError? {
        guard shipped != nil, let buildDate, (0..<Self.soonestStart).contains(now.timeIntervalSince(buildDate)) else {
            return nil
        }
        return StoreError(
            .invalidConfiguration, expected: "the date of the build, a constant that is compiled in",
            found: "the current time of the clock", remedy: "Leave buildDate out: the shipped bundle carries its date.")
    }

    /// The limits, with only those signature algorithms that the floor allows.
    var metadataSettings: TUFSettings {
        var settings = limits
        settings.signatureSchemes.formIntersection(floor.signatureSchemes)
        return settings
    }

    private static func invalid(_ expected: String, _ found: String) -> StoreError {
        StoreError(.invalidConfiguration, expected: expected, found: found)
    }
}
