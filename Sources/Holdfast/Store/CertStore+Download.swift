import Foundation
import Logging
import Synchronization

extension CertStore {
    /// A document that was verified, and what is kept of it.
    struct Downloaded: Sendable {
        var record: StoredRecord
        let content: StoreContent
    }

    private static let challengeHeader = "X-Cert-Pinning-Challenge"
    private static let signatureHeader = "X-Cert-Pinning-Signature"
    /// Octets of a challenge; servers take 16 to 32.
    private static let challengeLength = 16

    /// Downloads and verifies a document; nil when the server has no other than the one that is stored.
    func download() async throws(CertStoreError) -> Downloaded? {
        guard let key else {
            throw configurationError
                ?? CertStoreError(.invalidConfiguration, expected: "a public key", found: "none")
        }
        var request = RemoteDataRequest(
            url: configuration.serviceUrl, headers: ["Accept": "application/json"],
            maximumBytes: configuration.limits.bytes, sslValidationStrategy: configuration.sslValidationStrategy)
        var challenge = ""
        if configuration.useChallenge {
            let nonce = crypto.getRandomData(length: Self.challengeLength)
            guard nonce.count == Self.challengeLength else {
                throw CertStoreError(
                    .invalidConfiguration, expected: "\(Self.challengeLength) random octets of the crypto provider",
                    found: "\(nonce.count)")
            }
            challenge = CanonicalBase64.encode(nonce)
            request.headers[Self.challengeHeader] = challenge
        } else {
            let tag = state.withLock { $0.entityTag }
            if !tag.isEmpty { request.headers["If-None-Match"] = tag }
        }
        let response: RemoteDataResponse
        do {
            response = try await provider.data(for: request)
        } catch {
            throw CertStoreError(network: error)
        }
        switch response.content {
        case .notModified where request.headers["If-None-Match"] != nil: return nil
        case .notModified:
            throw CertStoreError(network: RemoteDataError(status: 304))
        case .body(let body):
            var record = StoredRecord(format: configuration.useChallenge ? .challenge : .list, body: body)
            record.challenge = challenge
            if configuration.useChallenge {
                guard let signature = response.header(Self.signatureHeader) else {
                    throw CertStoreError(
                        DocumentError(
                            .invalidSignature, field: Self.signatureHeader, expected: "a signature", found: "none"))
                }
                record.signature = signature
            } else {
                record.entityTag = response.header("ETag") ?? ""
            }
            do throws(DocumentError) {
                let content = try StoreLoading.content(of: record, by: key, limits: configuration.limits)
                return Downloaded(record: record, content: content)
            } catch {
                throw CertStoreError(error)
            }
        }
    }

