public import Foundation
public import Holdfast

/// What a ``PinRepository`` is to do: where its pins come from, from which root they are proved, and what no document
/// may weaken.
public struct PinRepositoryConfiguration: Sendable {
    /// Where the repository is.
    public enum Source: Sendable, Hashable {
        /// All of it in one file, behind one conditional request: the URL of `bundle.json`.
        case bundle(URL)
        /// Its files one by one, as any repository of The Update Framework has them: the URLs of two folders.
        case files(metadata: URL, targets: URL)

        var urls: [URL] {
            switch self {
            case .bundle(let url): [url]
            case .files(let metadata, let targets): [metadata, targets]
            }
        }
    }

    /// The state that an app begins with: a bundle among its resources.
    public struct Shipped: Sendable, Hashable {
        /// The octets of the bundle, as the repository served it when the app was built.
        public var bundle: Data
        /// How long past the pin file's `notAfter` its pins are enforced, where the file itself grants less.
        ///
        /// It decides how old a build may be when it is first launched. Until its first update the build has no pins
        /// but these.
        public var grace: Duration

        /// Describes a shipped bundle.
        public init(bundle: Data, grace: Duration) {
            self.bundle = bundle
            self.grace = grace
        }
    }

    /// Where the repository is.
    public var source: Source
    /// The root metadata that the app came with, from which every update walks to the newest.
    public var root: Data
    /// What no document may weaken.
    public var floor: PinFloor
    /// The name of the pin file in the repository: a target of the targets role itself.
    public var target = "pins.json"
    /// What the pin file must say in `app`; nil where it does not matter. It keeps out the document of another app of
    /// the same signers.
    public var application: String?
    /// When the app was built: no time before it is believed. Required where a bundle is shipped.
    public var buildDate: Date?
    /// The state to begin with; nil where there is none.
    public var shipped: Shipped?
    /// How much the repository may ask of the app.
    public var limits = TUFSettings()
    /// Bytes of a bundle: room for the longest pin file, its metadata and what Base64 adds.
    public var maximumBundleBytes = 16 << 20
    /// The longest time between two updates, whatever a document asks for; seven days by default.
    public var longestInterval: Duration = .seconds(7 * 86_400)
    /// The shortest time between two updates that mismatches ask for; five minutes by default.
    public var mismatchInterval: Duration = .seconds(300)
    /// The longest that an adapter waits for pins before it decides.
    public var preparationTimeout: Duration = .seconds(10)
    /// The longest that an update may take.
    public var updateTimeout: Duration = .seconds(120)
    /// Whether `http` URLs are taken. Nothing rests on the transport, but it hides which pins an app asks for. The
    /// provider has rules of its own.
    public var allowsPlainHTTP = false
    /// Downloads. It validates the server by the standard, never through the trust manager that the pins are for.
    public var remoteDataProvider: any RemoteDataProvider = URLSessionDataProvider()
    /// Keeps what proves the pins, as it was served.
    public var secureDataStore: any SecureDataStore = FileDataStore()

    /// Sets up a repository.
    /// - Parameters:
    ///   - source: where it is.
    ///   - root: the root metadata that the app came with.
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
