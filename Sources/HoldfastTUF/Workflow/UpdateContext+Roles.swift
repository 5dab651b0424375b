import Foundation

extension UpdateContext {
    /// Section 5.4.
    func timestamp(_ root: RootMetadata) async throws(TUFError) -> TimestampMetadata {
        let step = TimestampStep(root: root, start: start, settings: settings, meter: meter)
        let name = StoredMetadataName(.timestamp)
        let old = try kept(name, atMost: settings.timestampBytes)
        let trusted = old.flatMap { step.kept([UInt8]($0)) }
        let data = try await fetch(.timestamp, version: nil, length: nil, atMost: settings.timestampBytes)
        guard let next = try step.next([UInt8](data), after: trusted) else {
            guard let trusted else {
                throw TUFError(.malformed, of: RoleName.timestamp.text, expected: "a timestamp", found: "none")
            }
            return trusted
        }
        try keep(name, old, data, atMost: settings.timestampBytes)
        return next
    }

    /// Section 5.5.
    func snapshot(
        _ root: RootMetadata, _ timestamp: TimestampMetadata
    ) async throws(TUFError) -> SnapshotMetadata {
        let step = SnapshotStep(root: root, timestamp: timestamp, start: start, settings: settings, meter: meter)
        let name = StoredMetadataName(.snapshot)
        let old = try kept(name, atMost: settings.snapshotBytes)
        let trusted = old.flatMap { step.kept([UInt8]($0)) }
        if let old, let trusted, step.isCurrent(trusted, [UInt8](old)) { return trusted }
        let data = try await fetch(
            .snapshot, version: root.consistentSnapshot ? timestamp.snapshot.version : nil,
            length: timestamp.snapshot.file.length, atMost: settings.snapshotBytes)
        let next = try step.next([UInt8](data), after: trusted)
        try keep(name, old, data, atMost: settings.snapshotBytes)
        return next
    }

    /// Sections 5.6.1 to 5.6.6, for the targets role and for delegated ones.
    func targets(
        _ delegator: Delegator, _ snapshot: SnapshotMetadata, isConsistent: Bool
    ) async throws(TUFError) -> TargetsMetadata {
        let step = TargetsStep(
            delegator: delegator, snapshot: snapshot, start: start, settings: settings, meter: meter)
        let description = try step.description()
        let name = StoredMetadataName(delegator.role)
        let old = try kept(name, atMost: settings.targetsBytes)
        if let old, let targets = try? step.verified([UInt8](old)) { return targets }
        let data = try await fetch(
            delegator.role, version: isConsistent ? description.version : nil, length: description.file.length,
            atMost: settings.targetsBytes)
        let next = try step.verified([UInt8](data))
        try keep(name, old, data, atMost: settings.targetsBytes)
        return next
    }
}
