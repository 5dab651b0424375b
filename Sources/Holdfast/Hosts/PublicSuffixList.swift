/// The domains under which strangers register names (publicsuffix.org): a wildcard over one of them would pin hosts
/// that belong to others.
///
/// Holdfast does not ship a list, because an old one misleads. Give it the current `public_suffix_list.dat`.
public struct PublicSuffixList: Hashable, Sendable {
    /// The maximum length of a list, in bytes. The list of 2026 has about 16,000 lines and 330 kB.
    static let maximumBytes = 8_388_608

    private var rules: Set<String> = []
    /// The names after `*.`.
    private var wildcards: Set<String> = []
    /// The names after `!`.
    private var exceptions: Set<String> = []
    /// SHA-256 of the rules: equal for equivalent lists.
    private(set) var digest: [UInt8] = []

    /// Reads a list in the format of publicsuffix.org: one rule per line, up to the first white space; empty lines and
    /// those that begin with `//` are comments; `*.` in front of a rule stands for any one label, `!` makes an
    /// exception.
    ///
    /// - Parameters:
    ///   - text: the list, at most 8 MiB.
    ///   - includingPrivateDomains: whether the rules between the marks `===BEGIN PRIVATE DOMAINS===` and
    ///     `===END PRIVATE DOMAINS===` count: suffixes such as those of cloud providers, under which you may pin.
    /// - Throws: ``HostPatternError`` `invalidSuffixRule`, with the number of the line, for a line that is not a rule.
    public init(_ text: String, includingPrivateDomains: Bool = true) throws(HostPatternError) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw HostPatternError(
                .invalidSuffixRule, expected: "a list of at most \(Self.maximumBytes) octets",
                found: "\(text.utf8.count)", remedy: "Give the public suffix list alone.")
        }
        var isPrivate = false
        for (index, octets) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let words = octets.split(maxSplits: 1) { $0 == 0x20 || (0x09...0x0D).contains($0) }
            guard let rule = words.first.map({ String(Substring($0)) }) else { continue }
            if rule.utf8.starts(with: "//".utf8) {
                let line = String(Substring(octets))
                if line.containsOctets(of: "===BEGIN PRIVATE DOMAINS===") { isPrivate = true }
                if line.containsOctets(of: "===END PRIVATE DOMAINS===") { isPrivate = false }
                continue
            }
            if isPrivate, !includingPrivateDomains { continue }
            try add(rule, line: index + 1)
        }
        let marked = [("", rules), ("*.", wildcards), ("!", exceptions)]
        digest = SHA256Digest.of(marked.flatMap { mark, names in names.sorted().flatMap { "\(mark)\($0)\n".utf8 } })
    }

    private mutating func add(_ rule: String, line: Int) throws(HostPatternError) {
        let (exception, wildcard) = (rule.after(octets: "!"), rule.after(octets: "*."))
        let name: String
        do throws(HostError) {
            name = try DialedHost.canonicalName(exception ?? wildcard ?? rule)
        } catch {
            throw HostPatternError(
                .invalidSuffixRule, expected: "a domain, *.DOMAIN or !DOMAIN",
                found: "\(rule.quoted) in line \(line): \(error.code.rawValue)",
                remedy: "Give the list of publicsuffix.org unchanged.")
        }
        if exception != nil {
            exceptions.insert(name)
        } else if wildcard != nil {
            wildcards.insert(name)
        } else {
            rules.insert(name)
        }
    }

    /// Whether the list contains a name as a public suffix, or makes every name with one more label one.
    func listsSuffix(atOrUnder name: String) -> Bool { lists(name) || wildcards.contains(name) }

    /// Whether a rule makes a name, in canonical form, a public suffix. The default rule for names that no rule
    /// matches is left out: a pattern over a single label is refused without any list.
    func lists(_ name: String) -> Bool {
        guard !exceptions.contains(name) else { return false }
        if rules.contains(name) { return true }
        guard let dot = name.firstIndex(of: ".") else { return false }
        return wildcards.contains(String(name[name.index(after: dot)...]))
    }
}
