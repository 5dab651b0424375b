import Foundation

/// The content of a verified document, in any format.
package struct StoreContent: Sendable {
    package let table: PinTable
    /// Whether the document was signed as a whole. Then a removed entry is no longer trusted, and the statement about
    /// hosts without pins is signed.
    let isSignedAsAWhole: Bool
    /// The statement about hosts without pins; nil unless it was signed.
    let domains: DomainsConfiguration?
    /// Whether the document had an unsigned statement about hosts without pins.
    let hasUnsignedDomains: Bool
    /// The time at which the document was made, according to its signer; only a document that is signed as a whole
    /// states it.
    let issuedAt: Date?
    let versionCheck: VersionCheck?

    package init(_ list: FingerprintList) {
        table = PinTable(list.entries)
        isSignedAsAWhole = false
        domains = nil
        hasUnsignedDomains = list.unsignedDomainsConfiguration != nil
        issuedAt = nil
        versionCheck = nil
    }

    package init(_ response: ChallengeResponse) {
        table = PinTable(response.entries)
        isSignedAsAWhole = true
        domains = response.domainsConfiguration
        hasUnsignedDomains = false
        issuedAt = response.issuedAt
        versionCheck = response.versionCheck
    }

    /// Throws unless this may replace a store's content. A response to the store's own challenge may, because it is
    /// fresh, whatever its timestamp.
    ///
    /// Anyone on the network path can replay a static list whose entries have all expired, so such a list replaces
    /// nothing. Fallback entries give way only to a document with an entry in force, or to a response to a challenge
    /// that removes all entries.
    /// - Parameters:
    ///   - old: the content that it would replace; nil if nothing verified is stored and the fallback is in use.
    ///   - time: the trusted time, in Unix seconds.
    ///   - acceptingLoss: whether the application lets a static list drop names.
    package func checkReplaces(_ old: StoreContent?, at time: Int64, acceptingLoss: Bool) throws(DocumentError) {
        if !isSignedAsAWhole {
            // No signature covers an empty list, so it must not end the use of the fallback.
            guard table.count > 0 || acceptingLoss && old != nil else {
                throw DocumentError(.emptyList, field: "fingerprints", expected: "at least one entry", found: "none")
            }
            if !acceptingLoss, let name = old?.table.nameLost(in: table, at: time) {
                throw DocumentError(
                    .losesPins, field: "fingerprints",
                    expected: "an unexpired entry for \(name.quoted), which has one now", found: "none")
            }
        }
        guard let latest = table.latestEnd, !table.hasUsableEntries(at: time) else { return }
        // The signer of a document that is signed as a whole may remove all entries in force.
        guard isSignedAsAWhole, old != nil else {
            throw DocumentError(
                .expiredEntries, field: "expires", expected: "an entry that has not expired",
                found: "entries of which the last expired at \(Date(wholeSeconds: latest).formatted(.iso8601))")
        }
    }
}

/// The state from which a ``CertStore`` decides at one moment.
package struct StoreSnapshot: Sendable {
    let document: DocumentSnapshot<StoreContent>
    let fallback: PinTable

    package init(document: DocumentSnapshot<StoreContent>, fallback: PinTable) {
        self.document = document
        self.fallback = fallback
    }

    /// The verified document; nil if none is stored.
    package var content: StoreContent? { document.content }
    var trustedTime: TrustedTime { document.trustedTime }

    /// The entries in use: fallback entries only while no verified document is stored.
    package var table: PinTable { content?.table ?? fallback }

    /// Whether the host has entries of any kind, usable or not.
    func isListed(_ host: DialedHost) -> Bool { !entriesEver(for: host).isEmpty }

    /// The reason why a host has no usable entries.
    func absence(of host: DialedHost) -> PinAbsence {
        guard content != nil, table.count > 0 else { return .empty }
        return isListed(host) ? .expired : .notCovered
    }

    /// The reason why a name, as written in a document, has no usable entries.
    func absence(ofName name: String) -> PinAbsence {
        guard content != nil, table.count > 0 else { return .empty }
        return table.entries(named: name).isEmpty ? .notCovered : .expired
    }

    /// Whether shipped entries can be used until the first list arrives.
    func hasUsableFallback(at now: Date) -> Bool {
        content == nil && fallback.hasUsableEntries(at: trustedTime.time(clock: now).wholeSeconds)
    }

    /// The result for a common name and a fingerprint at a place in the chain; entries for other places are ignored.
    func result(
        name: String, fingerprint: some Collection<UInt8>, depth: Int, at time: Date
    ) -> CertStore.ValidationResult {
        let table = table
        let seconds = time.wholeSeconds
        let entries = table.entries(named: name).lazy.filter {
            Int($0.depth) == depth && $0.isUsable(at: seconds) && table.isLiteralName($0, name)
        }
        guard !entries.isEmpty else { return .empty }
        guard let pin = try? Pin(subject: .certificate, digest: [UInt8](fingerprint)) else { return .untrusted }
        return entries.contains { $0.rule.matches(pin, at: time) { $0.covers(depth) } } ? .trusted : .untrusted
    }

    /// The usable entries of a dialed host: those of its name, otherwise those of the wildcard above its first label.
    func entries(for host: DialedHost, at time: Int64) -> [PinTable.Entry] {
        for name in FingerprintEntry.names(for: host) {
            let usable = table.entries(named: name).filter { $0.isUsable(at: time) }
            if !usable.isEmpty { return usable }
        }
        return []
    }

    /// Whether the signer exempts a host from pins.
    func isExempt(_ host: DialedHost) -> Bool {
        guard let domains = content?.domains else { return false }
        for name in FingerprintEntry.names(for: host) {
            if let isRequired = domains.isRequired(name) { return !isRequired }
        }
        return !domains.pinningRequiredForUnlisted && !isListed(host)
    }

    /// The entries of a host, including expired ones: a host that has any is listed.
    private func entriesEver(for host: DialedHost) -> [PinTable.Entry] {
        FingerprintEntry.names(for: host).flatMap { table.entries(named: $0) }
    }
}
