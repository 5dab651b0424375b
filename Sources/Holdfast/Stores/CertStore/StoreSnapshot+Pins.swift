package import Foundation

extension StoreSnapshot {
    /// The requirement of the content for a host: its own entries, otherwise those of the wildcard above its first
    /// label.
    package func content(
        for question: PinQuestion, under configuration: CertStoreConfiguration, at time: Date
    ) -> PinAnswer.Content {
        guard let host = question.host else { return .client }
        if configuration.allowsDocumentsToDisablePinning, isExempt(host) {
            return .exempt(
                TrustFailure(
                    .validationDisabled, expected: "pins for \(host.name)",
                    found: "a signed document that asks for none",
                    remedy: "Do not allow documents to disable pinning, if this is not meant."))
        }
        var entries = entries(for: host, at: time.wholeSeconds)
        var name = host.name
        if entries.isEmpty, let common = commonName(of: question, unlessListed: host, under: configuration) {
            name = common
            entries = table.entries(named: common).filter {
                $0.isUsable(at: time.wholeSeconds) && table.isLiteralName($0, common)
            }
        }
        if let first = entries.first { name = table.name(of: first) }
        guard configuration.expects(name) || configuration.expects(host.name) else {
            return .none(
                .notCovered,
                TrustFailure(
                    .hostNotCovered, expected: "one of the store's expected names", found: name.quotedAddress,
                    remedy: "Add the name to expectedCommonNames, if the store is for it."))
        }
        guard entries.isEmpty else { return .required(PinSet(known: entries.map(\.rule))) }
        return .none(
            absence(of: host),
            TrustFailure(
                .noUsablePins, expected: "an unexpired pin for \(host.name)",
                found: table.count == 0 ? "an empty store" : "none in the store"))
    }

    /// The common name of the leaf, if the configuration enables it and the host has no entries of any kind.
    private func commonName(
        of question: PinQuestion, unlessListed host: DialedHost, under configuration: CertStoreConfiguration
    ) -> String? {
        guard configuration.commonNameMatching == .whenHostIsUnlisted, !isListed(host),
            let leaf = question.chain.leaf
        else { return nil }
        return try? X509Certificate(der: leaf).subject.commonName
    }
}
