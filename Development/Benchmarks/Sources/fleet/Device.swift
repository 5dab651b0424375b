import Foundation
import Holdfast
import HoldfastTUF
import HoldfastTesting
import Logging

/// A phone with an app of a certain build, whose clock may be wrong, and whose owner opens the app now and then.
final class Device {
    /// The result of opening the app.
    enum Outcome {
        case connected, offline, refused(TrustFailure.Code)
    }

    /// A build of the app: its bundle, and its build time.
    struct Build {
        let bundle: Data
        let date: Date
    }

    /// The offset of its clock, in seconds; positive if it is ahead.
    let clockError: TimeInterval
    /// Days between two uses of the app, on average.
    let interval: Double
    /// The day on which it first had the new pins.
    var hasNewPins: Double?
    private(set) var updates = 0
    private(set) var sessions = 0

    private let build: Build
    private let clock: ManualClock
    private let storage = InMemoryDataStore()
    private var pins: PinRepository?

    private static let logger = Logger(label: "fleet") { _ in SwiftLogNoOpLogHandler() }

    init(_ build: Build, start: Date, using generator: inout some RandomNumberGenerator) {
        self.build = build
        clock = ManualClock(now: start)
        clockError =
            switch Double.random(in: 0..<1, using: &generator) {
            case ..<0.90: 0
            case ..<0.94: .random(in: -600...600, using: &generator)
            case ..<0.97: .random(in: -86_400...86_400, using: &generator)
            case ..<0.98: 2 * 86_400
            default: -8 * 365 * 86_400
            }
        interval =
            switch Double.random(in: 0..<1, using: &generator) {
            case ..<0.60: 1.0 / 3
            case ..<0.90: 3
            case ..<0.99: 30
            default: 90
            }
    }

    /// Opens the app: due updates are done, then it connects. A refusal is followed by one forced update, as after a
    /// mismatch.
    func open(at days: Double, _ site: Site, using generator: inout some RandomNumberGenerator) async throws -> Outcome
    {
        clock.set(site.date(days).addingTimeInterval(clockError))
        let isOnline = Double.random(in: 0..<1, using: &generator) >= 0.02
        site.served.isReachable(isOnline)
        let pins = try repository(site, using: &generator)
        sessions += 1
        if pins.state == .absent || pins.nextUpdate <= clock.now { await update(pins) }
        if hasNewPins == nil, try knowsNewPin(pins, site) { hasNewPins = days }
        guard isOnline else { return .offline }
        let trust = ServerTrust(
            certificates: site.leaf.chain, host: try DialedHost(Site.host), anchors: site.anchors)
        let policy = try pins.policy(for: Site.host)
        guard !policy.evaluate(trust, at: clock.now).isTrusted else { return .connected }
        await update(pins)
        guard let failure = policy.evaluate(trust, at: clock.now).failure else { return .connected }
        return .refused(failure.code)
    }

    /// The process may be a new one: one time in ten the app starts from its stored data.
    private func repository(_ site: Site, using generator: inout some RandomNumberGenerator) throws -> PinRepository {
        if let pins, Int.random(in: 0..<10, using: &generator) > 0 { return pins }
        guard let url = URL(string: "https://pins.example.com/bundle.json") else { throw CocoaError(.fileNoSuchFile) }
        var configuration = PinRepositoryConfiguration(
            source: .bundle(url), root: site.root, floor: PinFloor(covering: [try HostPattern(Site.host)]))
        configuration.buildDate = build.date
        configuration.shipped = .init(bundle: build.bundle, grace: .seconds(730 * 86_400))
        configuration.remoteDataProvider = site.served
        configuration.secureDataStore = storage
        let started = try PinRepository(checking: configuration, clock: clock, logger: Self.logger)
        pins = started
        return started
    }

    private func update(_ pins: PinRepository) async {
        updates += 1
        _ = try? await pins.update(mode: .forced)
    }

    private func knowsNewPin(_ pins: PinRepository, _ site: Site) throws -> Bool {
        let question = PinQuestion(host: try DialedHost(Site.host), time: site.start)
        guard case .required(let pins)? = pins.pinFile?.answer(to: question).content else { return false }
        return pins.contains(try site.newPin)
    }
}
