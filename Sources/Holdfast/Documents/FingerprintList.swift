import Dispatch

public import struct Foundation.Data

/// A static list of fingerprints, of which every entry was verified with the signer's key.
///
/// ```swift
/// let list = try FingerprintList(verifying: data, with: DocumentPublicKey(base64: key))
/// ```
/// Only entries are signed, and not their `depth`. An attacker who can change the file can leave entries out, put back
/// older ones that have not expired, change depths, and write any `domainsConfig`.
public struct FingerprintList: Sendable, Hashable {
    /// The entries in the order of the document.
    public let entries: [FingerprintEntry]
    /// The document's statement about hosts without pins. It is not signed: report it, but do not follow it.
    package let unsignedDomainsConfiguration: DomainsConfiguration?

    /// Reads a list and verifies the signature of every entry. One bad entry fails the whole list.
    ///
    /// It takes about 45 µs per entry, uses all cores for long lists, and blocks.
    /// - Parameters:
    ///   - data: JSON, `{"fingerprints":[…]}`.
    ///   - key: the signer's key.
    ///   - limits: the limits for reading.
    /// - Throws: ``DocumentError`` that names the entry and the field.
    public init(
        verifying data: Data, with key: DocumentPublicKey, limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) {
        try self.init(verifying: data, by: key, limits: limits)
    }

    init(verifying data: Data, by key: any SignatureVerifying, limits: DocumentLimits) throws(DocumentError) {
        var reader = try StrictJSONReader([UInt8](data), maximumBytes: limits.bytes)
        var verifier = EntryVerifier(key: key)
        var hasFingerprints = false
        var domains: DomainsConfiguration?
        try reader.beginObject()
        while let field = try reader.nextKey() {
            switch field {
            case "fingerprints":
                hasFingerprints = true
                try reader.beginArray()
                while try reader.nextElement() {
                    guard verifier.count < limits.entries else {
                        throw reader.error(.tooManyEntries, "at most \(limits.entries) entries", "more")
                    }
                    try verifier.add(try reader.entry())
                }
            case "domainsConfig":
                if reader.takeNull() { continue }
                domains = try reader.domainsConfiguration(maximumEntries: limits.entries)
            default: try reader.skipValue()
            }
        }
        guard hasFingerprints else { throw reader.missing("fingerprints") }
        try reader.finish()
        entries = try verifier.finish()
        unsignedDomainsConfiguration = domains
    }
}

/// Verifies entries in batches, so that a long list is held in memory once, and an invalid entry ends it early.
private struct EntryVerifier {
    private static let batch = 1_024
    /// Below this many signatures, another thread costs more than it saves.
    private static let share = 64

    private let key: any SignatureVerifying
    private var verified: [FingerprintEntry] = []
    private var waiting: [UnverifiedEntry] = []

    init(key: any SignatureVerifying) { self.key = key }

    var count: Int { verified.count + waiting.count }

    mutating func add(_ entry: UnverifiedEntry) throws(DocumentError) {
        guard entry.signature != nil else {
            throw DocumentError(.missingField, entry: count, field: "signature", expected: "the field", found: "none")
        }
        waiting.append(entry)
        if waiting.count == Self.batch { try verify() }
    }

    mutating func finish() throws(DocumentError) -> [FingerprintEntry] {
        try verify()
        return verified
    }

    private mutating func verify() throws(DocumentError) {
        let (key, waiting) = (key, waiting)
        let shares = (waiting.count + Self.share - 1) / Self.share
        let progress = Lock<(firstBad: Int?, isCancelled: Bool)>((nil, false))
        DispatchQueue.concurrentPerform(iterations: shares) { share in
            for index in (share * Self.share)..<min(waiting.count, (share + 1) * Self.share) {
                // Only the calling thread can check its task for cancellation.
                let isCancelled = Task.isCancelled
                let isOver = progress.withLock { progress in
                    if isCancelled { progress.isCancelled = true }
                    return progress.isCancelled
                }
                guard !isOver else { return }
                let (entry, signature) = (waiting[index].entry, waiting[index].signature ?? [])
                guard !key.isValid(signature: signature, for: entry.signedBytes) else { continue }
                progress.withLock { $0.firstBad = min($0.firstBad ?? index, index) }
                return
            }
        }
        guard !progress.withLock({ $0.isCancelled }) else { throw .canceled }
        if let bad = progress.withLock({ $0.firstBad }) {
            let (entry, signature) = (waiting[bad].entry, waiting[bad].signature ?? [])
            guard !key.isValid(signature: signature, for: entry.swappedBytes) else {
                throw DocumentError(
                    .invalidSignature, entry: verified.count + bad, field: "signature",
                    expected: "a signature over name&fingerprint&expires",
                    found: "one over name&expires&fingerprint, for the name \(entry.name.quoted)",
                    remedy: "Sign the fields in the order name, fingerprint, expires, as `holdfastctl sign` does; the "
                        + "key is the right one.")
            }
            throw DocumentError(
                .invalidSignature, entry: verified.count + bad, field: "signature",
                expected: "a signature by the configured key",
                found: "another for the name \(entry.name.quoted)")
        }
        verified += waiting.map(\.entry)
        self.waiting.removeAll(keepingCapacity: true)
    }
}
