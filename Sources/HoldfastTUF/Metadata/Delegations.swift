import Crypto

/// The delegations of a targets role, in the order of their priority (section 4.5).
struct Delegations: Sendable {
    /// One delegated role.
    struct Entry: Sendable {
        enum Scope: Sendable {
            case patterns([[UInt8]])
            /// Prefixes of the SHA-256 of a target's name, in hexadecimal.
            case hashPrefixes([[UInt8]])
        }

        let delegator: Delegator
        let isTerminating: Bool
        let scope: Scope
    }

    private let entries: [Entry]
    private let bins: HashBins?

    /// No delegations.
    init() {
        entries = []
        bins = nil
    }

    init(_ fields: Fields) throws(TUFError) {
        let keys = try Delegator.keys(fields)
        guard fields.has("succinct_roles") == false else {
            guard !fields.has("roles") else { throw fields.wrong("roles", "either roles or succinct_roles", "both") }
            entries = []
            bins = try HashBins(try fields.object("succinct_roles"), keys: keys)
            return
        }
        bins = nil
        var entries: [Entry] = []
        var names: Set<RoleName> = []
        for element in try fields.array("roles") {
            let role = try Fields(element, "role")
            let name = try RoleName(delegated: Array(try role.text("name")))
            guard names.insert(name).inserted else {
                throw fields.wrong("roles", "each role once", "\(name.text) twice")
            }
            guard role.has("paths") != role.has("path_hash_prefixes") else {
                throw role.wrong("paths", "either paths or path_hash_prefixes", "both or none")
            }
            entries.append(
                Entry(
                    delegator: try Delegator(name, role, keys: keys), isTerminating: try role.boolean("terminating"),
                    scope: role.has("paths")
                        ? .patterns(try role.texts("paths")) : .hashPrefixes(try role.texts("path_hash_prefixes"))))
        }
        self.entries = entries
    }

    /// The roles that are responsible for a target, in order, up to the first terminating one.
    func roles(for target: TargetName, meter: WorkMeter) throws(TUFError) -> [Entry] {
        if let bins { return [try bins.role(for: target)] }
        var roles: [Entry] = []
        for entry in entries where try target.isCovered(by: entry.scope, meter: meter) {
            roles.append(entry)
            if entry.isTerminating { break }
        }
        return roles
    }
}

/// Delegation to hash bins of equal size: the first bits of the hash of a target's name select the bin (TAP 15).
struct HashBins: Sendable {
    private let fields: Fields
    private let keys: [[UInt8]: MetadataKey]
    private let bits: Int
    private let prefix: [UInt8]

    init(_ fields: Fields, keys: [[UInt8]: MetadataKey]) throws(TUFError) {
        let bits = try fields.integer("bit_length", atLeast: 1)
        guard bits <= 32 else { throw fields.wrong("bit_length", "at most 32") }
        self.bits = Int(clamping: bits)
        prefix = Array(try fields.text("name_prefix"))
        self.fields = fields
        self.keys = keys
        // A faulty delegation fails when the file is read, not only when a target falls into a bin.
        _ = try Delegator(try RoleName(delegated: prefix + Array("-0".utf8)), fields, keys: keys)
    }

    func role(for target: TargetName) throws(TUFError) -> Delegations.Entry {
        let number = target.digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } >> UInt32(32 - bits)
        let digits = String(number, radix: 16)
        let width = (bits + 3) / 4
        let name = prefix + Array("-\(String(repeating: "0", count: max(0, width - digits.count)))\(digits)".utf8)
        return Delegations.Entry(
            delegator: try Delegator(try RoleName(delegated: name), fields, keys: keys), isTerminating: true,
            scope: .patterns([]))
    }
}
