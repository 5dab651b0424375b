import Foundation
import Logging

// Remembers the places that certificates name, so that the first decision after a restart uses the stored lists.
extension RevocationStore {
    /// The time for which a certificate that no path contains anymore is remembered, in seconds.
    private static let remembersUnseen: TimeInterval = 30 * 24 * 3_600
    /// The maximum age of the stored record while the certificates are seen again and again, in seconds.
    private static let keepsAgain: TimeInterval = 24 * 3_600
    private static let maximumRecord = 16 << 20

    private static let origin = StoredRecord.origin(of: [Array("revocation-places".utf8)])
    static let placesKey = "revocation-places-\(Hexadecimal.encode(origin))"

    /// Stores the certificates that name places, if that is due. It blocks.
    func keepPlaces() {
        guard configuration.followsDistributionPoints else { return }
        storage.sync {
            // A record that could not be read is not overwritten.
            guard restorePlaces() else { return }
            let now = clock.now
            guard known.withLock({ abs(now.timeIntervalSince($0.lastKept)) > Self.keepsAgain }) else { return }
            do {
                for _ in 0..<Self.maximumAttempts where try keep(at: now) { return }
            } catch {
                // This prevents another attempt every minute.
                known.withLock { $0.lastKept = now }
            }
            logger.warning("what certificates say of revocation lists could not be stored")
        }
    }

    /// The maximum number of attempts to save the places while others save theirs.
    private static let maximumAttempts = 8

    /// Stores the places that this store has found, together with those that others have stored.
    /// - Returns: false if another store was faster.
    private func keep(at now: Date) throws -> Bool {
        let dataStore = configuration.secureDataStore
        let stored = try dataStore.reported(forKey: Self.placesKey)
        if let stored { takeOver(stored, at: now) }
        let links = known.withLock { state in
            state.lastKept = now
            return state.links
        }
        let needed = Self.needed(of: links).filter { Self.isRemembered($0.value.lastSeen, at: now) }
        var record = StoredRecord(format: .revocationPlaces, body: Self.json(of: needed))
        record.origin = Self.origin
        return try dataStore.replaceIfUnchanged(stored, with: record.data, forKey: Self.placesKey)
    }

    /// Reads the findings of earlier runs, unless this has been done. Runs on the storage's queue.
    /// - Returns: false if they cannot be read at the moment.
    func restorePlaces() -> Bool {
        guard configuration.followsDistributionPoints, !known.withLock({ $0.hasRestored }) else { return true }
        let data: Data?
        do { data = try configuration.secureDataStore.reported(forKey: Self.placesKey) } catch { return false }
        known.withLock { $0.hasRestored = true }
        if let data { takeOver(data, at: clock.now) }
        return true
    }

    /// Adopts the findings of earlier runs, or of others.
    private func takeOver(_ data: Data, at now: Date) {
        guard let record = StoredRecord(data), record.format == .revocationPlaces, record.origin == Self.origin,
            let namings = try? Self.namings(in: record.body)
        else { return }
        var found: [Found] = []
        // Certificates that were seen last get memory first.
        for (link, lastSeen) in namings.sorted(by: { $0.lastSeen > $1.lastSeen })
        where Self.isRemembered(lastSeen, at: now) && known.withLock({ $0.links[link] == nil }) {
            _ = take(link, at: min(lastSeen, now), isRestored: true, found: &found)
        }
    }

    private static func isRemembered(_ lastSeen: Date, at now: Date) -> Bool {
        abs(now.timeIntervalSince(lastSeen)) <= remembersUnseen
    }

    /// A minimal set of certificates that name all places of all authorities, preferring those seen last.
    static func needed(of links: [Link: Naming]) -> [(key: Link, value: Naming)] {
        struct Use: Hashable {
            let place: RevocationPlace.Key
            let issuer: X509Certificate
            let anchor: X509Certificate

            func hash(into hasher: inout Hasher) { hasher.combine(place) }
        }
        var known: Set<Use> = []
        return links.sorted { $0.value.lastSeen > $1.value.lastSeen }.filter { link, naming in
            let uses = naming.places.map { Use(place: $0, issuer: link.issuer, anchor: link.anchor) }
            return uses.count { known.insert($0).inserted } > 0
        }
    }

    // MARK: The record

    private static func json(of namings: [(key: Link, value: Naming)]) -> Data {
        let objects = namings.map { link, naming in
            let certificates = [
                ("certificate", link.certificate), ("issuer", link.issuer), ("anchor", link.anchor),
            ]
            let fields = certificates.map { "\"\($0)\": \"\(CanonicalBase64.encode($1.der))\"" }
            return "{\(fields.joined(separator: ", ")), \"seen\": \(naming.lastSeen.wholeSeconds)}"
        }
        return Data("[\(objects.joined(separator: ",\n"))]".utf8)
    }

    /// Parses the record. It is not trusted: the lists of a place are verified when they are read.
    private static func namings(in data: Data) throws -> [(link: Link, lastSeen: Date)] {
        var reader = try StrictJSONReader([UInt8](data), maximumBytes: maximumRecord)
        var namings: [(link: Link, lastSeen: Date)] = []
        try reader.beginArray()
        while namings.count < maximumLinks, try reader.nextElement() {
            var certificates: [String: X509Certificate] = [:]
            var seconds: Int64 = 0
            try reader.beginObject()
            while let field = try reader.nextKey() {
                if field == "seen" {
                    seconds = try reader.integer()
                } else if let der = CanonicalBase64.decode(try reader.octets(of: "the Base64 of a certificate")) {
                    certificates[field] = try X509Certificate(der: der)
                }
            }
            guard let certificate = certificates["certificate"], let issuer = certificates["issuer"],
                let anchor = certificates["anchor"]
            else { continue }
            let link = Link(certificate: certificate, issuer: issuer, anchor: anchor)
            namings.append((link, Date(wholeSeconds: seconds)))
        }
        return namings
    }
}
