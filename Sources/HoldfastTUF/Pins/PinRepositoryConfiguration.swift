public import Foundation
public import Holdfast

/// How a ``PinRepository`` works: where its pins come from, which root proves them, and what no document may weaken.
public struct PinRepositoryConfiguration: Sendable {
    /// Where the repository is.
    public enum Source: Sendable, Hashable {
        /// One file for everything, with one conditional request: the URL of `bundle.json`.
        case bundle(URL)
        /// The files one by one, as any repository of The Update Framework has them: the URLs of two folders.
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
        /// How long after the pin file's `notAfter` its pins are enforced, if the file itself grants less.
        ///
        /// This determines how old a build may be when it is first launched: until its first update it has only these
        /// pins.
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
    /// The name of the pin file in the repository: a target of the targets role itself.
    public var target = "pins.json"
    /// What the pin file must have in `app`; nil if it does not matter. This refuses the document of another app of the
    /// same signers.
    public var application: String?
    /// When the app was built: no earlier time is believed. Required if a bundle is shipped.
    public var buildDate: Date?
    /// The state to start with; nil if there is none.
    public var shipped: Shipped?
    /// How much the repository may demand of the app.
    public var limits = TUFSettings()
    /// Bytes of a bundle: room for the longest pin file, its metadata and what Base64 adds.
    public var maximumBundleBytes = 16 << 20
    /// The longest time between two updates, whatever a document says; seven days by default.
    public var longestInterval: Duration = .seconds(7 * 86_400)
    /// The shortest time between two updates that mismatches cause; five minutes by default.
    public var mismatchInterval: Duration = .seconds(300)
    /// The longest that an adapter waits for pins before it decides.
    public var preparationTimeout: Duration = .seconds(10)
    /// The longest that an update may take.
    public var updateTimeout: Duration = .seconds(120)
    /// Whether `http` URLs are accepted. Security does not depend on the transport, but https hides which pins an app
    /// downloads. The provider has its own rules.
    public var allowsPlainHTTP = false
    /// Downloads. It uses standard validation for the server, never the trust manager that the pins are for.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider()
    /// Stores what proves the pins, as it was served.
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

    /// What cannot be meant; nil where everything can.
    var error: StoreError? {
        for url in source.urls where !allowsPlainHTTP && url.scheme?.utf8.elementsEqual("https".utf8) != true {
            return Self.invalid("an https URL", url.absoluteString.quotedAddress)
        }
        guard shipped == nil || buildDate != nil else {
            return Self.invalid("the date of the build that ships a bundle", "none")
        }
        guard longestInterval > .zero, mismatchInterval >= .zero, preparationTimeout > .zero, updateTimeout > .zero,
            shipped?.grace ?? .zero >= .zero
        else { return Self.invalid("intervals and timeouts above zero", "one that is not") }
        do throws(TUFError) {
            _ = try RootStep(settings: metadataSettings, meter: WorkMeter(metadataSettings)).initial([UInt8](root))
        } catch {
            return StoreError(
                .invalidConfiguration, expected: "root metadata that is signed by itself", found: error.found,
                underlying: error)
        }
        return nil
    }

    /// The limits, with the signatures that the floor allows.
    var metadataSettings: TUFSettings {
        var settings = limits
        settings.signatureSchemes.formIntersection(floor.signatureSchemes)
        return settings
    }

    private static func invalid(_ expected: String, _ found: String) -> StoreError {
        StoreError(.invalidConfiguration, expected: expected, found: found)
    }
}