    /// Puts a document in the place of the one that is there, first in the storage, then in the snapshot.
    /// - Returns: that nothing in it is usable, or that it could not be stored; nil when all is well.
    func commit(_ downloaded: Downloaded?, _ generation: Int) async throws(CertStoreError) -> CertStoreError? {
        let result = await withCheckedContinuation { continuation in
            storageQueue.async {
                do throws(CertStoreError) {
                    continuation.resume(
                        returning: Result<_, CertStoreError>.success(try self.store(downloaded, generation)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        let failure = try result.get()
        // Not on the storage queue: an observer may reset the store.
        if let content = downloaded?.content { say(about: content) }
        return failure
    }

    /// On the storage queue, where resets happen as well: nothing changes the snapshot meanwhile.
    private func store(_ downloaded: Downloaded?, _ generation: Int) throws(CertStoreError) -> CertStoreError? {
        let (current, isStale) = state.withLock { ($0.snapshot, $0.generation != generation) }
        guard !isStale else {
            throw CertStoreError(.reset, expected: "the store as it was when the update began", found: "a reset")
        }
        let now = clock.now
        guard let downloaded else {
            renew(current.content, now: now)
            return usability(of: current.content, trusted: current.trustedTime, now: now)
        }
        var (record, content) = (downloaded.record, downloaded.content)
        var trusted = current.trustedTime
        do throws(DocumentError) {
            try content.checkReplaces(
                current.content, newestIssue: trusted.newestIssue,
                at: PathValidator.wholeSeconds(trusted.time(clock: now)), acceptingLoss: configuration.acceptsLossOfPins
            )
        } catch {
            throw CertStoreError(error)
        }
        if let issued = content.issuedAt { trusted.newestIssue = max(issued, trusted.newestIssue ?? issued) }
        let next = nextUpdate(for: content, trusted: trusted, now: now)
        record.nextUpdate = PathValidator.wholeSeconds(next)
        record.newestIssue = trusted.newestIssue.map(PathValidator.wholeSeconds) ?? 0
        let storageFailure = save(record)
        let snapshot = StoreSnapshot(content: content, fallback: current.fallback, trustedTime: trusted)
        let emptiness = usability(of: content, trusted: trusted, now: now)
        state.withLock { state in
            state.snapshot = snapshot
            state.nextUpdate = next
            state.entityTag = record.entityTag
            if emptiness == nil { state.forgetFailures() }
        }
        return emptiness ?? storageFailure
    }

    private func renew(_ content: StoreContent?, now: Date) {
        guard let content else { return }
        let next = nextUpdate(for: content, trusted: snapshot.trustedTime, now: now)
        let isUsable = usability(of: content, trusted: snapshot.trustedTime, now: now) == nil
        state.withLock { state in
            state.nextUpdate = next
            if isUsable { state.forgetFailures() }
        }
    }

    private func nextUpdate(for content: StoreContent, trusted: TrustedTime, now: Date) -> Date {
        let time = trusted.time(clock: now)
        let soonest = content.table.soonestExpiry(at: PathValidator.wholeSeconds(time))
        var generator = ProviderGenerator(provider: crypto)
        let next = configuration.schedule.nextUpdate(
            at: time, soonestExpiry: soonest.map { Date(timeIntervalSince1970: Double($0)) }, using: &generator)
        // Asked for by the device's clock, which may be behind.
        return now.addingTimeInterval(next.timeIntervalSince(time))
    }

    private func save(_ record: StoredRecord) -> CertStoreError? {
        do {
            if let reporting = dataStore as? any ReportingDataStore {
                try reporting.replace(record.data, forKey: identifier)
            } else if !dataStore.save(data: record.data, forKey: identifier) {
                return CertStoreError(.notStored, expected: "a data store that saves", found: "one that refuses")
            }
            return nil
        } catch {
            return CertStoreError(
                .notStored, expected: "a data store that saves", found: "\(error)", underlying: error)
        }
    }

    private func usability(of content: StoreContent?, trusted: TrustedTime, now: Date) -> CertStoreError? {
        let time = PathValidator.wholeSeconds(trusted.time(clock: now))
        guard content?.table.hasUsableEntries(at: time) != true else { return nil }
        return CertStoreError(
            .storeIsEmpty, expected: "an entry that has not expired",
            found: content?.table.latestExpiry.map {
                "entries of which the last expired at \(Date(timeIntervalSince1970: Double($0)).formatted(.iso8601))"
            } ?? "no entries")
    }

    private func say(about content: StoreContent) {
        let now = clock.now
        let warningOfReplay = state.withLock { state in
            defer { if !content.isSignedAsAWhole { state.hasWarnedOfReplay = true } }
            return !content.isSignedAsAWhole && !state.hasWarnedOfReplay
        }
        tell(.pinsReplaced(entries: content.table.count))
        if let issued = content.issuedAt, issued > now {
            tell(.issuedAheadOfClock(issued.timeIntervalSince(now)))
            logger.warning(
                "a pin document was issued after what the clock says; its time counts from now on",
                metadata: ["store": "\(identifier)", "seconds": "\(issued.timeIntervalSince(now))"])
        }
        if content.hasUnsignedDomains {
            tell(.unsignedDomainsConfigurationIgnored)
            logger.warning(
                "domainsConfig of a static list is not signed and not followed", metadata: ["store": "\(identifier)"])
        }
        if warningOfReplay {
            logger.notice(
                "a static list does not protect against older entries that have not expired; a challenge does",
                metadata: ["store": "\(identifier)"])
        }
    }
}
