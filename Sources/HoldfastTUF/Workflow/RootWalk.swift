import Foundation

/// Section 5.3: from the trusted root to the newest, one version after the other.
struct RootWalk {
    let context: UpdateContext
    /// The application's own; without it the walk begins with the one that is kept.
    let trustedRoot: Data?

    private var limit: Int { context.settings.rootBytes }
    private var step: RootStep { RootStep(settings: context.settings, meter: context.meter) }

    func newest() async throws(TUFError) -> RootMetadata {
        let newest = StoredMetadataName(.root)
        var kept = try context.kept(newest, atMost: limit)
        guard var octets = trustedRoot ?? kept else {
            throw TUFError(.noTrustedRoot, section: "5.2", expected: "a trusted root", found: "none")
        }
        var root = try step.initial([UInt8](octets))
        var asked = 0
        while true {
            let version = root.common.version + 1
            if let known = try known(version, after: root) {
                (root, octets) = known
                continue
            }
            // Of those that are asked for: what was walked before must not use the cap up.
            guard asked < context.settings.rootRotations else { break }
            asked += 1
            let file = RepositoryFile(kind: .metadata, path: RoleName.root.remoteFile(version: version))
            guard let served = try await context.fetch(file, of: RoleName.root.text, atMost: limit) else { break }
            let next = try step.next([UInt8](served), after: root)
            try forgetFreshness(root, next)
            // The history first: a walk that is killed between the two goes through it again.
            try keep(served, version: version)
            try context.keep(newest, kept, served, atMost: limit)
            (root, octets, kept) = (next, served, served)
        }
        if octets != kept {
            // The application came with a newer root than the one that was kept, or the walk before was killed.
            if let kept, let earlier = try? step.initial([UInt8](kept)) { try forgetFreshness(earlier, root) }
            try context.keep(newest, kept, octets, atMost: limit)
        }
        return root
    }

    /// Section 5.3.11, before the root that rotates keys is kept: whoever is killed in between still recovers from a
    /// fast-forward attack. Both go when the keys of either did.
    private func forgetFreshness(_ root: RootMetadata, _ next: RootMetadata) throws(TUFError) {
        guard next.rotatesFreshness(of: root) else { return }
        for (role, limit) in [
            (RoleName.timestamp, context.settings.timestampBytes), (.snapshot, context.settings.snapshotBytes),
        ] {
            let name = StoredMetadataName(role)
            let old = try context.kept(name, atMost: limit)
            if old != nil { try context.keep(name, old, nil, atMost: limit) }
        }
    }

    /// A version between the application's root and the newest that was seen before; verified like any other.
    private func known(_ version: Int64, after root: RootMetadata) throws(TUFError) -> (RootMetadata, Data)? {
        guard trustedRoot != nil,
            let octets = try context.kept(StoredMetadataName(rootVersion: version), atMost: limit),
            let next = try? step.next([UInt8](octets), after: root)
        else { return nil }
        return (next, octets)
    }

    private func keep(_ octets: Data, version: Int64) throws(TUFError) {
        guard trustedRoot != nil else { return }
        let name = StoredMetadataName(rootVersion: version)
        try context.keep(name, try context.kept(name, atMost: limit), octets, atMost: limit)
    }
}
