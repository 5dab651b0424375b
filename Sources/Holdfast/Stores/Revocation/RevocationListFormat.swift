import Foundation

/// The format of one list of a ``RevocationStore``: DER, signed by an authority (RFC 5280 section 5).
struct RevocationListFormat: DocumentFormat {
    let key: RevocationPlace.Key
    let url: URL
    let authorities: RevocationAuthorities
    let configuration: RevocationConfiguration
    /// nil for a place that the configuration names.
    let room: RevocationRoom.Share?

    var origin: [UInt8] {
        StoredRecord.origin(of: [Array("revocation-list".utf8), Array(key.address.octets), Array(key.authority.octets)])
    }
    var storageKey: String { "revocation-list-\(Hexadecimal.encode(origin))" }
    /// Without the parts of a URL that may be secret.
    var logName: String { "revocation list of \(url.quotedAddress)" }
    static let storeName = "revocation"
    var storeName: String { Self.storeName }
    var documentURL: URL? { url }
    var authority: X509Certificate? { authorities.first }
    var recordFormat: StoredRecord.Format { .revocationList }
    var buildDate: Date? { nil }
    var longestInterval: TimeInterval { configuration.schedule.longestInterval }
    var updateTimeout: Duration { configuration.updateTimeout }

    func fetch(
        from provider: any RemoteDataProvider, replacing current: CurrentDocument<CertificateRevocationList>
    ) async throws(StoreError) -> FetchedDocument<CertificateRevocationList>? {
        var request = RemoteDataRequest(
            url: url, headers: ["Accept": "application/pkix-crl, */*"], maximumBytes: configuration.maximumBytes)
        request.allowsPlainHTTP = true
        // Only an existing list can be unchanged.
        if current.content != nil, !current.entityTag.isEmpty {
            let name = Self.isEntityTag(current.entityTag) ? "If-None-Match" : "If-Modified-Since"
            request.headers[name] = current.entityTag
        }
        guard let (body, response) = try await provider.document(for: request) else { return nil }
        var record = StoredRecord(format: recordFormat, body: body)
        record.entityTag = Self.validator(of: response)
        let fetched = try verified(record, replacing: current)
        room?.grow(fetched.content.der.count)
        return fetched
    }

    func content(
        of record: StoredRecord, issuedUpTo latest: Date, at time: Date
    ) throws(DocumentError) -> CertificateRevocationList {
        var list = try Self.reading { () throws(CertificateError) in try RevocationListHeader(der: Array(record.body)) }
        // Before the entries are read: indexing them costs far more than a signature, and anyone on the network path
        // can send as many as fit.
        switch authorities.signer(of: list, knowing: configuration.certificates, at: time.wholeSeconds) {
        case .known(let signer):
            if let room, !room.take(list.der.count) {
                throw DocumentError(
                    .tooLarge, field: "certificateList",
                    expected: "lists of at most \(configuration.maximumTotalBytes) bytes together",
                    found: "\(list.der.count) bytes more",
                    remedy: "Set maximumTotalBytes higher, or name the place in the configuration.")
            }
            list.provenance = CertificateRevocationList.Provenance(
                digest: SHA256Digest.of(list.der), signer: signer, authority: key.authority, address: key.address)
            return try Self.reading { () throws(CertificateError) in try CertificateRevocationList(list) }
        case .unsupported(let found):
            throw DocumentError(
                .unsupportedAlgorithm, field: "certificateList",
                expected: "a list that is signed with RSA, ECDSA or Ed25519", found: found,
                remedy: "Have the authority sign its lists with a supported algorithm.")
        case .none(let found):
            throw DocumentError(
                .invalidSignature, field: "certificateList", expected: "a list that its authority signed", found: found,
                remedy: "Give the certificate with which the authority's lists are signed, or check the URL.")
        }
    }

    private static func reading<List>(_ read: () throws(CertificateError) -> List) throws(DocumentError) -> List {
        do throws(CertificateError) {
            return try read()
        } catch {
            throw DocumentError(
                .invalidValue, field: "certificateList", expected: "a revocation list in DER: \(error.expected)",
                found: error.found, remedy: "Check that the URL leads to a revocation list.")
        }
    }

    /// Only the clock sets the time: an authority that dates its lists in the future does not move it.
    func issueTime(of content: CertificateRevocationList) -> Date? { nil }

