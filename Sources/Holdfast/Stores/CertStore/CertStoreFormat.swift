import Foundation

/// The formats of a ``CertStore``: a list of fingerprints signed one by one, or a response to a challenge, signed as a
/// whole.
struct CertStoreFormat: DocumentFormat {
    let configuration: CertStoreConfiguration
    /// The signer's key; nil if the configuration is invalid.
    let key: (any SignatureVerifying)?
    let configurationError: StoreError?
    let crypto: StoreCryptography

    /// The number of bytes of a challenge; servers accept 16 to 32.
    private static let challengeLength = 16

    var storageKey: String { configuration.identifier ?? "cert-store-\(Hexadecimal.encode(origin))" }
    var origin: [UInt8] {
        let parts = [
            "cert-store", configuration.useChallenge ? "challenge" : "list", configuration.serviceURL.absoluteString,
            configuration.publicKey,
        ]
        return StoredRecord.origin(of: parts.map { Array($0.utf8) })
    }
    var storeName: String { configuration.identifier ?? "default" }
    var logName: String { storeName }
    var documentURL: URL? { configuration.serviceURL }
    var recordFormat: StoredRecord.Format { configuration.useChallenge ? .challenge : .list }
    var caveat: String? {
        configuration.useChallenge
            ? nil : "a static list does not protect against older entries that have not expired; a challenge does"
    }
    var buildDate: Date? { configuration.buildDate }
    var longestInterval: TimeInterval { configuration.schedule.longestInterval }
    var updateTimeout: Duration { configuration.updateTimeout }
    var preparationTimeout: Duration { configuration.preparationTimeout }

    func fetch(
        from provider: any RemoteDataProvider, replacing current: CurrentDocument<StoreContent>
    ) async throws(StoreError) -> FetchedDocument<StoreContent>? {
        if let configurationError { throw configurationError }
        let (request, challenge) = try question(entityTag: current.entityTag)
        guard let (body, response) = try await provider.document(for: request) else { return nil }
        return try verified(try record(of: body, response, challenge: challenge), replacing: current)
    }

    private func question(entityTag: String) throws(StoreError) -> (request: RemoteDataRequest, challenge: String) {
        var request = RemoteDataRequest(
            url: configuration.serviceURL, headers: ["Accept": "application/json"],
            maximumBytes: configuration.limits.bytes)
        request.validatesServer = configuration.validatesServer
        guard configuration.useChallenge else {
            if !entityTag.isEmpty { request.headers["If-None-Match"] = entityTag }
            return (request, "")
        }
        let nonce = crypto.random(Self.challengeLength)
        guard nonce.count == Self.challengeLength else {
            throw StoreError(
                .invalidConfiguration, expected: "\(Self.challengeLength) random octets of the crypto provider",
                found: "\(nonce.count)")
        }
        let challenge = CanonicalBase64.encode(nonce)
        request.headers[ChallengeResponse.challengeHeader] = challenge
        return (request, challenge)
    }

    private func record(
        of body: Data, _ response: RemoteDataResponse, challenge: String
    ) throws(StoreError) -> StoredRecord {
        var record = StoredRecord(format: recordFormat, body: body)
        guard configuration.useChallenge else {
            record.entityTag = response.entityTag
            return record
        }
        guard let signature = response.header(ChallengeResponse.signatureHeader) else {
            throw StoreError(
                DocumentError(
                    .invalidSignature, field: ChallengeResponse.signatureHeader, expected: "a signature", found: "none")
            )
        }
        record.challenge = challenge
        record.signature = signature
        return record
    }

    func content(
        of record: StoredRecord, issuedUpTo latest: Date, at time: Date
    ) throws(DocumentError) -> StoreContent {
        guard let key else {
            throw DocumentError(.invalidPublicKey, expected: "a public key", found: "none")
        }
        guard record.format == .challenge else {
            return StoreContent(try FingerprintList(verifying: record.body, by: key, limits: configuration.limits))
        }
        return StoreContent(
            try ChallengeResponse(
                verifying: record.body, signature: record.signature, challenge: record.challenge, by: key,
                limits: configuration.limits))
    }

