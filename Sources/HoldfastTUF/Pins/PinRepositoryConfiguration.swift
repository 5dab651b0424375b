public import Foundation
public import Holdfast

/// The configuration of a ``PinRepository``: the source of its pins, the root that proves them, and the rules that no
/// document may weaken.
public struct PinRepositoryConfiguration: Sendable {
    /// The address of the repository.
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
        /// The bytes of the bundle, as the repository served it when the app was built.
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

    /// The address of the repository.
    public var source: Source
    /// The root metadata that the app shipped with, from which every update proceeds to the newest.
    public var root: Data
    /// The rules that no document may weaken.
    public var floor: PinFloor
    /// The name of the pin file in the repository. The targets role itself must list it; delegated roles are ignored.
    public var target = "pins.json"
    /// The value that the pin file must have in `app`; nil to accept any value. With it, the app refuses a document
    /// that the same signers made for another app.
    public var application: String?
    /// When the app was built: an earlier time of the clock is ignored, and a shipped bundle must have been current.
    ///
    /// nil, which is right for nearly every app, uses the date of the shipped bundle: the `issuedAt` of its pin file.
    /// A date must be a constant of the build. Neither `Date()` nor the modification date of a resource is one: both
    /// change although the bundle does not, and a bundle is current for two weeks only. The time of the clock is
    /// refused as an invalid configuration.
    public var buildDate: Date?
    /// The state to start with; nil to start without pins.
    public var shipped: Shipped?
    /// The limits for what the repository may demand of the app.
    public var limits = TUFSettings()
    /// Maximum size of a bundle, in bytes: enough for the longest pin file, its metadata, and the overhead of Base64;
    /// 16 MiB by default.
    public var maximumBundleBytes = 16 << 20
    /// The maximum time between two updates, regardless of the document; seven days by default.
    public var updateInterval: Duration = .seconds(7 * 86_400)
    /// The minimum time between two updates that mismatches cause; five minutes by default.
    public var mismatchInterval: Duration = .seconds(300)
    /// The maximum time that an adapter waits for pins before it evaluates; ten seconds by default.
    public var preparationTimeout: Duration = .seconds(10)
    /// The maximum time that an update may take; two minutes by default.
    public var updateTimeout: Duration = .seconds(120)
    /// Whether `http` URLs are accepted. Security does not depend on the transport, but https hides which pins an app
    /// downloads. The provider may still refuse them by its own rules.
    public var allowsPlainHTTP = false
    /// Downloads the files. It validates the server by standard validation, never with the trust manager that uses the
    /// pins.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider()
    /// Stores the metadata and the pin file as they were served.
    public var secureDataStore: any SecureDataStore = FileDataStore()

    /// Configures a repository.
    /// - Parameters:
    ///   - source: the address of the repository.
    ///   - root: the root metadata that the app shipped with.
    ///   - floor: the rules that no document may weaken.
    public init(source: Source, root: Data, floor: PinFloor) {
        self.source = source
        self.root = root
        self.floor = floor
    }

    /// The error in the configuration; nil if it is valid.
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

    /// The minimum time between a build's date and its first start, in seconds. A shorter time means that the date is
    /// not a build date.
    private static let soonestStart: TimeInterval = 5

    /// Why the build date is invalid. An app that uses the time of the clock starts until its bundle's metadata
    /// expires; from then on, no new installation starts. This error appears at the first start, while the app is still
    /// being developed.
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
