import struct Foundation.Data
import struct Foundation.Date
import struct Foundation.URL

/// Reads what a store kept, and verifies it again: a changed file is an empty store, not a trusted one.
struct StoreLoading {
    struct Result {
        var content: StoreContent?
        var newestIssue: Date?
        var nextUpdate = Date(timeIntervalSince1970: 0)
        var entityTag = ""
        var error: CertStoreError?
    }

    let configuration: CertStoreConfiguration
    let key: (any SignatureVerifying)?
    let now: Date

    func load(from dataStore: any SecureDataStore) -> Result {
        guard let key else { return Result() }
        let data: Data?
        do {
            let name = configuration.instanceIdentifier
            data =
                if let reporting = dataStore as? any ReportingDataStore { try reporting.load(forKey: name) } else {
                    dataStore.loadData(forKey: name)
                }
        } catch {
            return Result(error: damaged("one that cannot be read: \(error)", error))
        }
        guard let data else { return Result() }
        guard let record = StoredRecord(data) else { return Result(error: damaged("one that is damaged", nil)) }
        guard (record.format == .challenge) == configuration.useChallenge else {
            return Result(error: damaged("one of the other kind (\(record.format.rawValue))", nil))
        }
        do throws(DocumentError) {
            return result(of: record, try Self.content(of: record, by: key, limits: configuration.limits))
        } catch {
            return Result(error: damaged("one that does not verify: \(error)", error))
        }
    }

    static func content(
        of record: StoredRecord, by key: any SignatureVerifying, limits: DocumentLimits
    ) throws(DocumentError) -> StoreContent {
        switch record.format {
        case .list: StoreContent(try FingerprintList(verifying: record.body, by: key, limits: limits))
        case .challenge:
            StoreContent(
                try ChallengeResponse(
                    verifying: record.body, signature: record.signature, challenge: record.challenge, by: key,
                    limits: limits))
        }
    }

    /// The dates of a record are unsigned: neither may do more than the signed ones and the schedule allow.
    private func result(of record: StoredRecord, _ content: StoreContent) -> Result {
        var result = Result(content: content, entityTag: record.entityTag)
        if let issued = content.issuedAt {
            let newest = Date(timeIntervalSince1970: Double(record.newestIssue))
            result.newestIssue = max(issued, min(newest, issued.addingTimeInterval(StoreContent.acceptedDelay)))
        }
        let latest = now.addingTimeInterval(configuration.schedule.periodicInterval)
        result.nextUpdate = min(Date(timeIntervalSince1970: Double(record.nextUpdate)), latest)
        return result
    }

    private func damaged(_ found: String, _ underlying: (any Error)?) -> CertStoreError {
        CertStoreError(.damagedStorage, expected: "a stored document", found: found, underlying: underlying)
    }
}

extension CertStoreConfiguration {
    func key(for provider: any CryptoProvider) throws(CertStoreError) -> any SignatureVerifying {
        let key: DocumentPublicKey
        do throws(DocumentError) {
            key = try DocumentPublicKey(base64: publicKey)
        } catch {
            throw Self.invalid(error.expected, error.found, error)
        }
        if provider is SwiftCryptoProvider { return key }
        guard let imported = provider.importECPublicKey(publicKey: Data(key.x963)) else {
            throw Self.invalid("a public key that the crypto provider reads", "one that it does not", nil)
        }
        return ProviderKey(provider: provider, key: imported)
    }

    func fallbackTable() throws(CertStoreError) -> PinTable {
        var entries: [FingerprintEntry] = []
        for data in [fallbackCertificateData, fallbackCertificatesData].compactMap(\.self) {
            do throws(DocumentError) {
                entries += try FallbackDocument.entries(in: data, limits: limits)
            } catch {
                throw Self.invalid("fallback data that can be read", "\(error)", error)
            }
        }
        return PinTable(entries)
    }

    func check() throws(CertStoreError) {
        if sslValidationStrategy == .noValidation, !useChallenge {
            throw Self.invalid(
                "standard validation for the download of a static list, or a challenge", "noValidation", nil)
        }
        guard periodicUpdateInterval.isFinite, expirationUpdateThreshold.isFinite, periodicUpdateInterval > 0,
            expirationUpdateThreshold >= 0
        else { throw Self.invalid("intervals that are numbers and not negative", "others", nil) }
    }

    private static func invalid(
        _ expected: String, _ found: String, _ underlying: (any Error)?
    ) -> CertStoreError {
        CertStoreError(.invalidConfiguration, expected: expected, found: found, underlying: underlying)
    }
}