    func issueTime(of content: StoreContent) -> Date? { content.issuedAt }

    func checkReplaces(
        _ new: StoreContent, _ old: StoreContent?, newestIssue: Date?, at time: Date
    ) throws(DocumentError) {
        try new.checkReplaces(old, at: time.wholeSeconds, acceptingLoss: configuration.acceptsLossOfPins)
    }

    func obstacle(to content: StoreContent?, at time: Date) -> StoreError? {
        guard content?.table.hasUsableEntries(at: time.wholeSeconds) != true else { return nil }
        return StoreError(
            .storeIsEmpty, expected: "an entry that has not expired",
            found: content?.table.latestEnd.map {
                "entries of which the last expired at \(Date(wholeSeconds: $0).formatted(.iso8601))"
            } ?? "no entries")
    }

    func nextUpdate(
        for content: StoreContent, at time: Date, using generator: inout some RandomNumberGenerator
    ) -> Date {
        let soonest = content.table.soonestEnd(at: time.wholeSeconds)
        return configuration.schedule.nextUpdate(
            at: time, soonestExpiry: soonest.map { Date(wholeSeconds: $0 - 1) }, using: &generator)
    }

    func news(of content: StoreContent) -> [StoreEvent] {
        [StoreEvent(.replaced, entries: content.table.count, date: content.issuedAt)]
            + (content.hasUnsignedDomains ? [StoreEvent(.unsignedDomainsConfigurationIgnored)] : [])
    }

    func versionCheck(in content: StoreContent) -> VersionCheck? { content.versionCheck }
}

extension CertStoreConfiguration {
    func key(for crypto: StoreCryptography) throws(StoreError) -> any SignatureVerifying {
        let key: DocumentPublicKey
        do throws(DocumentError) {
            key = try DocumentPublicKey(base64: publicKey)
        } catch {
            throw Self.invalid(error.expected, error.found, error)
        }
        guard let verifier = crypto.verifier(key) else {
            throw Self.invalid("a public key that the crypto provider reads", "one that it does not", nil)
        }
        return verifier
    }

    func fallbackTable() throws(StoreError) -> PinTable {
        var entries: [FingerprintEntry] = []
        for data in [fallbackCertificateData, fallbackCertificatesData].compactMap(\.self) {
            do throws(DocumentError) {
                entries += try FallbackDocument.entries(in: data, limits: limits)
            } catch {
                throw Self.invalid("fallback data that can be read", ForeignErrorText.found(error), error)
            }
        }
        // A fallback is never signed again, so an expiry in milliseconds would be valid for 50,000 years.
        if let late = entries.first(where: { $0.expires > FingerprintEntry.latestExpiry }) {
            throw Self.invalid(
                "fallback entries that expire before the year 10000, in seconds",
                "\(late.expires) for \(late.name.quoted), which may be in milliseconds", nil)
        }
        return PinTable(entries)
    }

    func check() throws(StoreError) {
        if !validatesServer, !useChallenge {
            throw Self.invalid(
                "standard validation for the download of a static list, or a challenge", "noValidation", nil)
        }
        guard schedule.updateInterval > .zero, schedule.expirationThreshold >= .zero, updateTimeout > .zero,
            preparationTimeout > .zero
        else {
            throw Self.invalid(
                "an update interval and timeouts above zero, and a threshold of zero or more",
                "\(schedule.updateInterval), \(updateTimeout), \(preparationTimeout) and "
                    + "\(schedule.expirationThreshold)", nil)
        }
    }

    private static func invalid(_ expected: String, _ found: String, _ underlying: (any Error)?) -> StoreError {
        StoreError(.invalidConfiguration, expected: expected, found: found, underlying: underlying)
    }
}
