@testable import HoldfastTUF

/// Reads metadata of any role, for tests and for the fuzzer, whose folder has a link to this file. It asks for no trusted
/// root; root metadata must be signed by its own keys.
enum MetadataReader {
    /// - Throws: ``TUFError`` if no client would accept the file, whatever root it trusts.
    static func read(_ octets: [UInt8]) throws(TUFError) {
        try read(octets, meter: WorkMeter(TUFSettings()))
    }

    static func read(_ octets: [UInt8], meter: WorkMeter) throws(TUFError) {
        let file = try SignedFile(octets, maximumBytes: TUFSettings.pythonTUF.targetsBytes)
        guard case .text(let type)? = file.signed["_type"] else {
            throw TUFError(.malformed, expected: "a type", found: "none")
        }
        if type.elementsEqual(RoleName.root.octets) {
            let root = try RootMetadata(file)
            try root.root.verify(file, section: "5.3.4", meter: meter)
        } else if type.elementsEqual(RoleName.timestamp.octets) {
            _ = try TimestampMetadata(file)
        } else if type.elementsEqual(RoleName.snapshot.octets) {
            _ = try SnapshotMetadata(file)
        } else {
            let targets = try TargetsMetadata(file)
            meter.beginSearch()
            for delegation in try targets.delegations.roles(for: try TargetName("a/x1"), meter: meter) {
                _ = delegation.delegator.role.localFile
            }
        }
    }
}
