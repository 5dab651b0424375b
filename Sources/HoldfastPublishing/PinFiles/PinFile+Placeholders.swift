package import Holdfast

extension PinFile {
    /// A pin of a file that no key has.
    package struct Placeholder: Sendable, Hashable {
        /// The entry that has it.
        package let pattern: HostPattern
        package let pin: Pin
        /// What it is, in words.
        package let what: String

        /// A sentence about it.
        package var text: String { "\(pattern): \(pin) is \(what), a placeholder: no key has it" }
    }

    /// The placeholders among its pins, each once for a host.
    package var placeholders: [Placeholder] { hosts.flatMap(\.placeholders) }

    /// Checks that none of its pins is a placeholder, before it is signed.
    /// - Parameter subject: the file's name for the message.
    /// - Throws: ``PublishingError`` `notTheHosts`.
    package func checkPlaceholders(_ subject: String) throws(PublishingError) {
        guard let placeholder = placeholders.first else { return }
        let (file, host) = (ForeignFile.quoted(subject), ForeignFile.quoted("\(placeholder.pattern)"))
        throw PublishingError(
            .notTheHosts, of: subject, expected: "pins of keys", found: placeholder.text,
            remedy: "Put the pin of a real key in its place: "
                + "`holdfastctl keygen --tls \(placeholder.pattern.base.name) -o backup.key`, "
                + "`holdfastctl pins add \(file) \(host) backup.csr --state backup`, "
                + "`holdfastctl pins remove \(file) \(host) \(placeholder.pin)`.")
    }

    /// The hosts without a second key that can exist; losing the first one locks every client out.
    package var hostsWithoutUsableBackup: [HostPattern] {
        hosts.filter { !$0.isRetired && !$0.hasUsableBackup }.map(\.pattern)
    }
}

extension PinFile.Host {
    /// The placeholders among its pins, each once.
    var placeholders: [PinFile.Placeholder] {
        var seen: Set<Pin> = []
        return pins.compactMap { key in
            guard let found = PlaceholderDigest(key.pin.digest), seen.insert(key.pin).inserted else { return nil }
            return PinFile.Placeholder(pattern: pattern, pin: key.pin, what: found.text)
        }
    }

    /// Whether there is a second key in case one is lost, apart from placeholders, which are no keys.
    package var hasUsableBackup: Bool {
        let accepted = pins.filter { $0.state != .candidate && PlaceholderDigest($0.pin.digest) == nil }
        return Set(accepted.map(\.pin)).count > 1 && accepted.contains { $0.state == .backup }
    }
}
