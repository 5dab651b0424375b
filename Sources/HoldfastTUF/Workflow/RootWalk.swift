import Foundation

/// Section 5.3: the walk from the trusted root to the newest, one version after the other.
struct RootWalk {
    let context: UpdateContext
    /// The application's own root; if it is nil, the walk begins with the stored one.
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
            // Only downloads are limited: roots that an earlier update stored must not use up the limit.
            guard asked < context.settings.rootRotations else { break }
            asked += 1
            let file = RepositoryFile(kind: .metadata, path: RoleName.root.remoteFile(version: version))
            guard let served = try await context.fetch(file, of: RoleName.root.text, atMost: limit) else { break }
            let next = try step.next([UInt8](served), after: root)
            try forgetOnlineRoles(root, next)
            // Store the history first: if the process is killed between the two, the next walk goes through this
            // version again.
            try keep(served, version: version)
            try context.keep(newest, kept, served, atMost: limit)
            (root, octets, kept) = (next, served, served)
        }
        if octets != kept {
            // The application shipped with a newer root than the stored one, or the process was killed during the last
            // walk.
            if let kept, let earlier = try? step.initial([UInt8](kept)) { try forgetOnlineRoles(earlier, root) }
            try context.keep(newest, kept, octets, atMost: limit)
        }
        return root
    }

    /// Section 5.3.11. This happens before the root that rotates the keys is stored, so that even a client that is
    /// killed in between recovers from a fast-forward attack. Both files are removed if the keys of either role were
    /// rotated.
    private func forgetOnlineRoles(_ root: RootMetadata, _ next: RootMetadata) throws(TUFError) {
        guard next.rotatesOnlineRoles(of: root) else { return }
        for (role, limit) in [
            (RoleName.timestamp, context.settings.timestampBytes), (.snapshot, context.settings.snapshotBytes),
        ] {
            let name = StoredMetadataName(role)
            let old = try context.kept(name, atMost: limit)
            if old != nil { try context.keep(name, old, nil, atMost: limit) }
        }
    }

    /// A stored version between the application's root and the newest one seen so far. It is verified like any other.
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
