/// The statement of a document about hosts that need no pins (`domainsConfig`).
///
/// It is signed only in a ``ChallengeResponse``, and there it counts only if the store's configuration allows documents
/// to switch pinning off; in a ``FingerprintList``, an attacker could have added it.
package struct DomainsConfiguration: Sendable, Hashable {
    /// Whether hosts that ``pinningRequired`` does not list need pins (`sslPinningRequiredForUnlisted`).
    package let pinningRequiredForUnlisted: Bool
    /// The rules by the bytes of the name, because no signature covers these names in a static list.
    private let required: [[UInt8]: Bool]
    /// The same rules by the canonical names of hosts, as they are dialed. If two spellings of a name disagree, the
    /// host needs pins.
    private let requiredByHost: [[UInt8]: Bool]

    init(pinningRequiredForUnlisted: Bool, required: [[UInt8]: Bool]) {
        self.pinningRequiredForUnlisted = pinningRequiredForUnlisted
        self.required = required
        requiredByHost = Dictionary(
            required.map { (Array(FingerprintEntry.lookupName(of: String(decoding: $0, as: UTF8.self)).utf8), $1) }
        ) { $0 || $1 }
    }

    /// Whether a host needs pins, by the name as it was signed (`domains`); computed each time.
    package var pinningRequired: [String: Bool] {
        Dictionary(required.map { (String(decoding: $0, as: UTF8.self), $1) }) { $0 || $1 }
    }

    /// Whether a listed name needs pins; nil for a name that is not listed.
    func isRequired(_ name: String) -> Bool? { requiredByHost[Array(name.utf8)] }
}

extension StrictJSONReader {
    mutating func domainsConfiguration(maximumEntries: Int) throws(DocumentError) -> DomainsConfiguration {
        var forUnlisted = true
        var domains: [[UInt8]: Bool] = [:]
        try beginObject()
        while let key = try nextKey() {
            switch key {
            case "sslPinningRequiredForUnlisted": forUnlisted = try boolean()
            case "domains":
                try beginArray()
                while try nextElement() {
                    guard domains.count < maximumEntries else {
                        throw error(.tooManyEntries, "at most \(maximumEntries) entries", "more")
                    }
                    let (name, isRequired) = try domain()
                    guard domains.updateValue(isRequired, forKey: Array(name.utf8)) == nil else {
                        throw error(.invalidValue, "each name once", "\(name.quoted) twice")
                    }
                }
            default: try skipValue()
            }
        }
        return DomainsConfiguration(pinningRequiredForUnlisted: forUnlisted, required: domains)
    }

    private mutating func domain() throws(DocumentError) -> (String, Bool) {
        var name: String?
        var isRequired = true
        try beginObject()
        while let key = try nextKey() {
            switch key {
            case "name": name = try hostName()
            case "sslPinningRequired": isRequired = try boolean()
            default: try skipValue()
            }
        }
        guard let name else { throw missing("name") }
        return (name, isRequired)
    }
}
