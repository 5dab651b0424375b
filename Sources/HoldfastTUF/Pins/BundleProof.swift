package import Foundation
import Holdfast

/// Verifies a bundle by itself, from a trusted root and without the network: the steps of an update (sections 5.2 to
/// 5.7), for stored bundles and for those that an application ships.
struct BundleProof {
    /// The versions of the metadata that proves a pin file.
    struct Versions: Sendable, Hashable {
        let root: Int64
        let timestamp: Int64
        let snapshot: Int64
        let targets: Int64

        /// A newer root may bring lower versions: this is how a repository recovers from a fast-forward attack.
        func isOlder(than other: Versions) -> Bool { (root, targets) < (other.root, other.targets) }
    }

    let trustedRoot: Data
    let target: String
    let settings: TUFSettings

    /// - Parameters:
    ///   - start: the time with which expirations are compared.
    ///   - renewed: the time with which the expirations of timestamp and snapshot are compared, if a machine re-signs
    ///     both.
    /// - Returns: the pin file, the versions, and the expirations of the metadata, in seconds since 1970.
    func proved(
        _ bundle: RepositoryBundle, at start: UpdateStart, renewed: UpdateStart? = nil
    ) throws(TUFError) -> (pins: Data, versions: Versions, expirations: [Int64]) {
        let meter = WorkMeter(settings)
        let root = try root(of: bundle, meter)
        try start.require(root.common, of: .root, section: "5.3.10")
        let timestamp = try TimestampStep(
            root: root, start: renewed ?? start, settings: settings, meter: meter
        ).next(try file(bundle.timestamp, .timestamp), after: nil)
        guard let timestamp else { throw missing(RoleName.timestamp.text) }
        let snapshot = try SnapshotStep(
            root: root, timestamp: timestamp, start: renewed ?? start, settings: settings, meter: meter
        ).next(try file(bundle.snapshot, .snapshot), after: nil)
        let targets = try TargetsStep(
            delegator: root.targets, snapshot: snapshot, start: start, settings: settings, meter: meter
        ).verified(try file(bundle.targets, .targets))
        return (
            try pins(of: bundle, listedBy: targets),
            Versions(
                root: root.common.version, timestamp: timestamp.common.version, snapshot: snapshot.common.version,
                targets: targets.common.version),
            [root.common, timestamp.common, snapshot.common, targets.common].map(\.expires)
        )
    }

    /// Verifies the part of a replaced bundle that a client kept, without the timestamp and the snapshot that marked it
    /// as the newest, because clients do not store those. Expirations are ignored.
    /// - Returns: the pin file, the versions, of which those of timestamp and snapshot are 0, and the expirations of root
    ///   and targets, in seconds since 1970.
    func kept(
        _ bundle: RepositoryBundle
    ) throws(TUFError) -> (pins: Data, versions: Versions, expirations: [Int64]) {
        let meter = WorkMeter(settings)
        let root = try root(of: bundle, meter)
        let file = try SignedFile(try file(bundle.targets, .targets), maximumBytes: settings.targetsBytes)
        try root.targets.verify(file, section: "5.6.3", meter: meter)
        let targets = try TargetsMetadata(file)
        return (
            try pins(of: bundle, listedBy: targets),
            Versions(
                root: root.common.version, timestamp: 0, snapshot: 0, targets: targets.common.version),
            [root.common, targets.common].map(\.expires)
        )
    }

    private func pins(of bundle: RepositoryBundle, listedBy targets: TargetsMetadata) throws(TUFError) -> Data {
        let listed = try targets.own(target)
        guard let pins = bundle.pins else { throw missing(listed.quotedName) }
        try listed.description.verify([UInt8](pins), subject: listed.quotedName, section: "5.7.2")
        return pins
    }

    private func root(of bundle: RepositoryBundle, _ meter: WorkMeter) throws(TUFError) -> RootMetadata {
        let step = RootStep(settings: settings, meter: meter)
        var root = try step.initial([UInt8](trustedRoot))
        while let next = bundle.root(version: root.common.version + 1) {
            root = try step.next([UInt8](next), after: root)
        }
        return root
    }

    private func file(_ data: Data?, _ role: RoleName) throws(TUFError) -> [UInt8] {
        guard let data else { throw missing(role.text) }
        return [UInt8](data)
    }

    private func missing(_ subject: String) -> TUFError {
        TUFError(.unavailable, of: subject, expected: "the file in the bundle", found: "none")
    }
}

extension RepositoryBundle {
    /// Verifies the bundle as a client that trusts a root does at a given time. For tools that display a bundle.
    /// - Returns: the name of the pin file in the repository, quoted for messages.
    /// - Throws: ``TUFError``.
    package func prove(from root: Data, at time: Date) throws(TUFError) -> String {
        let settings = TUFSettings.pythonTUF
        // A client knows the target's name from its configuration. Here the metadata states the name of these bytes.
        let listed =
            try targets.flatMap { data throws(TUFError) in
                try TargetsMetadata(SignedFile([UInt8](data), maximumBytes: settings.targetsBytes)).targets
            } ?? [:]
        let octets = pins.map { [UInt8]($0) } ?? []
        let name = listed.filter { $0.value.matches(octets) }.keys.min { $0.lexicographicallyPrecedes($1) }
        guard let name else {
            throw TUFError(
                .mismatch, of: "bundle", section: "5.7.2", expected: "a pin file that its targets metadata lists",
                found: pins == nil ? "no pin file" : "another")
        }
        let target = String(decoding: name, as: UTF8.self)
        _ = try BundleProof(trustedRoot: root, target: target, settings: settings).proved(self, at: UpdateStart(time))
        return name.quotedName
    }
}

extension TargetsMetadata {
    /// A target that this role lists itself. Delegated roles are ignored for pins.
    func own(_ name: String) throws(TUFError) -> TUFTarget {
        guard let description = targets[Array(name.utf8)] else {
            throw TUFError(
                .unknownTarget, of: Array(name.utf8).quotedName, section: "5.6.7",
                expected: "the target in the metadata of the targets role itself", found: "none")
        }
        return try TUFTarget(name: name, description: description)
    }
}