    /// An attacker on the network path could substitute another list, now or when this one is out of date. So the new
    /// list must have the same issuer, must not be older, and must cover the same certificates or all; while the
    /// current list is in force, the new one must be too.
    func checkReplaces(
        _ new: CertificateRevocationList, _ old: CertificateRevocationList?, newestIssue: Date?, at time: Date
    ) throws(DocumentError) {
        guard new.thisUpdateSeconds <= time.wholeSeconds else {
            throw DocumentError(
                .invalidValue, field: "thisUpdate", expected: "a list that counts already",
                found: "a list of the future")
        }
        guard let old else { return }
        guard new.issuer.matches(old.issuer) else {
            throw DocumentError(
                .invalidValue, field: "issuer", expected: "a list of the same issuer", found: "another's")
        }
        // The numbers of one key and scope form one sequence (RFC 5280 5.2.3).
        if new.provenance?.signer == old.provenance?.signer, new.scope == old.scope,
            let number = new.header.number, let oldNumber = old.header.number, number < oldNumber
        {
            throw DocumentError(
                .issuedBeforeNewest, field: "cRLNumber",
                expected: "a list with the number of the one that is there, or a higher one",
                found: "a lower number",
                remedy: "If the authority has begun its numbers anew, reset the store of its lists.")
        }
        guard new.thisUpdateSeconds >= old.thisUpdateSeconds else {
            throw DocumentError(
                .issuedBeforeNewest, field: "thisUpdate",
                expected: "a list of \(old.thisUpdate.formatted(.iso8601)) or later",
                found: "one of \(new.thisUpdate.formatted(.iso8601))")
        }
        let isAsWide = new.scope == old.scope || new.scope == CertificateRevocationList.Scope()
        guard isAsWide, new.unsupported == old.unsupported || new.unsupported == nil else {
            throw DocumentError(
                .invalidValue, field: "issuingDistributionPoint", expected: "a list for the same certificates",
                found: new.unsupported ?? "a list for others")
        }
        guard ListRule.validityObjection(to: old, at: time.wholeSeconds) == nil else { return }
        if let found = ListRule.validityObjection(to: new, at: time.wholeSeconds) {
            throw DocumentError(.outdated, field: "nextUpdate", expected: "a list that counts now", found: found)
        }
    }

    func obstacle(to content: CertificateRevocationList?, at time: Date) -> StoreError? {
        guard let content else {
            return StoreError(
                .storeIsEmpty, expected: "a revocation list of \(url.quotedAddress)", found: "none",
                remedy: "Let the application reach the authority's server.")
        }
        guard let found = ListRule.validityObjection(to: content, at: time.wholeSeconds) else { return nil }
        return StoreError(
            .storeIsEmpty, expected: "a revocation list of \(url.quotedAddress) that counts now", found: found,
            remedy: "Check that the authority still publishes its lists, and the clock.")
    }

    func nextUpdate(
        for content: CertificateRevocationList, at time: Date, using generator: inout some RandomNumberGenerator
    ) -> Date {
        configuration.schedule.nextUpdate(at: time, soonestExpiry: content.nextUpdate, using: &generator)
    }

    func news(of content: CertificateRevocationList) -> [StoreEvent] {
        [StoreEvent(.replaced, entries: content.count, date: content.thisUpdate)]
    }

    // MARK: Conditional requests

    /// Sent with the next request: the entity tag, otherwise the date of the last change (RFC 9110 8.8).
    private static func validator(of response: RemoteDataResponse) -> String {
        let tag = response.entityTag
        if isEntityTag(tag) { return tag }
        guard let date = response.header("Last-Modified"), date.isASCII(atMost: 64),
            date.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), !isEntityTag(date)
        else { return "" }
        return date
    }

    /// A date begins differently.
    private static func isEntityTag(_ text: String) -> Bool {
        text.utf8.starts(with: "\"".utf8) || text.utf8.starts(with: "W/\"".utf8)
    }
}

/// The certificates and anchors of the one key whose lists are expected at a place: a few at most.
final class RevocationAuthorities: Sendable {
    /// An authority may have certificates of several roots, and some publish the lists of several names at one place.
    static let maximumCount = 8

    /// The first one that was known.
    let first: X509Certificate
    private let known: Lock<[RevocationAuthority]>

    init(_ first: RevocationAuthority) {
        self.first = first.issuer
        known = Lock([first])
    }

    /// An authority whose certificates name the place together with many others counts once, with as many names as
    /// necessary.
    /// - Returns: whether it, or one of its names, was not known; false also if there are too many.
    func add(_ authority: RevocationAuthority) -> Bool {
        known.withLock { known in
            if let index = known.firstIndex(where: { $0.issuer == authority.issuer && $0.anchor == authority.anchor }) {
                return known[index].take(authority.pointNames)
            }
            guard known.count < Self.maximumCount else { return false }
            known.append(authority)
            return true
        }
    }

    /// Who signed a list that belongs to one of them.
    func signer(
        of list: RevocationListHeader, knowing certificates: [X509Certificate], at time: Int64
    ) -> RevocationAuthority.Signer {
        var objection: RevocationAuthority.Signer?
        for authority in known.withLock({ $0 }) {
            switch authority.signer(of: list, knowing: certificates, at: time) {
            case .known(let signer): return .known(signer)
            case .unsupported(let found): objection = .unsupported(found)
            case .none(let found): objection = objection ?? RevocationAuthority.Signer.none(found)
            }
        }
        return objection ?? .none("a list of nobody")
    }
}
