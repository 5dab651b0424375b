package import Holdfast

extension PinFile {
    /// A pin in a file that no key matches.
    package struct Placeholder: Sendable, Hashable {
        /// The entry with the pin.
        package let pattern: HostPattern
        package let pin: Pin
        /// A description of the placeholder.
        package let what: String

        /// A sentence that explains the problem.
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

    /// The hosts without a usable backup key: if the first key is lost, every client is locked out.
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

    /// Whether there is a second key in case one is lost. Placeholders are not keys.
    package var hasUsableBackup: Bool {
        let accepted = pins.filter { $0.state != .candidate && PlaceholderDigest($0.pin.digest) == nil }
        return Set(accepted.map(\.pin)).count > 1 && accepted.contains { $0.state == .backup }
    }
}
