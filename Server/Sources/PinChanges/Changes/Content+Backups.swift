package import ServerModel

extension Content {
    /// The hosts that would have no valid pin if their current certificate had to be replaced at once, a sentence each.
    /// - Parameter now: seconds since 1970.
    /// - Returns: the hosts, each with whether a certificate must be announced, because a key is not enough.
    package func missingBackups(at now: Int64) -> [(host: ContentHost, needsCertificate: Bool, words: String)] {
        let certificateKinds: Set<ContentFormat.Kind> = [.challenge, .list, .trustServer]
        let namesCertificates = formats.first { certificateKinds.contains($0.kind) }
        let namesKeys = formats.first { $0.kind.isPinFile || $0.kind == .trustServer }
        var missing: [(host: ContentHost, needsCertificate: Bool, words: String)] = []
        for host in hosts {
            let label = "\(host.name):\(host.port)"
            if let format = namesCertificates,
                Set(host.certificates.filter { $0.expires >= now }.map(\.fingerprint)).count < 2
            {
                let words =
                    "\(label) has no backup: clients of \(format.kind.rawValue) trust one certificate, and none if it must "
                    + "be replaced at once"
                missing.append((host, true, words))
            }
            if let format = namesKeys {
                let keys = host.keys.filter { $0.state != .candidate }
                if Set(keys.map(\.pin)).count < 2 || !keys.contains(where: { $0.state == .backup }) {
                    missing.append((host, false, "\(label) has no backup key for clients of \(format.kind.rawValue)"))
                }
            }
        }
        return missing
    }
}
