import Foundation
import Holdfast

/// A pin file with the bundle that proves it.
struct VerifiedPins: Sendable {
    let bundle: RepositoryBundle
    let versions: BundleProof.Versions
    let file: PinFile
    /// The first instants at which root, timestamp, snapshot and targets have expired; for a bundle without its
    /// timestamp and snapshot, only root and targets.
    let expirations: [Date]
    /// The first instant at which some of the metadata has expired. From then on an attacker may be withholding newer
    /// pins.
    let freshUntil: Date
    /// The first instant of the grace period.
    let graceBegins: Date
    /// The first instant at which the pins are no longer valid, their grace period included.
    let end: Date
    /// The requirements of the pin file until that end.
    let table: PinFileTable

    /// Verifies a bundle, and checks its pin file against the floor.
    /// - Parameters:
    ///   - start: the time with which expirations of metadata are compared.
    ///   - latest: the latest accepted issue time; a later one in the pin file is treated as this time.
    ///   - shipped: the app's shipped pins, unless they are the ones being verified. If the pin file is the same, the
    ///     shipped pins' grace period is kept.
    ///   - grace: the minimum time for which pins stay valid after the pin file's `notAfter`.
    ///   - isKept: whether the bundle was verified when it was published, and its timestamp and snapshot no longer
    ///     exist.
    /// - Throws: `StoreError`.
    init(
        proving bundle: RepositoryBundle, _ configuration: PinRepositoryConfiguration, at start: UpdateStart,
        issuedUpTo latest: Date, shipped: VerifiedPins? = nil, grace: Duration = .zero, isKept: Bool = false
    ) throws(StoreError) {
        let proof = BundleProof(
            trustedRoot: configuration.root, target: configuration.target, settings: configuration.metadataSettings)
        let expirations: [Int64]
        let json: Data
        do throws(TUFError) {
            (json, versions, expirations) = try isKept ? proof.kept(bundle) : proof.proved(bundle, at: start)
        } catch {
            throw StoreError(error)
        }
        do throws(PinFileError) {
            file = try PinFile(json: json)
            try file.checkSignedRequirements()
        } catch {
            throw StoreError(invalid: error)
        }
        do throws(PinFloorError) {
            try configuration.floor.check(file)
            try Self.check(file, isFor: configuration.application)
        } catch {
            throw StoreError(invalid: error)
        }
        self.bundle = bundle
        self.expirations = expirations.map(Date.init(wholeSeconds:))
        freshUntil = self.expirations.min() ?? .distantPast
        let last = file.notAfter ?? .distantPast
        graceBegins = Date(end: last.wholeSeconds + 1)
        // The floor measures from issuedAt, which is used only up to `latest`. The pins end after the last second.
        let longest = min(file.issuedAt ?? .distantPast, latest)
            .addingTimeInterval(configuration.floor.longestValidity.inSeconds + 1)
        var end = min(file.end ?? .distantPast, longest)
        if grace > .zero { end = max(end, Date(end: last.addingTimeInterval(grace.inSeconds + 1).wholeSeconds)) }
        if let shipped, shipped.bundle.pins == bundle.pins { end = max(end, shipped.end) }
        self.end = end
        table = PinFileTable(file.hosts, until: end, version: file.version)
    }

    private static func check(_ file: PinFile, isFor application: String?) throws(PinFloorError) {
        guard let application else { return }
        guard let app = file.app, app.utf8.elementsEqual(application.utf8) else {
            throw PinFloorError(
                .otherApplication, expected: "a pin file for \(application.quoted)",
                found: file.app.map { "one for \($0.quoted)" } ?? "one without app",
                remedy: "Check the URL of the repository, and the app field of the pin file.")
        }
    }

    /// The requirements of the pins at a time, or the notice that they are in their grace period.
    func answer(to question: PinQuestion, at time: Date) -> PinAnswer {
        guard case .grace = state(at: time) else { return table.answer(to: question, at: time) }
        let notice = TrustFailure(
            .pinsPastTheirTime, expected: "a pin file before its notAfter",
            found: "one that ended at \(graceBegins.formatted(.iso8601)); its pins expire at "
                + end.formatted(.iso8601))
        let age = Duration(exactSeconds: time.timeIntervalSince(graceBegins)) ?? .seconds(Int64.max)
        return table.answer(to: question, at: time, age: age, notices: [notice])
    }

    func state(at time: Date) -> StoreState {
        // These comparisons treat NaN as past every end.
        if time < freshUntil, time < graceBegins, time < end { return .fresh }
        if time < graceBegins, time < end { return .stale }
        return time < end ? .grace : .expired
    }
}

extension StoreError {
    /// Makes a store error from an error of a TUF client.
    init(_ error: TUFError) {
        let code: StoreError.Code =
            switch error.code {
            case .unavailable: .networkError
            case .notSigned: .invalidSignature
            case .unsupportedAlgorithm: .unsupportedAlgorithm
            default: .invalidData
            }
        let place = [error.subject, error.section].compactMap(\.self).joined(separator: ", ")
        self.init(
            code, expected: error.expected, found: place.isEmpty ? error.found : "\(error.found) (\(place))",
            remedy: error.remedy, underlying: error)
    }

    /// Makes the error for a pin file that is complete and signed but must not be used.
    init(invalid error: some HoldfastError) {
        self.init(
            .invalidData, expected: error.expected, found: error.found, remedy: error.remedy, underlying: error)
    }
}
