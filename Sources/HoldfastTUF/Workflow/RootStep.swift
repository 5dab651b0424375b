/// Sections 5.2 and 5.3: decides which root is trusted.
struct RootStep {
    let settings: TUFSettings
    let meter: WorkMeter

    /// Section 5.2: the initial root is trusted because of where it comes from. It must be root metadata signed by its
    /// own keys; it may have expired.
    func initial(_ octets: [UInt8]) throws(TUFError) -> RootMetadata {
        try about(RoleName.root, "5.2") { () throws(TUFError) in
            let file = try SignedFile(octets, maximumBytes: settings.rootBytes)
            let root = try RootMetadata(file)
            try root.root.verify(file, section: "5.2", meter: meter)
            return root
        }
    }

    /// Sections 5.3.4 and 5.3.5: the next root must be signed by a threshold of the trusted root's keys and by a
    /// threshold of its own, and must have the next version. Its expiration matters only at the end of the walk
    /// (section 5.3.10).
    func next(_ octets: [UInt8], after trusted: RootMetadata) throws(TUFError) -> RootMetadata {
        try about(RoleName.root, "5.3") { () throws(TUFError) in
            let file = try SignedFile(octets, maximumBytes: settings.rootBytes)
            try trusted.root.verify(file, section: "5.3.4", meter: meter)
            let root = try RootMetadata(file)
            try root.root.verify(file, section: "5.3.4", meter: meter)
            let due = trusted.common.version + 1
            guard root.common.version == due else {
                throw TUFError(
                    root.common.version < due ? .rolledBack : .wrongVersion, section: "5.3.5",
                    expected: "version \(due)", found: "\(root.common.version)")
            }
            return root
        }
    }
}

/// Adds the role and the section to errors.
func about<Value>(
    _ role: RoleName, _ section: String, _ body: () throws(TUFError) -> Value
) throws(TUFError) -> Value {
    do {
        return try body()
    } catch {
        throw error.about(role.text, section: section)
    }
}
